"""Values that nothing has written, followed to their uses: none is missed, and none is made up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gevolve.device.sim import Sim
from gevolve.device.sim.memory import POISON

HEAD = """.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %d<9>; .reg .b16 %h<9>;
.shared .align 4 .b8 tile[256]; .local .align 16 .b8 own[16];
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
{}
st.global.u32 [%d2], %r9;
ret;
}}
"""


def run(body, check=None, poison=0, threads=1):
    """What comes out, and the hazards."""
    gpu = Sim().open(HEAD.format(body).encode(), check=check, poison=poison)
    there, out = gpu.empty(8, np.uint32), gpu.empty(1, np.uint32)
    gpu.launch("k", 1, threads, there, out)
    found, usage = int(out.get()[0]), gpu.usage()
    gpu.close()
    return found, usage


def uses(body, **options):
    return [one.where[1].split()[0] for one in run(body, "values", **options)[1].hazards]


UNWRITTEN = "ld.global.u32 %r1, [%d1]; mov.u32 %r2, 305419896;"
ONE = (
    *("and.b32 {d}, {a}, {b}", "or.b32 {d}, {a}, {b}", "xor.b32 {d}, {a}, {b}", "not.b32 {d}, {a}"),
    *("add.u32 {d}, {a}, {b}", "sub.u32 {d}, {a}, {b}", "mul.lo.u32 {d}, {a}, {b}"),
    *("mul.hi.u32 {d}, {a}, {b}", "min.s32 {d}, {a}, {b}", "max.u32 {d}, {a}, {b}"),
    *(
        "shl.b32 {d}, {a}, 7",
        "shr.u32 {d}, {a}, 20",
        "shr.s32 {d}, {a}, 9",
        "shl.b32 {d}, {a}, {b}",
    ),
    *("prmt.b32 {d}, {a}, {b}, 30292", "bfe.u32 {d}, {a}, 4, 9", "bfi.b32 {d}, {a}, {b}, 8, 8"),
    *("popc.b32 {d}, {a}", "clz.b32 {d}, {a}", "brev.b32 {d}, {a}", "rem.u32 {d}, {a}, {b}"),
    *("setp.lt.s32 %p1, {a}, {b}; selp.b32 {d}, {a}, {b}, %p1", "div.s32 {d}, {a}, {b}"),
    *("setp.eq.u32 %p1, {a}, {b}; selp.b32 {d}, 5, 6, %p1", "cvt.u32.u8 {d}, {a}"),
    *("setp.geu.f32 %p1, {a}, {b}; selp.b32 {d}, 5, {b}, %p1", "cvt.s32.s16 {d}, {a}"),
    *("add.f32 {d}, {a}, {b}", "fma.rn.f32 {d}, {a}, {b}, {a}", "cvt.rn.f32.s32 {d}, {a}"),
    *("cvt.rzi.s32.f32 {d}, {a}", "max.f32 {d}, {a}, {b}", "abs.s32 {d}, {a}"),
    *("and.b32 {d}, {a}, 65280", "or.b32 {d}, {a}, 255", "mov.b32 {d}, {a}"),
)


@st.composite
def programs(draw):
    """A few instructions; what the last one gives is what comes out."""
    body, have = UNWRITTEN, ["%r1", "%r2"]
    for number in range(draw(st.integers(1, 5))):
        to = f"%r{10 + number}"
        given = {name: draw(st.sampled_from(have)) for name in "ab"}
        body += draw(st.sampled_from(ONE)).format(d=to, **given) + ";"
        have.append(to)
    return f"{body} mov.b32 %r9, {have[-1]};"


@settings(max_examples=80, deadline=None)
@given(programs())
def test_whatever_depends_on_the_poison_is_noticed(body):
    seen = {run(body, poison=number)[0] for number in range(len(POISON))}
    found, usage = run(body, "values")
    assert found == run(body)[0]
    assert len(seen) == 1 or usage.hazards


NO_USE = {
    "masked": "and.b32 %r3, %r1, 0; add.u32 %r9, %r3, %r2;",
    "shifted out": "st.global.u16 [%d1], 7; ld.global.u32 %r3, [%d1]; shl.b32 %r9, %r3, 16;",
    "one half is written": "st.global.u16 [%d1], 7; ld.global.u32 %r3, [%d1]; and.b32 %r9, %r3, 65535;",
    "not chosen": "setp.eq.u32 %p1, %r2, 0; selp.b32 %r9, %r1, 7, %p1;",
    "another test decides": "setp.ne.u32 %p2, %r2, %r2; setp.gt.and.u32 %p1, %r1, 9, %p2; selp.b32 %r9, 1, 2, %p1;",
    "the sign is known": "or.b32 %r3, %r1, -2147483648; setp.lt.s32 %p1, %r3, 0; selp.b32 %r9, 1, 2, %p1;",
    "out of range": "and.b32 %r3, %r1, 255; setp.lt.u32 %p1, %r3, 256; selp.b32 %r9, 1, 2, %p1;",
    "copied": "st.global.u32 [%d1+4], %r1; mov.u32 %r9, 7;",
    "a lane of a vector": "st.global.v2.u32 [%d1], {%r2, %r2}; ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d1];"
    "add.u32 %r9, %r3, %r4;",
    "exchanged": "atom.global.exch.b32 %r3, [%d1], %r2; ld.global.u32 %r9, [%d1];",
    "of another lane": "mov.u32 %r3, %laneid; setp.eq.u32 %p1, %r3, 0; selp.b32 %r4, %r2, %r1, %p1;"
    "shfl.sync.idx.b32 %r9, %r4, 0, 31, -1;",
    "bytes put together": "st.global.u8 [%d1], 1; st.global.u8 [%d1+1], 2; ld.global.u32 %r3, [%d1];"
    "prmt.b32 %r9, %r3, %r2, 21520; and.b32 %r9, %r9, 65535;",
}
USE = {
    "decides": (
        "reads",
        "mov.u32 %r9, 7; setp.gt.u32 %p1, %r1, 9; @%p1 bra away; mov.u32 %r9, 8; away:",
    ),
    "decides for one instruction": (
        "reads",
        "setp.gt.u32 %p1, %r1, 9; @%p1 st.global.u32 [%d1+8], 7;mov.u32 %r9, 7;",
    ),
    "addresses": (
        "addresses",
        (
            "and.b32 %r3, %r1, 4; cvt.u64.u32 %d3, %r3; add.s64 %d3, %d1, %d3;"
            "st.global.u32 [%d3], 7; mov.u32 %r9, 7;"
        ),
    ),
    "comes out": ("reads", "add.u32 %r9, %r1, %r2;"),
    "saturates": ("reads", "max.u32 %r3, %r1, 7; min.u32 %r9, %r3, 7;"),
    "is a register": ("reads", "add.u32 %r9, %r40, 1;"),
    "is in local memory": ("reads", "ld.local.u32 %r9, [own];"),
    "is in shared memory": ("reads", "ld.shared.u32 %r9, [tile];"),
    "was counted up": ("reads", "red.global.add.u32 [%d1], 1; ld.global.u32 %r9, [%d1];"),
    "of another lane": ("reads", "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;"),
    "votes": (
        "decides",
        (
            "setp.gt.u32 %p1, %r1, 9; vote.sync.any.pred %p2, %p1, -1; @%p2 bra away;"
            "mov.u32 %r9, 1; away: mov.u32 %r9, 7;"
        ),
    ),
    "one byte is not written": (
        "reads",
        "st.global.u16 [%d1], 7; st.global.u8 [%d1+2], 7; ld.global.u32 %r9, [%d1];",
    ),
}


@pytest.mark.parametrize("name", NO_USE)
def test_to_touch_it_is_no_use(name):
    assert uses(UNWRITTEN + NO_USE[name]) == []


@pytest.mark.parametrize("name", USE)
def test_to_use_it_is_one(name):
    verb, body = USE[name]
    found = uses(UNWRITTEN + body)
    assert found
    if "decides" in name:
        assert found == ["decides"]
    elif verb != "reads":
        assert verb in found


@pytest.mark.parametrize("name", [*NO_USE, *USE])
def test_only_what_reads_it_gives_cause_for_doubt(name):
    touched = UNWRITTEN + (NO_USE.get(name) or USE[name][1])
    assert run(touched, "hazards")[1].doubts == ("values",)
    assert run("mov.u32 %r9, 1;", "hazards")[1].doubts == ()


def test_what_llvm_leaves_undefined_gives_cause_for_doubt():
    text = """target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %last = load volatile i32, ptr addrspace(1) %in
  %set = icmp eq i32 %last, 9
  br i1 %set, label %one, label %end
