"""Memory: what kernels may touch, and what happens when they touch something else."""

import os
import signal

import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.sim import Sim, layout
from gevolve.device.sim.memory import POISON
from gevolve.errors import LaunchError, UnsupportedError
from tests.device.sim.kernels import HEADER

F = np.float32
TABLE = ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n.global .align 4 .u32 words[4];\n"


def open_(code, *, limits=None, poison=0, params=".param .u64 a, .param .u64 b", module=TABLE):
    text = f"""{HEADER}{module}
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k({params})
{{
.reg .b32 %t, %x<8>; .reg .b64 %a, %b, %w<8>; .reg .f32 %f<4>; .reg .pred %p<4>; .reg .b16 %h<4>;
.local .align 16 .b8 depot[64];
mov.u32 %t, %tid.x; ld.param.u64 %a, [a]; ld.param.u64 %b, [b];
{code}
ret;
}}"""
    return Sim().open(text.encode(), limits or Limits(), poison=poison)


def crash(code, match, *, size=100, threads=1, shared=0):
    """The kernel must stop, with these words, and leave the process unharmed."""
    gpu = open_(code)
    try:
        a, b = gpu.array(np.zeros(size, F)), gpu.zeros(size, F)
        with pytest.raises(Stopped, match=match) as stopped:
            gpu.launch("k", 1, threads, a, b, shared=shared)
        assert stopped.value.verdict == "crash"
    finally:
        gpu.close()


@pytest.mark.parametrize("space", ["global", "generic"])
@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (400, "0 bytes after the end of buffer 0"),
        (404, "4 bytes after the end of buffer 0"),
        (-4, "4 bytes before buffer 0"),
        (1 << 20, "in no buffer"),
        (1 << 44, "in no buffer"),
        (-(1 << 45), "in no buffer"),
        (2, "not a multiple of 4"),
    ],
)
def test_every_access_is_held_to_its_buffer(space, offset, words):
    dot = "" if space == "generic" else ".global"
    for code, kind in (
        (f"ld{dot}.u32 %x0, [%w0];", "load"),
        (f"st{dot}.u32 [%w0], 1;", "store"),
        (f"atom{dot}.add.u32 %x0, [%w0], 1;", "atomic"),
        (f"red{dot}.add.u32 [%w0], 1;", "atomic"),
    ):
        crash(f"add.s64 %w0, %a, {offset}; {code}", f"k: {kind} of 4 bytes .*{words}")


def test_vectors_are_held_to_their_own_alignment():
    crash("ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%a+8];", "not a multiple of 16")
    crash("ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%a+400];", "over the end", size=101)


def test_host_addresses_are_out_of_reach():
    host = np.zeros(4, np.uint32)
    gpu = open_("st.global.u32 [%b], 1;")
    with pytest.raises(Stopped, match="in no buffer"):
        gpu.launch("k", 1, 1, 0, host.ctypes.data)
    gpu.close()
    assert not host.any()


@pytest.mark.parametrize("offset", [64, 63, 61, 62, -4, 2, 1 << 20])
def test_shared_memory_has_exact_bounds(offset):
    code = f"mov.u64 %w0, dynamic; add.s64 %w0, %w0, {offset};"
    crash(f"{code} st.shared.u32 [%w0], 1;", "shared memory out of bounds or misaligned", shared=64)
    crash(
        f"{code} ld.shared.u32 %x0, [%w0];", "shared memory out of bounds or misaligned", shared=64
    )
    crash(f"{code} cvta.shared.u64 %w0, %w0; ld.u32 %x0, [%w0];", "load of 4", shared=64)


def test_shared_addresses_wrap_around_at_32_bits():
    """As compilers compute them: one less than the whole range is one less than the address."""
    code = """mov.u64 %w0, dynamic; st.shared.u32 [%w0], 7; add.u64 %w1, %w0, 4294967292;
    ld.shared.u32 %x0, [%w1+4]; cvt.u32.u64 %x1, %w1; ld.shared.u32 %x1, [%x1+4];
    st.global.v2.u32 [%b], {%x0, %x1};"""
    gpu = open_(code)
    out = gpu.zeros(4, np.int32)
    gpu.launch("k", 1, 1, out, out, shared=16)
    assert out.get()[:2].tolist() == [7, 7]
    gpu.close()


def test_no_shared_memory_at_all():
    crash("mov.u64 %w0, dynamic; ld.shared.u32 %x0, [%w0];", "out of bounds")


