"""Launches and runs: what is reported of them, large grids, several launches, several processes."""

import json
import subprocess
import sys
from functools import cache

import msgspec
import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.cost import KernelCost
from gevolve.device.registry import open_device
from gevolve.device.sim.timing import KINDS, Timing, by_kernel, load_gpu
from gevolve.suite import TUNED
from gevolve.workload.locate import locate
from tests import ROOT
from tests.device.sim.timing.timed import at, device, kernel, timed

ADD = "add.f32 %f0, %f0, %f1;"


def test_the_breakdown_adds_up_and_is_plain_data():
    body = (
        ".loc 1 7 0\n"
        + at("%g")
        + "\n.loc 1 8 0\nld.global.u32 %x0, [%w0];\n.loc 1 9 0\nadd.u32 %x0, %x0, 1;"
    )
    timing = timed(body, grid=4, block=128)
    assert set(timing.kinds) == set(KINDS)
    assert sum(timing.kinds.values()) == pytest.approx(timing.cycles)
    lines = [sum(row.values()) for row in timing.lines.values()]
    assert sum(lines) + timing.kinds["idle"] == pytest.approx(timing.cycles)
    assert any(place.endswith(":8") and "memory" in row for place, row in timing.lines.items())
    assert msgspec.json.decode(msgspec.json.encode(timing), type=Timing) == timing


def test_a_large_grid_is_sampled_and_the_share_is_shown():
    body = at("%g") + "ld.global.u32 %x0, [%w0];" + ADD * 20
    data = np.zeros(1 << 19, np.int32)
    whole = timed(body, grid=(1 << 17) // 256, block=256, data=data)
    large = timed(body, grid=(1 << 19) // 256, block=256, data=data)
    assert whole.share == 1
    assert 0 < large.share < 1
    assert large.instructions == 4 * whole.instructions
    assert large.cycles == pytest.approx(4 * whole.cycles, rel=0.35)


def test_launches_add_up_and_the_gaps_between_them_stand_beside():
    opened = open_device("ptx:titanx").open(kernel(at("%g") + "st.global.u32 [%w0], %g;"), Limits())
    a = opened.empty(1024, np.int32)
    for _ in range(3):
        opened.launch("k", 4, 64, a, a, 0)
    cycles = [timing.cycles for timing in opened.timings]
    used = opened.usage()
    assert used.time == sum(cycles)
    assert used.gaps == 2 * load_gpu("titanx").launch > 0
    opened.close()


def test_launches_of_a_kernel_add_up_line_by_line():
    body = "\n.loc 1 7 0\n" + at("%g") + "st.global.u32 [%w0], %g;"
    one, other = timed(body, grid=4), timed(body, grid=8)
    total = by_kernel([one, other])["k"]
    assert (total.launches, total.instructions) == (2, one.instructions + other.instructions)
    assert total.cycles == one.cycles + other.cycles
    assert sum(total.kinds.values()) == pytest.approx(total.cycles)
    assert total.traffic["sectors"] == one.traffic["sectors"] + other.traffic["sectors"]
    assert total.share == 1
    assert msgspec.json.decode(msgspec.json.encode(total), type=KernelCost) == total


def test_other_thread_orders_have_no_clock():
    titanx = open_device("ptx:titanx")
    opened = titanx.open(kernel("st.global.u32 [%b], %t;"), Limits(), order="backward")
    opened.launch("k", 1, 32, opened.empty(8, np.int32), opened.empty(8, np.int32), 0)
    assert opened.timings == ()
    opened.close()


def test_which_of_several_open_devices_it_is_does_not_matter():
    body = at("%g") + "ld.global.u32 %x0, [%w0]; st.global.u32 [%w0], %x0;"
    first = timed(body, grid=20, block=128)
    held = open_device("ptx:titanx").open(kernel(body), Limits())
    second = timed(body, grid=20, block=128)
    held.close()
    assert first == second


SCRIPT = """
import json, msgspec
from tests.device.sim.timing.timed import at, timed
body = at("%g") + "ld.global.u32 %x0, [%w0]; mul.lo.u32 %x1, %x0, 3;" + at("%x1", to="%w2")
body += "atom.global.add.u32 %x2, [%w2], 1; bar.sync 0; shfl.sync.bfly.b32 %x3, %x2, 1, 31, -1; st.global.u32 [%w0], %x3;"
print(json.dumps([msgspec.to_builtins(timed(body, gpu=g, grid=60, block=128)) for g in ("titanx", "a100")]))
"""


def test_every_process_says_the_same():
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        ).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert json.loads(runs[0])[0]["cycles"] > 0


@pytest.mark.parametrize("gpu", ["titanx", "p100", "v100", "t4", "a100", "a6000", "l4", "h100"])
@pytest.mark.parametrize("name", TUNED)
def test_every_kernel_of_the_suite_has_a_time_on_every_architecture(name, gpu):
    workload = locate(name)
    opened = device(gpu).open(artefact(name), Limits())
    workload.run(opened, workload.cases("search")[0])
    timings = opened.timings
    opened.close()
    assert timings
    for timing in timings:
        assert timing.cycles >= 10
        assert sum(timing.kinds.values()) == pytest.approx(timing.cycles)
        assert timing.share == 1
        assert 0 < timing.occupancy <= 1


@cache
def artefact(name: str) -> bytes:
    return open_device("sim").build(locate(name).load().text)


def test_many_launches_are_replayed_as_they_come():
    opened = open_device("ptx:titanx").open(kernel(at("%g") + "st.global.u32 [%w0], %g;"), Limits())
    a = opened.empty(1024, np.int32)
    for _ in range(40):
        opened.launch("k", 2, 64, a, a, 0)
    assert len(opened.timings) == 40
    assert len({timing.cycles for timing in opened.timings[1:]}) == 1
    opened.close()


def test_a_time_beyond_what_is_enough_comes_from_the_formula():
    titanx = open_device("ptx:titanx")
    artefact_ = kernel(at("%g") + "ld.global.u32 %x0, [%w0]; st.global.u32 [%w0], %x0;" + ADD * 20)

    def run(limits: Limits, launches: int = 3) -> tuple[float, float, int]:
        opened = titanx.open(artefact_, limits)
        a = opened.zeros(1 << 14, np.int32)
        for _ in range(launches):
            opened.launch("k", 8, 128, a, a, 0)
        used, replays = opened.usage(), len(opened.timings)
        opened.close()
        return used.time, used.estimate, replays

    time, estimate, replays = run(Limits())
    assert replays == 3
    scale = time / estimate
    assert run(Limits(enough=1.01 * time, scale=scale)) == (time, estimate, 3)
    filtered = run(Limits(enough=0.99 * time, scale=scale))
    assert filtered == (scale * estimate, estimate, 0)
    # Also when some launches were replayed before it was known that all of them take too long.
    slow = run(Limits(enough=9 * time, scale=scale), launches=40)
    assert slow[0] == scale * slow[1] > 9 * time
    assert slow[2] == 16