one:
  %x = load volatile i32, ptr addrspace(1) %in
  br label %end
end:
  %y = phi i32 [ %x, %one ], [ undef, %0 ]
  store volatile i32 %y, ptr addrspace(1) %out
  ret void
}"""
    device = Sim("a100")
    artefact = device.build(text)
    for check, wanted in (("hazards", "doubts"), ("values", "hazards")):
        gpu = device.open(artefact, check=check)
        out = gpu.empty(1, np.int32)
        gpu.launch("k", 1, 1, gpu.zeros(1, np.int32), out)
        out.get()
        assert getattr(gpu.usage(), wanted), check
        gpu.close()


@pytest.mark.parametrize("name", ["%smid", "%warpid", "%clock", "%globaltimer_lo"])
def test_what_a_thread_may_not_rely_on_differs_with_the_poison(name):
    seen = {run(f"mov.u32 %r9, {name};", poison=number, threads=128)[0] for number in range(4)}
    assert len(seen) > 1


def test_host_code_that_writes_a_buffer_has_written_it():
    gpu = Sim().open(HEAD.format("ld.global.u32 %r9, [%d1];").encode(), check="values")
    there, out = gpu.empty(8, np.uint32), gpu.empty(1, np.uint32)
    there.fill(7)
    gpu.launch("k", 1, 1, there, out)
    assert out.get() == 7
    assert gpu.usage().hazards == ()
    out.free()
    gpu.empty(1, np.uint32).get()
    (hazard,) = gpu.usage().hazards
    assert (hazard.kind, hazard.kernel) == ("uninitialised", "the host")
    gpu.close()


def test_the_run_that_watches_is_the_run_that_is_timed():
    """A kernel can tell neither by its buffers' addresses, nor by what lies in them, nor by the clock."""
    body = "cvt.u32.u64 %r3, %d2; ld.global.u32 %r4, [%d1]; mov.u32 %r5, %clock; xor.b32 %r9, %r3, %r4;"
    body += "xor.b32 %r9, %r9, %r5;"
    assert run(body)[0] == run(body, "hazards")[0]
    assert run(body)[0] != run(body, "backward")[0], "buffers lie elsewhere"
