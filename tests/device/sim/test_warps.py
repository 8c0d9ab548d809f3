"""Exchanges between lanes and barriers between threads, also where threads diverge or have left."""

import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.sim import Sim
from tests.device.sim.kernels import HEADER

ORDERS = ("together", "forward", "backward", "shuffled")


def run(code, count=32, *, blocks=1, order="together", out=None, seed=1, limits=None, shared=0):
    """Run `code` in which each thread has ``%t`` (its index) and stores ``%d`` to its place."""
    text = f"""{HEADER}
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out)
{{
.reg .b32 %t, %d, %x<8>; .reg .b64 %o, %w<8>; .reg .pred %p<6>;
mov.u32 %t, %tid.x; mov.u32 %d, 0;
{code}
DONE:
ld.param.u64 %o, [out]; mul.wide.u32 %w7, %t, 4; mov.u32 %x7, %ctaid.x; mad.wide.u32 %w7, %x7, {4 * count}, %w7;
add.u64 %o, %o, %w7; st.global.u32 [%o], %d; ret;
}}"""
    gpu = Sim().open(text.encode(), limits or Limits(), order=order, seed=seed)
    try:
        buffer = gpu.zeros(count * blocks, np.uint32)
        gpu.launch("k", blocks, count, buffer, shared=shared)
        return buffer.get(), gpu.usage()
    finally:
        gpu.close()


def source(mode, lane, b, c):
    """The manual's pseudocode for shfl."""
    segment, clamp = c >> 8 & 31, c & 31
    top = (lane & segment) | (clamp & ~segment & 31)
    if mode == "up":
        j = lane - b
        ok = j >= top
    elif mode == "down":
        j = lane + b
        ok = j <= top
    elif mode == "bfly":
        j = lane ^ b
        ok = j <= top
    else:
        j = (lane & segment) | (b & ~segment & 31)
        ok = j <= top
    return (j if ok else lane), ok


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode, order):
    for width in (32, 8):
        c = ((32 - width) << 8) | (0 if mode == "up" else 31)
        for b in (0, 1, 3, 5, 16, 31):
            code = f"""mul.lo.u32 %x0, %t, 10; shfl.sync.{mode}.b32 %x1|%p0, %x0, {b}, {c}, 0xFFFFFFFF;
            selp.u32 %x2, 1000, 0, %p0; add.u32 %d, %x1, %x2;"""
            got, _ = run(code, order=order)
            want = [source(mode, lane, b, c) for lane in range(32)]
            assert got.tolist() == [10 * j + 1000 * ok for j, ok in want], (mode, b, width)
        if order != "together":
            break


