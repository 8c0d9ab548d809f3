"""Sources: what is read, what is refused, and the words for it."""

import os
import re
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.errors import CompileError, SourceError, UnsupportedError
from gevolve.ir.llvm import clang, names
from gevolve.ir.llvm.source import kernels, read, resolve, unsupported

FIXTURES = Path(__file__).parent / "fixtures"
KERNEL = "__global__ void k(float *x) { x[threadIdx.x] *= 2.0f; }\n"


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def no_toolkit(monkeypatch):
    monkeypatch.setattr(clang, "_toolkit", lambda: None)


def one_line(error) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.[lb][lc]")), ids=lambda path: path.name)
def test_ir_of_a_toolkit_is_read_and_read_again_unchanged(path, write):
    text = read(path)
    assert kernels(text)
    assert read(write("again.ll", text)) == text


def test_text_depends_on_neither_folder_nor_toolkit(write, monkeypatch):
    source = '#include "inc/twice.h"\n__global__ void k(float *x) { *x = twice(*x); }\n'
    header = "__device__ inline float twice(float x) { return x + x; }\n"
    texts = set()
    for folder in ("a", "b/c with space"):
        write(f"{folder}/inc/twice.h", header)
        texts.add(read(write(f"{folder}/k.cu", source)))
    monkeypatch.setenv("CUDA_PATH", "/nonexistent")
    monkeypatch.chdir("/")
    texts.add(read(write("k.cu", source.replace("inc/", "a/inc/"))).replace("a/inc/", "inc/"))
    assert len(texts) == 1
    assert "/" not in "".join(texts).replace("inc/twice.h", "")


def test_options_reach_clang_and_paths_are_relative_to_the_source(write):
    write("code/more/size.h", "#define SIZE 7\n")
    path = write(
        "code/k.cu", "#include <size.h>\n__global__ void k(int *x) { *x = SIZE + STEP; }\n"
    )
    assert "store i32 12" in read(path, ["-Imore", "-DSTEP=5"])


def test_python_files_beside_the_source_do_no_harm(write):
    write("subprocess.py", "raise SystemExit('imported by accident')\n")
    write("ziglang.py", "raise SystemExit('imported by accident')\n")
    assert kernels(read(write("k.cu", KERNEL))) == ["_Z1kPf"]


def test_every_instruction_of_the_kernel_has_a_line(write):
    text = read(write("k.cu", KERNEL.replace("*=", "\n*=")))
    body = re.search(r"^define.*?^}", text, re.MULTILINE | re.DOTALL)
    for line in re.findall(r"^  .*(?:call|load|store|fmul).*$", body[0], re.MULTILINE):
        assert "!dbg" in line


def test_warnings_about_the_users_code_pass_through(write, capsys):
    read(
        write("k.cu", "__global__ void k(int *x) { *x = *x = 1 == 2; if (*x == 1u << 40) return; }")
    )
    assert "k.cu:1:" in capsys.readouterr().err
    read(write("quiet.cu", KERNEL))
    assert not capsys.readouterr().err


def test_syntax_errors_are_told_as_clang_does(write):
    path = write("bad.cu", "__global__ void k(float *x) {\n  x[0] = y;\n}\n")
    with pytest.raises(CompileError) as error:
        read(path)
    text = str(error.value)
    assert text.startswith(f"{path}:2:10: error: use of undeclared identifier 'y'")
    assert "x[0] = y;" in text
    assert "^" in text
    assert "\x1b" not in text


def test_missing_header_of_the_users_is_clangs_error(write):
    with pytest.raises(CompileError, match=r"fatal error: 'mine\.h' file not found"):
        read(write("k.cu", '#include "mine.h"\n' + KERNEL))


@pytest.mark.parametrize(
    "header",
    ["cub/cub.cuh", "thrust/sort.h", "curand_kernel.h", "cuda/atomic", "cublas_v2.h"],
)
@pytest.mark.usefixtures("no_toolkit")
def test_headers_of_the_toolkit_name_the_two_ways_out(header, write):
    uses = "__device__ float all(float x) { return of_the_toolkit(x); }"
    with pytest.raises(SourceError) as error:
        read(write("k.cu", f"#include <{header}>\n{uses}\n{KERNEL}"))
    text = one_line(error)
    assert header in text
    assert (
        "clang++ -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -O3 -gline-tables-only -S "
        "-emit-llvm k.cu -o k.ll" in text
    )


def test_a_toolkit_and_clang_are_used_where_they_are_needed(write, monkeypatch, tmp_path):
    """A stand-in for clang++ that answers with IR, and records how it was called."""
    toolkit = tmp_path / "toolkit"
    write("toolkit/include/cuda_runtime.h", "")
    ir = FIXTURES / "approx.ll"
    script = write("bin/clang++", f'#!/bin/sh\necho "$@" > {tmp_path}/called\ncat {ir}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_PATH", str(toolkit))
    path = write("k.cu", "#include <cub/cub.cuh>\n" + KERNEL)
    assert kernels(read(path, ["-DX"])) == ["approx"]
    called = (tmp_path / "called").read_text()
    assert f"--cuda-path={toolkit}" in called
    assert f"-DX {path}" in called


def test_what_cannot_be_read_is_said_in_one_line(write, tmp_path):
    cases = {
        tmp_path / "absent.cu": "no such file",
        tmp_path: "a folder",
        write("empty.cu", " \n"): "empty",
        write("kernel.ptx", ".version 7.8"): r"reads \.cu, \.ll and \.bc",
        write("words.ll", "once upon a time"): "not LLVM-IR.*expected top-level entity",
        write("words.bc", "once upon a time"): "not LLVM-IR.*bitcode",
        write("bits.ll", b"BC\xc0\xde\xff\xfe"): r"rename it to \.bc",
        write("host.ll", 'target triple = "x86_64-linux"\ndefine void @f() { ret void }'): (
            "made for x86_64.*not for nvptx64"
        ),
        write("none.ll", "define ptx_kernel void @k() { ret void }"): "made for no target",
        write("device.cu", "__device__ int f() { return 1; }"): "no kernel.*__global__",
        write("template.cu", "template <int N> __global__ void k() {}"): "instantiate a template",
    }
    for path, words in cases.items():
        with pytest.raises(SourceError, match=words) as error:
            read(path)
        assert str(path) in one_line(error)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(write):
    path = write("k.cu", KERNEL)
    path.chmod(0)
    with pytest.raises(SourceError, match=r"cannot be read \(Permission denied\)"):
        read(path)


def test_bitcode_and_odd_names(write, tmp_path):
    path = tmp_path / 'with "quotes" and spaces.bc'
    shutil.copy(FIXTURES / "warp.bc", path)
    assert kernels(read(path)) == ["exchange", "atomics"]


def test_kernels_of_older_compilers_are_found(write):
    text = read(
        write(
            "old.ll",
            'target triple = "nvptx64-nvidia-cuda"\n'
            "define void @k(float* %p) { ret void }\ndefine void @f() { ret void }\n"
            '!nvvm.annotations = !{!0}\n!0 = !{void (float*)* @k, !"kernel", i32 1}\n',
        )
    )
    assert kernels(text) == ["k"]


TARGET = 'target triple = "nvptx64-nvidia-cuda"\n'
TEXTURE = "declare { float, float, float, float } @llvm.nvvm.tex.unified.2d.v4f32.f32(i64, float, float)\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "%t = call {float, float, float, float} @llvm.nvvm.tex.unified.2d.v4f32.f32(i64 0, float 0.0, float 0.0)",
            "k uses a texture or surface (llvm.nvvm.tex.unified.2d.v4f32.f32)",
        ),
        ("%p = call ptr @malloc(i64 4)", "k uses memory allocated by device code (malloc)"),
        ("%p = call ptr @cudaGetParameterBufferV2()", "k uses dynamic parallelism"),
        ("%p = call float @__nv_expf(float 1.0)", "k calls __nv_expf, which is declared only"),
        ("call void @_Z5outerv()", "k calls outer, which is declared only; link the module"),
        (
            'call void asm sideeffect "mma.sync.aligned.m16n8k8.row.col.f32 $0;", "r"(i32 1)',
            "k uses mma in inline assembly",
        ),
    ],
)
def test_what_cannot_be_run_is_named(body, words, write):
    declared = (
        TEXTURE + "declare ptr @malloc(i64)\ndeclare ptr @cudaGetParameterBufferV2()\n"
        "declare float @__nv_expf(float)\ndeclare void @_Z5outerv()\n"
    )
    path = write(
        "k.ll", f"{TARGET}{declared}define ptx_kernel void @k() {{\n{body}\nret void\n}}\n"
    )
    with pytest.raises(UnsupportedError) as error:
        read(path)
    assert words in one_line(error)


