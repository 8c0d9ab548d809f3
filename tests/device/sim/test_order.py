"""Where lanes meet again follows from control flow, not from the order of the text."""

from pathlib import Path

import pytest

from gevolve.device.base import Limits
from gevolve.device.sim import PtxModel, Sim
from tests.device.launches import CHECKS
from tests.device.sim.moved import moved
from tests.device.sim.timing.timed import timed
from tests.ir.llvm.kernels import KERNELS

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures").glob("*.ptx"))

HEADER = "HEADER: setp.ge.u32 %p0, %x1, %x2; @%p0 bra DONE; bra BODY;"
BODY = "BODY: add.u32 %x1, %x1, 1; and.b32 %x3, %x1, 1; setp.eq.u32 %p1, %x3, 0; @%p1 bra LATCH;"
ODD = "add.u32 %x4, %x4, 3; bra LATCH;"
LATCH = "LATCH: add.u32 %x4, %x4, %x1; bra HEADER;"
DONE = "DONE: mul.lo.u32 %x4, %x4, 3;" + "add.u32 %x4, %x4, 1;" * 20 + "ret;"
START = "mov.u32 %x1, 0; mov.u32 %x4, 0; and.b32 %x2, %t, 7; bra HEADER;"


@pytest.mark.parametrize(
    "text",
    [
        (HEADER, BODY, ODD, LATCH, DONE),
        (LATCH, HEADER, BODY, ODD, DONE),
        (DONE, LATCH, BODY, ODD, HEADER),
        (BODY, ODD, DONE, HEADER, LATCH),
    ],
    ids=["as written", "latch first", "backward", "exit inside"],
)
def test_lanes_that_leave_a_loop_at_different_times_go_on_together(text):
    timing = timed(START + "".join(text))
    longest = 4 + 7 * (2 + 4 + 1 + 2) + 2  # the last lanes' way; half of its rounds are odd
    after = 22
    assert timing.instructions <= 7 + longest + 4 + after
    assert timing.cycles == timed(START + HEADER + BODY + ODD + LATCH + DONE).cycles


def cycles(artefact: str, run) -> list[float]:
    gpu = PtxModel("titanx").open(artefact.encode(), Limits())
    try:
        run(gpu)
        return [timing.cycles for timing in gpu.timings]
    finally:
        gpu.close()


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_text_moved_about_is_the_same_program(path):
    text, run = path.read_text(), CHECKS[path.stem]
    assert moved(text, 1) != text
    assert cycles(moved(text, 1), run) == cycles(text, run)


@pytest.mark.parametrize("workload", KERNELS, ids=lambda workload: workload.name)
def test_kernels_moved_about_take_the_same_time(workload):
    text = Sim().build(workload.load().text).decode()
    (case,) = workload.cases("search")
    assert (
        len({tuple(cycles(t, lambda gpu: workload.run(gpu, case))) for t in (text, moved(text, 2))})
        == 1
    )