@pytest.mark.parametrize("order", ORDERS)
def test_votes_and_matches(order):
    code = """and.b32 %x0, %t, 1; setp.eq.u32 %p0, %x0, 0;
    vote.sync.ballot.b32 %x1, %p0, 0xFFFFFFFF; vote.sync.any.pred %p1, %p0, -1; vote.sync.all.pred %p2, %p0, -1;
    vote.sync.uni.pred %p3, %p0, -1;
    selp.u32 %x2, 1, 0, %p1; @%p2 add.u32 %x2, %x2, 2; @%p3 add.u32 %x2, %x2, 4; xor.b32 %d, %x1, %x2;"""
    got, _ = run(code, order=order)
    assert set(got.tolist()) == {0x55555555 ^ 1}
    code = """shr.u32 %x0, %t, 3; match.any.sync.b32 %x1, %x0, -1; match.all.sync.b32 %x2|%p0, 7, -1;
    selp.u32 %x3, %x1, 0, %p0; and.b32 %d, %x3, %x2;"""
    got, _ = run(code, order=order)
    assert got.tolist() == [0xFF << (lane // 8 * 8) for lane in range(32)]


def test_reductions_and_election():
    values = list(range(32))
    for name, want in (
        ("add.u32", sum(values)),
        ("min.s32", 0),
        ("max.u32", 31),
        ("xor.b32", 0),
        ("or.b32", 31),
    ):
        got, _ = run(f"redux.sync.{name} %d, %t, -1;")
        assert set(got.tolist()) == {want}, name
    got, _ = run("elect.sync %x0|%p0, 0xFFFFFFF0; selp.u32 %x1, 100, 0, %p0; add.u32 %d, %x0, %x1;".replace(
        "elect", "setp.lt.u32 %p1, %t, 4; @%p1 bra DONE; elect"))  # fmt: skip
    assert got.tolist() == [0] * 4 + [104] + [4] * 27


def test_lanes_that_have_left_are_not_waited_for():
    code = """setp.ge.u32 %p0, %t, 20; @%p0 exit;
    vote.sync.ballot.b32 %d, 1, 0xFFFFFFFF;"""
    got, _ = run(
        code.replace("1, 0xF", "%p1, 0xF").replace("vote", "setp.eq.u32 %p1, %t, %t; vote")
    )
    assert set(got[:20].tolist()) == {(1 << 20) - 1}
    assert set(got[20:].tolist()) == {0}


def test_divergent_lanes_meet_at_their_mask():
    code = """and.b32 %x0, %t, 1; setp.eq.u32 %p0, %x0, 1; @%p0 bra ODD;
    shfl.sync.idx.b32 %d, %t, 4, 31, 0x55555555; bra JOIN;
    ODD: shfl.sync.idx.b32 %d, %t, 5, 31, 0xAAAAAAAA;
    JOIN: bar.warp.sync 0xFFFFFFFF;"""
    for order in ORDERS:
        got, _ = run(code, order=order)
        assert got.tolist() == [4, 5] * 16


def test_forms_without_sync_are_among_whoever_is_here():
    code = """setp.lt.u32 %p0, %t, 8; @%p0 bra LOW; bra DONE;
    LOW: activemask.b32 %x1; vote.ballot.b32 %x2, %p0; shfl.bfly.b32 %x3, %t, 1, 31;
    shl.b32 %x3, %x3, 8; or.b32 %d, %x1, %x3; xor.b32 %x2, %x2, 0xFF; or.b32 %d, %d, %x2;"""
    got, _ = run(code)
    assert got[:8].tolist() == [0xFF | (lane ^ 1) << 8 for lane in range(8)]


@pytest.mark.parametrize("order", ORDERS)
def test_barriers_in_loops_that_threads_leave_early(order):
    """Each round, threads pass a value on through shared memory; thread t stops after t % 5 rounds."""
    code = """mov.u64 %w0, dynamic; mul.wide.u32 %w1, %t, 4; add.u64 %w0, %w0, %w1; rem.u32 %x0, %t, 5;
    mov.u32 %x1, 0;
    LOOP: setp.ge.u32 %p0, %x1, %x0; @%p0 bra DONE;
    st.shared.u32 [%w0], %x1; bar.sync 0; add.u32 %d, %d, 1; add.u32 %x1, %x1, 1; bra LOOP;"""
    got, usage = run(code, 96, blocks=2, order=order, shared=384)
    assert got.tolist() == [t % 5 for t in range(96)] * 2
    assert usage.fuel == 4


@pytest.mark.parametrize("order", ORDERS)
def test_barrier_reductions(order):
    code = """rem.u32 %x0, %t, 3; setp.eq.u32 %p0, %x0, 0; bar.red.popc.u32 %d, 0, %p0;
    bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, 64, !%p0;
    @%p1 add.u32 %d, %d, 1000; @%p2 add.u32 %d, %d, 2000;"""
    got, _ = run(code, 64, order=order)
    assert set(got.tolist()) == {22 + 2000}


@pytest.mark.parametrize("order", ORDERS)
def test_named_barriers_hand_over_between_warps(order):
    code = """mov.u64 %w0, dynamic; setp.ge.u32 %p0, %t, 32; @%p0 bra CONSUME;
    add.u32 %x0, %t, 500; mul.wide.u32 %w1, %t, 4; add.u64 %w0, %w0, %w1; st.shared.u32 [%w0], %x0;
    bar.arrive 3, 64; bra DONE;
    CONSUME: bar.sync 3, 64; sub.u32 %x1, 63, %t; mul.wide.u32 %w1, %x1, 4; add.u64 %w0, %w0, %w1;
    ld.shared.u32 %d, [%w0];"""
    got, _ = run(code, 64, order=order, shared=128)
    assert got[32:].tolist() == [500 + 31 - lane for lane in range(32)]


def test_threads_that_wait_for_each_other_are_a_deadlock():
    code = "setp.lt.u32 %p0, %t, 32; @%p0 bra LOW; bar.sync 1; bra DONE; LOW: bar.sync 2;"
    with pytest.raises(Stopped, match="deadlock") as stopped:
        run(code, 64)
    assert stopped.value.verdict == "divergent-barrier"
    code = "setp.lt.u32 %p0, %t, 8; @%p0 bra LOW; shfl.sync.idx.b32 %d, %t, 0, 31, -1; bra DONE; LOW: bar.sync 0;"
    with pytest.raises(Stopped, match="deadlock"):
        run(code, 32)


def test_a_warp_that_spins_lets_others_run():
    """Warp 0 waits in a loop for a flag that warp 1 sets; a barrier keeps both alive."""
    code = """mov.u64 %w0, dynamic; st.shared.u32 [%w0], 0; bar.sync 0; setp.ge.u32 %p0, %t, 32; @%p0 bra SET;
    SPIN: ld.volatile.shared.u32 %x0, [%w0]; setp.eq.u32 %p1, %x0, 0; @%p1 bra SPIN; mov.u32 %d, 7; bra DONE;
    SET: st.volatile.shared.u32 [%w0], 1;"""
    for order in ORDERS:
        got, _ = run(code, 64, order=order, shared=4, limits=Limits(fuel=100_000))
        assert set(got[:32].tolist()) == {7}