def test_what_is_only_declared_or_answered_by_the_device_is_fine():
    text = "declare ptr @malloc(i64)\ndeclare i32 @vprintf(ptr, ptr)\n"
    body = "define ptx_kernel void @k() {\n  %1 = call i32 @vprintf(ptr null, ptr null)\n}\n"
    assert unsupported(text + body) is None


def test_device_malloc_in_cuda_is_named(write):
    path = write("m.cu", "__global__ void k(int **p) { *p = (int *)malloc(4); }")
    with pytest.raises(UnsupportedError, match=r"m\.cu: k uses memory allocated by device code"):
        read(path)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("texture<float, 1> t;", "textures (texture)"),
        ("__global__ void k(cudaTextureObject_t t) { tex2D<float>(t, 1, 2); }", "textures (tex2D)"),
        ("__global__ void k(cudaSurfaceObject_t t) { surf2Dread(t); }", "surfaces (surf2Dread)"),
        ("__global__ void k() { k<<<1, 1>>>(); }", "dynamic parallelism (kernel launch)"),
        ("#include <mma.h>", "tensor cores (mma.h)"),
    ],
)
def test_what_cannot_be_run_is_named_in_cuda_too(code, words, write):
    path = write("k.cu", f"\n{code}\n")
    with pytest.raises(UnsupportedError) as error:
        read(path)
    assert one_line(error) == f"{path}:2: {words} cannot be run by gevolve"


MANGLED = {
    "plain": "plain",
    "_Z7stencilPfi": "stencil",
    "_Z4gemmILi16EEvPfi": "gemm<16>",
    "_Z4gemmILj16ELb1ELin3EEvPf": "gemm<16u, true, -3>",
    "_ZN6linear9transposeILi16EfEEvPKT0_PS1_ii": "linear::transpose<16, float>",
    "_ZN12_GLOBAL__N_13fooEPf": "(anonymous namespace)::foo",
    "_ZL6hiddenPi": "hidden",
    "_Z3addIfEvPT_": "add<float>",
    "_Z3addIPKfEvT_": "add<float const*>",
    "_Z3runI4PlusIdEEvPdT_": "run<Plus<double>>",
    "_Z3runIN2ns1AENS0_1BEEvv": "run<ns::A, ns::B>",
    "_Z4packIJifdEEvDpT_": "pack<int, float, double>",
    "_Z3useIXadL_Z1fvEEEvv": "_Z3useIXadL_Z1fvEEEvv",
    "_ZbrokenName": "_ZbrokenName",
}


@pytest.mark.parametrize(("mangled", "readable"), MANGLED.items())
def test_names_are_demangled(mangled, readable):
    assert names.demangle(mangled) == readable


@given(st.text(alphabet="_ZNIELSPKJtisfdvT0123456789ab", max_size=40))
def test_any_name_can_be_shown(name):
    assert isinstance(names.demangle("_Z" + name), str)


def test_clang_and_demangle_agree_on_the_fixtures():
    text = read(FIXTURES / "templates.ll")
    assert [names.demangle(name) for name in kernels(text)] == [
        "polynomial",
        "polynomial",
        "linear::transpose<16, float>",
        "linear::transpose<8, short>",
    ]


def test_a_kernel_is_found_by_what_people_call_it():
    text = read(FIXTURES / "templates.ll")
    sixteen, eight = kernels(text)[2:]
    assert resolve(text, sixteen) == sixteen
    assert resolve(text, "linear::transpose<16,float>") == sixteen
    assert resolve(text, "transpose<8, short>") == eight
    assert resolve(["_Z7stencilPfi", "_Z4gemmILi16EEvPfi"], "gemm") == "_Z4gemmILi16EEvPfi"
    with pytest.raises(SourceError, match=r"'transpose' fits several.*transpose<16, float> \(_ZN6"):
        resolve(text, "transpose")
    with pytest.raises(SourceError, match="'polynomial' fits several"):
        resolve(text, "polynomial")
    with pytest.raises(
        SourceError,
        match=r"no kernel 'stencl'; the program has gemm, stencil; did you mean stencil\?",
    ):
        resolve(["stencil", "gemm"], "stencl")
