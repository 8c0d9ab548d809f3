"""Launches that are refused, arguments of every kind, and PTX that cannot be run."""

import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.registry import open_device
from gevolve.device.sim import Sim
from gevolve.errors import CompileError, DeviceError, GevolveError, LaunchError, UnsupportedError
from tests.device.sim.kernels import HEADER

F = np.float32
TEXT = f"""{HEADER}
.visible .entry _Z4copyPfS_(.param .u64 a, .param .u64 b) {{ ret; }}
.visible .entry _ZN2ns5thingILi4EEEvPf(.param .u64 a) {{ ret; }}
.visible .entry small(.param .u64 a) .maxntid 64, 1, 1 {{ ret; }}
.visible .entry exact(.param .u64 a) .reqntid 8, 4 {{ ret; }}
.visible .entry values(.param .u64 out, .param .u8 a, .param .s16 b, .param .u32 c, .param .s64 d, .param .f32 e,
    .param .f64 f, .param .align 8 .b8 g[16])
{{
.reg .b64 %o, %w<4>; .reg .b32 %x<4>; .reg .f32 %f; .reg .f64 %d;
ld.param.u64 %o, [out]; ld.param.u8 %x0, [a]; ld.param.s16 %x1, [b]; ld.param.u32 %x2, [c]; ld.param.s64 %w0, [d];
ld.param.f32 %f, [e]; ld.param.f64 %d, [f]; ld.param.v2.u64 {{%w1, %w2}}, [g];
cvt.u64.u32 %w3, %x0; st.global.u64 [%o], %w3; cvt.s64.s32 %w3, %x1; st.global.u64 [%o+8], %w3;
cvt.u64.u32 %w3, %x2; st.global.u64 [%o+16], %w3; st.global.u64 [%o+24], %w0; cvt.f64.f32 %d, %f;
st.global.f64 [%o+32], %d; ld.param.f64 %d, [f]; st.global.f64 [%o+40], %d; st.global.v2.u64 [%o+48], {{%w1, %w2}};
ret;
}}
.visible .shared .align 16 .b8 big[40000];
.visible .entry hungry(.param .u64 a) {{ .reg .b32 %x; ld.shared.u32 %x, [big]; ret; }}
"""


@pytest.fixture
def gpu():
    gpu = Sim().open(TEXT.encode(), Limits())
    yield gpu
    gpu.close()


def refused(gpu, words, kernel, grid, block, *args, **more):
    with pytest.raises(LaunchError, match=words) as error:
        gpu.launch(kernel, grid, block, *args, **more)
    assert "\n" not in str(error.value)


def test_kernels_go_by_their_name_in_the_source(gpu):
    a = gpu.zeros(1)
    gpu.launch("copy", 1, 1, a, a)
    gpu.launch("_Z4copyPfS_", 1, 1, a, a)
    gpu.launch("thing", 1, 1, a)
    refused(gpu, "no kernel 'stencil'; the program has copy, exact, hungry", "stencil", 1, 1)


def test_two_kernels_of_one_name_are_ambiguous():
    text = f"{HEADER}.visible .entry _Z1kf() {{ ret; }}\n.visible .entry _Z1ki() {{ ret; }}"
    gpu = Sim().open(text.encode())
    refused(gpu, "fits several; use one of: k .*_Z1kf.* k .*_Z1ki", "k", 1, 1)
    gpu.close()


def test_a_float_is_no_whole_number(gpu):
    a, rest = gpu.zeros(8, np.uint64), (1, 2)
    refused(gpu, "takes a whole number", "values", 1, 1, a, *rest, 3.0, 4, 5.0, 6.0, bytes(16))


def test_there_are_sixteen_barriers():
    text = f"{HEADER}.visible .entry k(.param .u32 n) {{ .reg .b32 %r; ld.param.u32 %r, [n]; bar.sync %r; ret; }}"
    gpu = Sim().open(text.encode())
    gpu.launch("k", 1, 64, 15)
    with pytest.raises(Stopped, match="not one of 0 to 15"):
        gpu.launch("k", 1, 64, 16)
    gpu.close()