def test_constants_and_parameters_are_read_only():
    crash(
        "mov.u64 %w0, table; cvta.const.u64 %w0, %w0; st.u32 [%w0], 9;",
        "store of 4 bytes .* only read",
    )
    crash(
        "mov.b64 %w0, a; cvta.param.u64 %w0, %w0; st.u64 [%w0], 9;", "store of 8 bytes .* only read"
    )
    with pytest.raises(UnsupportedError, match=r"st\.const\.u32"):
        open_("mov.u64 %w0, table; st.const.u32 [%w0], 9;")


@pytest.mark.parametrize("offset", [64, -4, 2, 1 << 20])
def test_local_memory_is_each_threads_own(offset):
    code = f"mov.u64 %w0, depot; add.s64 %w0, %w0, {offset};"
    crash(f"{code} st.local.u32 [%w0], 1;", "store of 4 bytes", threads=64)
    crash(f"{code} cvta.local.u64 %w0, %w0; ld.u32 %x0, [%w0];", "load of 4 bytes", threads=64)


@pytest.mark.parametrize("offset", [16, -4, 1 << 20])
def test_constants_have_exact_bounds(offset):
    code = f"mov.u64 %w0, table; add.s64 %w0, %w0, {offset}; ld.const.u32 %x0, [%w0];"
    crash(code, "load of 4 bytes")


def test_freed_buffers_are_gone():
    gpu = open_("ld.global.u32 %x0, [%a];")
    a, b = gpu.zeros(10), gpu.zeros(10)
    a.free()
    with pytest.raises(LaunchError, match="freed"):
        gpu.launch("k", 1, 1, a, b)
    with pytest.raises(LaunchError, match="freed"):
        a.get()
    with pytest.raises(LaunchError, match="once"):
        a.free()
    gpu.close()


def test_spaces_and_generic_addresses():
    """Each space written through its own address, read through a generic one."""
    code = """
    mov.u64 %w0, dynamic; st.shared.u32 [%w0+4], 11; cvta.shared.u64 %w1, %w0; ld.u32 %x0, [%w1+4];
    mov.u64 %w2, depot; st.local.u32 [%w2+8], 22; cvta.local.u64 %w3, %w2; ld.u32 %x1, [%w3+8];
    mov.u64 %w4, table; cvta.const.u64 %w5, %w4; ld.u32 %x2, [%w5+8]; ld.const.u32 %x3, [table+12];
    mov.u64 %w6, words; cvta.global.u64 %w7, %w6; st.u32 [%w7+4], 44; ld.global.u32 %x4, [words+4];
    st.global.v4.u32 [%b], {%x0, %x1, %x2, %x3}; st.global.u32 [%b+16], %x4;
    isspacep.shared %p0, %w1; selp.u32 %x5, 1, 0, %p0; isspacep.shared %p0, %w3; @%p0 add.u32 %x5, %x5, 2;
    isspacep.local %p0, %w3; @%p0 add.u32 %x5, %x5, 4; isspacep.global %p0, %w7; @%p0 add.u32 %x5, %x5, 8;
    isspacep.const %p0, %w5; @%p0 add.u32 %x5, %x5, 16; isspacep.global %p0, %w5; @%p0 add.u32 %x5, %x5, 32;
    st.global.u32 [%b+20], %x5;
    cvta.to.shared.u64 %w0, %w1; ld.shared.u32 %x6, [%w0+4]; st.global.u32 [%b+24], %x6;"""
    gpu = open_(code)
    out = gpu.empty(7, np.uint32)
    gpu.launch("k", 1, 1, out, out, shared=16)
    assert out.get().tolist() == [11, 22, 3, 4, 44, 1 + 4 + 8 + 16, 11]
    assert gpu.symbol("words", np.uint32).get().tolist() == [0, 44, 0, 0]
    gpu.symbol("table", np.uint32).set([5, 6, 7, 8])
    gpu.launch("k", 1, 1, out, out, shared=16)
    assert out.get().tolist()[2:4] == [7, 8]
    gpu.close()


