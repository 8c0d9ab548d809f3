"""Times by a clock: of a case in parts, both programs run the same short part in turns."""

from types import SimpleNamespace

import pytest

from gevolve.device.base import Limits
from gevolve.evaluate.child.main import Comparison, _compare_times
from gevolve.evaluate.child.timing import Precision
from gevolve.evaluate.protocol import CaseRun
from gevolve.evaluate.stopwatch import Stopwatch
from gevolve.workload.base import Case

SECONDS = {b"unedited": 0.01, b"variant": 0.005}


class Handle:
    def __init__(self, which):
        self.which, self.time = which, 0.0

    def usage(self):
        return SimpleNamespace(time=self.time)

    def close(self):
        pass


class Parts:
    """A case of some parts, of which the later ones take longer."""

    def __init__(self, count):
        self.count, self.ran = count, []

    def parts(self, case):
        return self.count

    def some(self, case, parts):
        return Case(parts=list(parts))

    def run(self, handle, case):
        self.ran.append((handle.which, tuple(case.parts)))
        handle.time += sum(SECONDS[handle.which] * (1 + part) for part in case.parts)


@pytest.fixture
def device():
    return SimpleNamespace(
        prepare=lambda artefact, kernels: None,
        open=lambda which, limits, poison: Handle(which),
    )


@pytest.mark.parametrize(
    ("count", "chosen", "expected"), [(6, (), range(6)), (6, (4, 2), (4, 2)), (1, (), (0,))]
)
def test_each_pair_of_runs_takes_one_part_and_all_take_their_turn(device, count, chosen, expected):
    workload = Parts(count)
    problem = SimpleNamespace(device=device, workload=workload, cases=[Case()])
    comparison = Comparison(b"unedited", Precision(0.0, 12, 12, 1e9))
    run = CaseRun(0, Limits(), parts=chosen)
    timed = _compare_times(Stopwatch(), problem, b"variant", run, comparison)
    assert timed.time == pytest.approx(0.5)
    assert {len(parts) for _, parts in workload.ran} == {1}
    ran = {which: [part for one, (part,) in workload.ran if one == which] for which in SECONDS}
    assert ran[b"variant"] == ran[b"unedited"][1:]  # the first only tells how long a run is
    assert ran[b"variant"][: len(expected)] == list(expected)
    assert {*ran[b"variant"]} == {*expected}