def test_shapes(gpu):
    a = gpu.zeros(1)
    refused(gpu, "grid .* from 1 to", "small", 0, 1, a)
    refused(gpu, "grid .* from 1 to", "small", (1, 65536), 1, a)
    refused(gpu, "block .* from 1 to", "small", 1, -1, a)
    refused(gpu, "block of 2048 threads", "copy", 1, (64, 32), a, a)
    refused(gpu, "four|4 dimensions", "small", (1, 1, 1, 1), 1, a)
    refused(gpu, "whole numbers", "small", (1.5,), 1, a)
    refused(gpu, "built for 64", "small", 1, 65, a)
    refused(gpu, "built for exactly", "exact", 1, 32, a)
    gpu.launch("exact", 1, (8, 4), a)
    gpu.launch("small", np.int64(2), np.array([8, 8]), a)


def test_shared_memory_is_limited(gpu):
    a = gpu.zeros(1)
    gpu.launch("hungry", 1, 1, a, shared=190000)
    refused(gpu, "asks for .* shared memory; the most is 232448", "hungry", 1, 1, a, shared=200000)
    refused(gpu, "shared memory", "small", 1, 1, a, shared=-1)


def test_arguments(gpu):
    a = gpu.zeros(1)
    refused(gpu, "copy takes 2 arguments, 1 were given", "copy", 1, 1, a)
    out = gpu.empty(8, np.uint64)
    pair = np.array([7, 8], np.uint64)
    gpu.launch("values", 1, 1, out, 200, -5, np.uint32(9), -(2**40), 1.5, np.float32(2.5), pair)
    got = out.get()
    assert got[[0, 2, 6, 7]].tolist() == [200, 9, 7, 8]
    assert got[[1, 3]].view(np.int64).tolist() == [-5, -(2**40)]
    assert got[[4, 5]].view(np.float64).tolist() == [1.5, 2.5]
    gpu.launch("values", 1, 1, out.ptr, True, 0, 2**32 - 1, 2**63, 3, np.float64(-1), bytes(16))
    assert out.get()[[0, 2, 3]].tolist() == [1, 2**32 - 1, 2**63]
    assert out.get()[[4, 5]].view(np.float64).tolist() == [3, -1]
    refused(
        gpu,
        "argument 1 is 300, which does not fit in 1 bytes",
        "values",
        1,
        1,
        out,
        300,
        0,
        0,
        0,
        0,
        0,
        pair,
    )
    refused(
        gpu, "argument 7 has 8 bytes, but .* 16", "values", 1, 1, out, 1, 0, 0, 0, 0, 0, pair[:1]
    )
    refused(gpu, "argument 3 is a buffer", "values", 1, 1, out, 1, 0, out, 0, 0, 0, pair)
    refused(
        gpu, "argument 1 is 1.0, but .* whole number", "values", 1, 1, out, 1.0, 0, 0, 0, 0, 0, pair
    )
    refused(gpu, "argument 3 is a NoneType", "values", 1, 1, out, 1, 0, None, 0, 0, 0, pair)


def test_buffers(gpu):
    data = np.arange(6, dtype=np.int16).reshape(2, 3)
    buffer = gpu.array(data)
    assert (buffer.shape, buffer.dtype, buffer.nbytes) == ((2, 3), np.dtype(np.int16), 12)
    np.testing.assert_array_equal(buffer.get(), data)
    buffer.fill(7)
    assert (buffer.get() == 7).all()
    buffer.set(data * 2)
    np.testing.assert_array_equal(buffer.get(), data * 2)
    with pytest.raises(LaunchError, match=r"shape \(3, 2\)"):
        buffer.set(data.T)
    assert gpu.array(3.0).shape == ()
    assert gpu.zeros((0, 3)).get().shape == (0, 3)
    assert gpu.array(data.T).get().tolist() == data.T.tolist()
    with pytest.raises(LaunchError, match="cannot hold"):
        gpu.array(np.array([None]))
    with pytest.raises(LaunchError, match="no variable 'x'"):
        gpu.symbol("x")


def test_a_closed_device_stays_closed():
    gpu = Sim().open(TEXT.encode())
    a = gpu.zeros(1)
    gpu.close()
    gpu.close()
    for use in (lambda: gpu.zeros(1), a.get, lambda: gpu.launch("small", 1, 1, a)):
        with pytest.raises(LaunchError, match="closed"):
            use()