def test_narrow_loads_and_stores_extend():
    code = """ld.global.s8 %x0, [%a]; ld.global.u8 %x1, [%a]; ld.global.s16 %x2, [%a+2]; ld.global.u16 %x3, [%a+2];
    st.global.v4.u32 [%b], {%x0, %x1, %x2, %x3}; ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%a];
    st.global.v2.u8 [%b+16], {%h3, %h2}; st.global.u16 [%b+18], %x3;
    ld.global.s32 %w0, [%a]; st.global.u64 [%b+24], %w0;"""
    gpu = open_(code)
    a, b = gpu.array(np.array([0x80, 0x7F, 0xFE, 0xFF], np.uint8)), gpu.zeros(32, np.uint8)
    gpu.launch("k", 1, 1, a, b)
    assert b.get()[:16].view(np.int32).tolist() == [-128, 128, -2, 0xFFFE]
    assert b.get()[16:20].tolist() == [0xFF, 0xFE, 0xFE, 0xFF]
    assert b.get()[24:].view(np.int64).tolist() == [
        np.array([0x80, 0x7F, 0xFE, 0xFF], np.uint8).view(np.int32)[0]
    ]
    gpu.close()


def test_guards_hold_back_memory_instructions():
    code = """setp.lt.u32 %p0, %t, 3; mul.wide.u32 %w0, %t, 4; add.u64 %w1, %b, %w0; mov.u32 %x0, 5;
    @%p0 ld.global.u32 %x0, [%a+8]; @!%p0 st.global.u32 [%w1], %x0; @%p0 atom.global.add.u32 %x1, [%a], %x0;"""
    gpu = open_(code)
    a, b = gpu.array(np.array([0, 0, 7], np.uint32)), gpu.zeros(8, np.uint32)
    gpu.launch("k", 1, 8, a, b)
    assert a.get().tolist() == [21, 0, 7]
    assert b.get().tolist() == [0, 0, 0, 5, 5, 5, 5, 5]
    assert gpu.usage().changed == (0,)
    gpu.close()


@pytest.mark.parametrize(("poison", "word"), list(enumerate(POISON)))
def test_what_nobody_wrote_is_poison(poison, word):
    code = """ld.shared.u32 %x0, [dynamic]; ld.local.u32 %x1, [depot+4]; st.global.v2.u32 [%b], {%x0, %x1};
    st.shared.u32 [dynamic], 1; st.local.u32 [depot+4], 1;"""
    gpu = open_(code, poison=poison)
    b = gpu.empty(4, np.uint32)
    assert b.get().tolist() == [word] * 4
    gpu.launch("k", 3, 1, b, b, shared=8)
    assert b.get().tolist() == [word] * 4
    gpu.close()


def test_addresses_repeat():
    def addresses():
        gpu = open_("")
        found = [gpu.array(np.zeros(n)).ptr for n in (1, 1000, 7)]
        gpu.close()
        return found

    first = addresses()
    assert first == addresses()
    assert all(address % 256 == 0 and address >= layout.BASE for address in first)


def test_several_devices_can_be_open():
    first, second = open_(""), open_("")
    a, b = first.array([1.0]), second.array([2.0])
    assert a.ptr != b.ptr
    assert (a.get()[0], b.get()[0]) == (1, 2)
    first.close()
    second.close()


def test_memory_limits():
    gpu = open_("", limits=Limits(memory=1000))
    a = gpu.zeros(200)
    with pytest.raises(Stopped) as stopped:
        gpu.zeros(100)
    assert stopped.value.verdict == "memory"
    a.free()
    gpu.zeros(100)
    assert gpu.usage().memory == 800
    gpu.close()


def test_uploads_that_kernels_changed_are_told():
    gpu = open_("mul.wide.u32 %w0, %t, 4; add.u64 %w0, %w0, %b; st.global.u32 [%w0], 3;")
    a, b, c = gpu.array([1, 2]), gpu.array(np.array([3, 4], np.uint32)), gpu.array([5.0])
    gpu.launch("k", 1, 1, a, b)
    assert gpu.usage().changed == ()
    gpu.launch("k", 1, 2, a, b)
    assert gpu.usage().changed == (1,)
    b.set([3, 3])
    assert gpu.usage().changed == ()
    b.fill(9)
    gpu.launch("k", 1, 1, a, b)
    c.free()
    b.free()
    assert gpu.usage().changed == (1,)
    gpu.close()


def test_a_fault_outside_a_launch_still_kills(tmp_path):
    """The handler that turns faults into `Stopped` is there during launches only."""
    gpu = open_("ld.global.u32 %x0, [%a];")
    with pytest.raises(Stopped):
        gpu.launch("k", 1, 1, 0, 0)
    gpu.close()
    child = os.fork()
    if not child:
        import ctypes
        import faulthandler

        faulthandler.disable()
        ctypes.string_at(0)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGSEGV
