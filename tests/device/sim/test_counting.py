"""Time and marks, on kernels small enough to count by hand; fuel; the same again in any process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.sim import Sim
from tests.device.sim.kernels import HEADER

HEAD = ".reg .b32 %t, %x<8>; .reg .b64 %a, %w<4>; .reg .pred %p<4>;\n"


def measure(code, threads=32, *, blocks=1, size=4096, limits=None, order="together"):
    text = f"{HEADER}.visible .entry k(.param .u64 a)\n{{\n{HEAD}{code}\n}}"
    gpu = Sim().open(text.encode(), limits or Limits(), order=order)
    try:
        gpu.launch("k", blocks, threads, gpu.zeros(size, np.uint32))
        return gpu.usage()
    finally:
        gpu.close()


def access(index, count=1):
    """A kernel of nine instructions, the last but one a load at ``index`` words."""
    return f"""mov.u32 %t, %tid.x; mov.u32 %x0, %ctaid.x; {index}
    ld.param.u64 %a, [a]; mul.wide.u32 %w0, %x1, 4; add.u64 %w0, %w0, %a; ld.global.u32 %x2, [%w0]; ret;"""


@pytest.mark.parametrize(
    ("index", "sectors"),
    [
        ("mov.u32 %x1, %t;", 4),  # coalesced
        ("shl.b32 %x1, %t, 3;", 32),  # a sector each
        ("mul.lo.u32 %x1, %t, 100;", 32),
        ("shl.b32 %x1, %t, 1;", 8),
        ("mov.u32 %x1, 5;", 1),  # all the same
        ("sub.u32 %x1, 31, %t;", 4),  # backwards
        ("add.u32 %x1, %t, 1;", 5),  # misaligned
        ("and.b32 %x1, %t, 8;", 2),
        ("xor.b32 %x1, %t, 21;", 4),  # shuffled
    ],
)
def test_sectors(index, sectors):
    assert measure(access(index)).time == 8 + sectors
    assert measure(access(index), blocks=3).time == 3 * (8 + sectors)


def test_a_part_of_a_warp_moves_less():
    assert measure(access("mov.u32 %x1, %t;"), 5).time == 8 + 1
    assert measure(access("mov.u32 %x1, %t;"), 33).time == 16 + 4 + 1


def test_vectors_and_atomics_are_one_access():
    code = """mov.u32 %t, %tid.x; ld.param.u64 %a, [a]; mul.wide.u32 %w0, %t, 16; add.u64 %w0, %w0, %a;
    ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%w0]; red.global.add.u32 [%a], %x0; ret;"""
    assert measure(code).time == 7 + 16 + 1


def test_guarded_accesses_count_for_those_that_do_them():
    code = """mov.u32 %t, %tid.x; ld.param.u64 %a, [a]; mul.wide.u32 %w0, %t, 32; add.u64 %w0, %w0, %a;
    setp.lt.u32 %p0, %t, 3; @%p0 ld.global.u32 %x0, [%w0]; ret;"""
    assert measure(code).time == 7 + 3


def test_a_loop_counts_as_often_as_its_longest_lane():
    # two before, three an iteration, one after; lane t goes round t % 7 + 1 times
    code = """mov.u32 %t, %tid.x; rem.u32 %x0, %t, 7;
    LOOP: sub.s32 %x0, %x0, 1; setp.ge.s32 %p0, %x0, 0; @%p0 bra LOOP;
    ret;"""
    for order in ("together", "forward", "backward"):
        usage = measure(code, order=order)
        assert (usage.time, usage.fuel) == (2 + 3 * 7 + 1, 6)
    assert measure(code, 3).time == 2 + 3 * 3 + 1
    assert measure(code, 33).time == 2 + 3 * 7 + 1 + 2 + 3 * 5 + 1


def test_both_sides_of_a_branch_count_if_both_are_taken():
    code = """mov.u32 %t, %tid.x; and.b32 %x0, %t, {mask}; setp.eq.u32 %p0, %x0, 0; @%p0 bra ELSE;
    add.u32 %x1, %t, 1; add.u32 %x1, %x1, 1; bra JOIN;
    ELSE: add.u32 %x1, %t, 5;
    JOIN: ret;"""
    assert measure(code.format(mask=1)).time == 4 + 3 + 1 + 1
    assert measure(code.format(mask=32)).time == 4 + 1 + 1
    assert measure(code.format(mask=32), 64).time == 4 + 1 + 1 + 4 + 3 + 1


def test_a_block_in_a_loop_counts_its_busiest_lane():
    """Each lane takes the branch in one of four rounds: no lane runs it more than once."""
    code = """mov.u32 %t, %tid.x; and.b32 %x0, %t, 3; mov.u32 %x1, 0;
    LOOP: setp.ne.u32 %p0, %x0, %x1; @%p0 bra NEXT; add.u32 %x2, %x2, 1; add.u32 %x2, %x2, 1;
    NEXT: add.u32 %x1, %x1, 1; setp.lt.u32 %p1, %x1, 4; @%p1 bra LOOP; ret;"""
    assert measure(code).time == 3 + 4 * 2 + 2 + 4 * 3 + 1


def test_early_leavers_do_not_add_up_with_those_that_stay():
    code = """mov.u32 %t, %tid.x; mov.u32 %x0, 10; setp.lt.u32 %p0, %t, 4; @%p0 bra A; bra B;
    A: sub.u32 %x0, %x0, 1; setp.gt.u32 %p1, %x0, 0; @%p1 bra A; exit;
    B: bra C; C: bra A2; A2: mov.u32 %x0, 3;
    D: sub.u32 %x0, %x0, 1; setp.gt.u32 %p1, %x0, 0; @%p1 bra D; exit;"""
    # jumps from one block to the next are no instructions
    assert measure(code).time == 4 + 3 * 10 + 1 + 1 + 3 * 3 + 1


def test_barriers_shuffles_and_calls_are_instructions():
    module = """.func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %v; ld.param.b32 %v, [x]; shl.b32 %v, %v, 1;
    st.param.b32 [r], %v; ret; }"""
    code = """mov.u32 %t, %tid.x; bar.sync 0; shfl.sync.idx.b32 %x0, %t, 0, 31, -1;
    { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %t; call (r0), twice, (p0); ld.param.b32 %x1, [r0]; } ret;"""
    text = f"{HEADER}{module}\n.visible .entry k(.param .u64 a)\n{{\n{HEAD}{code}\n}}"
    gpu = Sim().open(text.encode())
    gpu.launch("k", 1, 64, gpu.zeros(1))
    assert gpu.usage().time == 2 * (7 + 4)
    assert gpu.usage().fuel == 1
    gpu.close()


def test_marks_count_threads_and_cost_nothing():
    code = """gevolve.mark start; mov.u32 %t, %tid.x; setp.ge.u32 %p0, %t, 10; @%p0 bra OUT;
    gevolve.mark b1.x; mov.u32 %x0, 1;
    OUT: gevolve.mark _end; ret;"""
    usage = measure(code, 40, blocks=2)
    sizes = {"k ntid.x=40": 1, "k ntid.y=1": 1, "k ntid.z=1": 1}
    assert usage.marks == {"start": 80, "b1.x": 20, "_end": 80, **sizes}
    assert (
        usage.time
        == measure(
            code.replace("gevolve.mark start;", "").replace("gevolve.mark b1.x;", ""), 40, blocks=2
        ).time
    )


def test_fuel_is_the_most_of_one_thread_in_one_launch():
    code = """mov.u32 %x0, 0; LOOP: add.u32 %x0, %x0, 1; setp.lt.u32 %p0, %x0, 100; @%p0 bra LOOP; ret;"""
    assert measure(code, 64, blocks=2).fuel == 99
    assert measure(code, limits=Limits(fuel=99)).fuel == 99
    with pytest.raises(Stopped) as stopped:
        measure(code, limits=Limits(fuel=98))
    assert stopped.value.verdict == "fuel"


@pytest.mark.parametrize("order", ["together", "forward"])
def test_endless_loops_end(order):
    for code in (
        "LOOP: bra LOOP;",
        "mov.u32 %t, %tid.x; setp.eq.u32 %p0, %t, 3; LOOP: @%p0 bra LOOP; ret;",
        "LOOP: bar.sync 0; bra LOOP;",
        "LOOP: shfl.sync.idx.b32 %x0, %x0, 0, 31, -1; bra LOOP;",
    ):
        with pytest.raises(Stopped) as stopped:
            measure(code, limits=Limits(fuel=5000), order=order)
        assert stopped.value.verdict == "fuel"


def test_endless_recursion_ends():
    text = f"{HEADER}.func f() {{ call f; ret; }}\n.visible .entry k() {{ call f; ret; }}"
    for fuel, words in ((100, "loops"), (1 << 40, "too deep")):
        gpu = Sim().open(text.encode(), Limits(fuel=fuel))
        with pytest.raises(Stopped, match=words):
            gpu.launch("k", 1, 32)
        gpu.close()


def test_launches_are_limited():
    text = f"{HEADER}.visible .entry k() {{ ret; }}"
    gpu = Sim().open(text.encode(), Limits(launches=2))
    gpu.launch("k", 1, 1)
    gpu.launch("k", 1, 1)
    with pytest.raises(Stopped) as stopped:
        gpu.launch("k", 1, 1)
    assert stopped.value.verdict == "fuel"
    assert gpu.usage().launches == 2
    gpu.close()


def test_traps():
    for code in ("trap;", "brkpt;", "mov.u32 %t, %tid.x; setp.eq.u32 %p0, %t, 31; @%p0 trap; ret;"):
        with pytest.raises(Stopped, match="trap") as stopped:
            measure(code)
        assert stopped.value.verdict == "crash"


WILD = """
import hashlib, sys
import numpy as np
from gevolve.device.base import Limits, Stopped
from gevolve.device.sim import Sim
ptx = open(sys.argv[1] + "/ptx/programs.ptx", "rb").read()
gpu = Sim().open(ptx, Limits(fuel=10000))
rng = np.random.default_rng(0)
a, out = gpu.array(rng.integers(0, 1000, 100).astype(np.int32)), gpu.empty(64, np.int32)
gpu.launch("localarr", 1, 64, a, out, 100)
half = gpu.empty(32, np.float16)
gpu.launch("halfk", 1, 32, half, gpu.empty(64, np.float16), half, gpu.empty(64, np.float16), gpu.empty(32, np.uint16))
print(hashlib.sha256(out.get().tobytes() + half.get().tobytes()).hexdigest(), out.ptr, gpu.usage())
try:
    gpu.launch("localarr", 1, 96, a, out, 100)
except Stopped as stopped:
    print(stopped.verdict, stopped, gpu.usage())
"""


def test_two_processes_agree():
    folder = str(Path(__file__).parent)
    command = [sys.executable, "-c", WILD, folder]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert first.stdout == second.stdout
    assert "after the end of buffer 1" in first.stdout