def test_device_names():
    assert open_device("sim").name == "sim"
    assert Sim().deterministic
    with pytest.raises(DeviceError, match="poison"):
        Sim().open(TEXT.encode(), poison=Sim.poisons)
    with pytest.raises(DeviceError, match="thread orders"):
        Sim().open(TEXT.encode(), order="sideways")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "tex.2d.v4.f32.f32 {%f0, %f0, %f0, %f0}, [t, {%f0, %f0}];",
            r"tex\.2d\.v4\.f32\.f32 \(source line 12\)",
        ),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%x0}, [%w0];", r"wmma\.load"),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0}, {%x0}, {%x0}, {%f0};",
            r"mma\.sync",
        ),
        ("mbarrier.init.shared.b64 [%w0], 1;", r"mbarrier\.init"),
        ("cp.async.bulk.commit_group;", r"cp\.async\.bulk"),
        ("barrier.cluster.arrive;", r"barrier\.cluster\.arrive.*clusters"),
        ("suld.b.2d.b32.trap {%x0}, [s, {%x0, %x0}];", r"suld\.b\.2d"),
        ("frobnicate.u32 %x0, %x0;", r"frobnicate\.u32"),
        ("cvt.rn.satfinite.e4m3x2.f32 %x0, %f0, %f0;", r"cvt\.rn\.satfinite\.e4m3x2\.f32"),
        ("add.f32.f16 %f0, %f0, %f0;", "mixed precision"),
        ("lop3.or.b32 %x0|%p, %x0, %x0, %x0, 3, %p;", r"lop3\.or\.b32"),
        ("add.u32 %x0;", r"add\.u32 .* this form"),
        ("add.u32 %x0, %x0, missing;", "unknown name missing"),
    ],
)
def test_what_cannot_be_run_is_named_in_one_line(code, words):
    text = f"""{HEADER}.file 1 "a.cu"
.visible .entry k() {{ .reg .f32 %f0; .reg .b32 %x0; .reg .b64 %w0;
.loc 1 12 5
{code}
ret; }}"""
    with pytest.raises(UnsupportedError, match=words) as error:
        Sim().open(text.encode())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".global .texref t;", "textures"),
        (".extern .func (.param .b64 r) malloc(.param .b64 n);\n.entry k() { .param .b64 n; .param .b64 r; call (r), malloc, (n); }",
         "malloc: memory allocation"),
        (".extern .func f();\n.entry k() { call f; ret; }", "calls f, which it does not define"),
        (".entry k() { bra NOWHERE; }", "unknown label 'NOWHERE'"),
        (".entry k() { $$$ }", "PTX line 4: cannot read"),
        ("hello", "PTX line 4: cannot read 'hello'"),
    ],
)  # fmt: skip
def test_bad_modules(text, words):
    with pytest.raises(GevolveError, match=words) as error:
        Sim().open((HEADER + text).encode())
    assert isinstance(error.value, (CompileError, UnsupportedError))
    assert "\n" not in str(error.value)


def test_maths_functions_that_nobody_linked_are_answered():
    text = HEADER
    kinds = {"b32": ("f32", F), "b64": ("f64", np.float64)}
    cases = [
        ("__nv_sinf", "b32", np.sin), ("cosf", "b32", np.cos), ("__nv_exp", "b64", np.exp),
        ("__nv_rsqrtf", "b32", lambda x: 1 / np.sqrt(x)), ("__nv_fsqrt_rn", "b32", np.sqrt),
        ("__nv_fast_logf", "b32", np.log), ("log2", "b64", np.log2),
    ]  # fmt: skip
    for name, bits, _ in cases:
        kind, _ = kinds[bits]
        text += f"""
.extern .func (.param .{bits} r) {name}(.param .{bits} x);
.visible .entry call_{name}(.param .u64 a) {{ .reg .{kind} %f; .reg .b64 %a; ld.param.u64 %a, [a]; ld.global.{kind} %f, [%a];
{{ .param .{bits} p0; .param .{bits} r0; st.param.{kind} [p0], %f; call.uni (r0), {name}, (p0); ld.param.{kind} %f, [r0]; }}
st.global.{kind} [%a], %f; ret; }}"""
    gpu = Sim().open(text.encode())
    for name, bits, oracle in cases:
        a = gpu.array(np.array([0.75], kinds[bits][1]))
        gpu.launch(f"call_{name}", 1, 1, a)
        np.testing.assert_allclose(a.get(), oracle(0.75), rtol=1e-6, err_msg=name)
    gpu.close()
