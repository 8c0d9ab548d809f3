"""Cycles: what must cost more costs more, what is bound by one thing costs what the table says."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gevolve.device.base import Limits
from gevolve.device.sim.timing import load_gpu
from tests.device.sim.timing.timed import at, device, kernel, timed

ADD = "add.f32 %f0, %f0, %f1;"
SLACK = 1.02
"""A greedy schedule is not monotonic to the last cycle."""


def chase(steps: int) -> str:
    """Follow pointers: each load needs the one before."""
    return (
        "mov.u64 %w0, %a; mov.u32 %x1, 0;"
        "LOOP: ld.global.u64 %w0, [%w0]; add.u32 %x1, %x1, 1;"
        f"setp.lt.u32 %p0, %x1, {steps}; @%p0 bra LOOP; st.global.u64 [%b], %w0;"
    )


def ring(gpu, words: int, stride: int) -> np.ndarray:
    """Pointers that lead round a buffer in steps of `stride` words."""
    places = np.arange(0, words, stride)
    data = np.zeros(words, np.uint64)
    data[places] = gpu + 8 * np.roll(places, -1)
    return data


def chased(name: str, steps: int, *, words: int, stride: int) -> float:
    opened = device(name).open(kernel(chase(steps)), Limits())
    a = opened.empty(words, np.uint64)
    opened.close()
    opened = device(name).open(kernel(chase(steps)), Limits())
    b = opened.array(ring(a.ptr, words, stride))
    assert b.ptr == a.ptr
    opened.launch("k", 1, 1, b, opened.empty(8, np.uint64), 0)
    cycles = opened.timings[0].cycles
    opened.close()
    return cycles


@pytest.mark.parametrize("name", ["titanx", "p100", "v100", "h100"])
def test_a_chain_of_loads_costs_the_latency_of_l2(name):
    gpu = load_gpu(name)
    # steps of 512 bytes, each line once, in a buffer that fits L2 (the host has just written it)
    step = (
        chased(name, 200, words=1 << 14, stride=64) - chased(name, 100, words=1 << 14, stride=64)
    ) / 100
    assert gpu.l2.latency <= step <= gpu.l2.latency + 45


def test_a_chain_of_loads_that_miss_costs_the_latency_of_dram():
    gpu = load_gpu("titanx")
    words = gpu.l2.size  # eight times the cache, so its start has been pushed out
    step = (
        chased("titanx", 200, words=words, stride=256)
        - chased("titanx", 100, words=words, stride=256)
    ) / 100
    both = gpu.l2.latency + gpu.dram.latency
    assert both <= step <= both + 45


def test_a_chain_of_loads_in_l1_costs_its_latency():
    gpu = load_gpu("v100")
    step = (
        chased("v100", 400, words=64, stride=16) - chased("v100", 200, words=64, stride=16)
    ) / 200
    assert gpu.l1.latency <= step <= gpu.l1.latency + 25


@pytest.mark.parametrize("name", ["titanx", "v100"])
def test_a_stream_from_dram_reaches_the_bandwidth_of_the_table(name):
    gpu = load_gpu(name)
    threads = 1 << 18
    body = at("%g", 16) + "ld.global.v4.u32 {%x0,%x1,%x2,%x3}, [%w0]; st.global.u32 [%b], %x0;"
    body = body.replace("st.global.u32 [%b], %x0;", "add.u32 %x0, %x0, %x1;")
    timing = timed(
        body,
        gpu=name,
        grid=threads // 256,
        block=256,
        cold=True,
        data=np.zeros(threads * 4, np.int32),
    )
    assert timing.traffic["misses"] == timing.traffic["sectors"]
    rate = threads * 16 / timing.cycles
    assert 0.7 * gpu.bytes_per_cycle <= rate <= 1.01 * gpu.bytes_per_cycle


def test_a_chain_of_additions_costs_its_latency_each():
    gpu = load_gpu("titanx")
    cycles = (timed(ADD * 100).cycles - timed(ADD * 50).cycles) / 50
    assert cycles == gpu.classes["float"].latency


def test_independent_instructions_issue_one_a_cycle_and_scheduler():
    many = "".join(f"add.f32 %f{i % 8 + 1}, %f{i % 8 + 1}, %f0;" for i in range(160))
    cycles = timed(many * 2, block=512, grid=28).cycles - timed(many, block=512, grid=28).cycles
    assert 4 * 160 <= cycles <= 4 * 160 * 1.1  # 16 warps on 4 schedulers


@pytest.mark.parametrize(
    "op", ["rsqrt.approx.f32 %f0, %f1", "div.s32 %x0, %x1, %x2", "add.f64 %z0, %z1, %z2"]
)
def test_slow_units_cost_more(op):
    assert (
        timed(f"{op};" * 40, block=256).cycles
        > timed(ADD.replace("%f0, %f0", "%f0, %f2") * 40, block=256).cycles
    )


def test_bank_conflicts_cost_their_degree():
    def body(stride: int) -> str:
        address = f"mul.lo.u32 %x1, %t, {4 * stride}; and.b32 %x1, %x1, 4095; mov.u64 %w1, dynamic;"
        load = "".join(f"ld.shared.u32 %x{i}, [%w0];" for i in (2, 3, 4, 5)) * 8
        return f"{address} cvt.u64.u32 %w0, %x1; add.s64 %w0, %w0, %w1; st.shared.u32 [%w0], %t; {load}"

    cycles = [timed(body(s), block=256, shared=4096).cycles for s in (1, 2, 4, 8, 16, 32)]
    assert cycles == sorted(cycles)
    assert cycles[-1] - cycles[0] > 8 * 32 * 30  # 8 warps, 32 loads, 31 cycles more


def test_atomics_on_one_address_are_slower_than_apart():
    one = timed("red.global.add.u32 [%a], 1;", block=256, grid=28)
    many = timed(at("%g") + "red.global.add.u32 [%w0], 1;", block=256, grid=28)
    assert one.cycles > 4 * many.cycles
    assert one.kinds["contention"] + one.kinds["memory"] + one.kinds["idle"] > one.kinds["issue"]


def test_all_sms_on_one_line_queue_at_its_slice():
    loads = "".join(f"ld.volatile.global.u32 %x{i}, [%w0+{{}}];" for i in range(1, 9))
    hot = at("%t") + "".join(loads.format(*[512 * k] * 8) for k in range(4))
    spread = (
        "mul.lo.u32 %x9, %c, 256; add.u32 %x9, %x9, %t;"
        + at("%x9")
        + "".join(loads.format(*[4096 * i + 512 * k for i in range(8)]) for k in range(4))
    )
    hot, spread = (
        timed(body, grid=28, block=32, data=np.zeros(1 << 18, np.int32)) for body in (hot, spread)
    )
    assert hot.traffic["sectors"] == spread.traffic["sectors"]
    assert hot.cycles > 3 * spread.cycles
    assert hot.kinds["contention"] > spread.kinds["contention"]


def test_read_only_loads_hit_l1_on_pascal_and_plain_ones_do_not():
    def body(load: str) -> str:
        return at("%t") + f"{load} %x0, [%w0]; add.u32 %x1, %x0, %x0;" * 10

    plain, cached = timed(body("ld.global.u32")), timed(body("ld.global.nc.u32"))
    assert plain.traffic["l1_hits"] == 0
    assert cached.traffic["l1_hits"] == 36
    assert cached.cycles < plain.cycles
    assert timed(body("ld.global.u32"), gpu="v100").traffic["l1_hits"] == 36


def test_stores_take_lines_out_of_l1():
    body = (
        at("%t") + "ld.global.u32 %x0, [%w0]; st.global.u32 [%w0], %x0; ld.global.u32 %x0, [%w0];"
    )
    assert timed(body, gpu="v100").traffic["l1_hits"] == 0


def test_a_barrier_waits_for_the_slowest_warp():
    slow = (
        "setp.ge.u32 %p0, %t, 32; @%p0 bra GO;"
        + ADD * 200
        + "GO: bar.sync 0; st.global.u32 [%a], %t;"
    )
    timing = timed(slow, block=256)
    alone = timed(slow.replace("bar.sync 0;", ""), block=256)
    assert timing.kinds["barriers"] > 0
    assert alone.kinds["barriers"] == 0
    assert timing.cycles > 200 * load_gpu("titanx").classes["float"].latency


def test_more_warps_hide_latency():
    body = at("%g") + "ld.global.u32 %x0, [%w0]; add.u32 %x1, %x1, %x0;" * 8
    one, eight = timed(body, block=32), timed(body, block=256)
    assert eight.cycles < 3 * one.cycles


BLOCKS = st.integers(1, 40)
WORK = st.lists(
    st.sampled_from(
        ["add.f32 %f0, %f0, %f1;", "add.u32 %x0, %x0, 1;", "rsqrt.approx.f32 %f2, %f2;"]
    ),
    max_size=20,
)


@settings(max_examples=20, deadline=None)
@given(work=WORK, more=WORK, grid=BLOCKS)
def test_more_work_is_not_faster(work, more, grid):
    body = at("%g") + "ld.global.u32 %x0, [%w0];{} st.global.u32 [%w0], %x0;"
    less = timed(body.format("".join(work)), grid=grid, block=64)
    longer = timed(body.format("".join(work + more)), grid=grid, block=64)
    assert longer.cycles * SLACK >= less.cycles


@settings(max_examples=15, deadline=None)
@given(grid=BLOCKS, stride=st.sampled_from([1, 2, 4]))
def test_wider_strides_are_not_faster(grid, stride):
    body = (
        "mul.lo.u32 %x1, %g, {};"
        + at("%x1")
        + "ld.global.u32 %x0, [%w0]; add.u32 %x0, %x0, 1; st.global.u32 [%w0], %x0;"
    )
    data = np.zeros(40 * 64 * 32, np.int32)
    near = timed(body.format(stride), grid=grid, block=64, data=data)
    far = timed(body.format(2 * stride), grid=grid, block=64, data=data)
    assert far.cycles * SLACK >= near.cycles


def test_more_sms_are_not_slower(monkeypatch):
    from gevolve.device import sim

    body = at("%g") + "ld.global.u32 %x0, [%w0];" + ADD * 30 + "st.global.u32 [%w0], %x0;"
    cycles = []
    for sms in (7, 14, 28, 56):
        gpu = msgspec.structs.replace(load_gpu("titanx"), sms=sms)
        monkeypatch.setattr(sim, "load_gpu", lambda _, gpu=gpu: gpu)
        cycles.append(timed(body, grid=224, block=256).cycles)
    assert cycles == sorted(cycles, reverse=True)


def test_a_hit_on_a_line_that_is_on_its_way_waits_for_it():
    after = "add.u32 %x0, %x0, 1;" * 40
    alone = timed(f"ld.global.nc.u32 %x0, [%a]; {after}")
    # the first warp brings the line, the second finds it in L1 but must wait for it as long
    body = f"setp.lt.u32 %p0, %t, 32; ld.global.nc.u32 %x0, [%a]; @%p0 exit; {after}"
    second = timed(body, block=64)
    assert second.traffic["l1_hits"] == 1
    assert alone.cycles - 10 <= second.cycles <= alone.cycles + 30


@pytest.mark.parametrize("name", ["titanx", "p100"])
def test_the_formula_sorts_what_is_plain_to_see(name):
    data = np.zeros(28 * 256 * 32, np.int32)

    def guess(stride: int, work: int) -> float:
        body = f"mul.lo.u32 %x1, %g, {stride};" + at("%x1") + "ld.global.u32 %x0, [%w0];"
        return timed(body + ADD * work, gpu=name, grid=28, block=256, data=data).estimate

    assert 0 < guess(1, 10) < guess(1, 100) < guess(1, 400)
    assert guess(1, 10) < guess(4, 10) < guess(32, 10)


BARRIERS = {
    "lanes of a warp that come one half after the other": """
        setp.lt.u32 %p0, %t, 16; @%p0 bra LOW; add.u32 %x0, %t, 1; bar.sync 0; bra DONE;
        LOW: bar.sync 0; DONE: st.global.u32 [%b], %t;""",
    "warps that leave early": """
        setp.lt.u32 %p0, %t, 64; @%p0 exit; bar.sync 0; st.global.u32 [%b], %t; bar.sync 0;""",
    "producers that only arrive": """
        setp.lt.u32 %p0, %t, 128; @%p0 bra MAKE; bar.sync 1, 256; bra DONE;
        MAKE: bar.arrive 1, 256; DONE: st.global.u32 [%b], %t;""",
    "two halves with barriers of their own": """
        setp.lt.u32 %p0, %t, 128; @%p0 bra LOW; bar.sync 2, 128; bar.sync 2, 128; bra DONE;
        LOW: bar.sync 3, 128; DONE: bar.sync 0; st.global.u32 [%b], %t;""",
    "a block that is no whole number of warps": "bar.sync 0; st.global.u32 [%b], %t; bar.sync 0;",
}


@pytest.mark.parametrize("what", BARRIERS)
def test_every_way_to_wait_at_a_barrier_ends(what):
    block = 250 if "whole" in what else 256
    timing = timed(BARRIERS[what], block=block, grid=60)
    assert 50 < timing.cycles < 20_000


@pytest.mark.parametrize("gpu", ["titanx", "p100", "v100"])
def test_a_parameter_at_a_computed_address_is_an_access(gpu):
    """So the compiler reads structs that are passed by value."""
    plain = timed("ld.param.u32 %x0, [n]; st.global.u32 [%b], %x0;", gpu=gpu)
    body = "mov.b64 %w0, n; ld.param.u32 %x0, [%w0]; st.global.u32 [%b], %x0;"
    assert timed(body, gpu=gpu).cycles >= plain.cycles
    many = timed(f"mov.b64 %w0, n; {'ld.param.u32 %x0, [%w0]; add.u32 %n, %n, %x0;' * 9}", gpu=gpu)
    assert many.traffic["constants"] == 9
