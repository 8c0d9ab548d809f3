"""Which varied cases are used: those that the unedited program runs on without a fault, and that it notices."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gevolve.device.base import Hazard, Limits, Usage
from gevolve.evaluate.child.main import Comparison, Problem, compute_reference
from gevolve.evaluate.child.process import FAILURES, Child
from gevolve.evaluate.child.runner import Runner
from gevolve.evaluate.child.start import start
from gevolve.evaluate.child.timing import QUICK
from gevolve.evaluate.protocol import CaseRun, Prepared, Ran
from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.outputs import Outputs
from gevolve.workload.base import Case
from gevolve.workload.error import AGREES, rough_error

_LOOSE = 10
"""Extreme inputs may round so many times as much as usual ones."""


class Screen:
    """Runs the unedited program on cases that it may not be made for."""

    def __init__(
        self, problem: Problem, artefact: bytes, *, seconds: float, main: int | None
    ) -> None:
        """The first case of the problem is one that it is made for."""
        self._problem = problem
        self._artefact = artefact
        self._seconds = seconds
        self._main = main
        self._runner = Runner(problem, Comparison(artefact, QUICK), main, isolated=False)
        self._limits = Limits()
        self._hazards: tuple[Hazard, ...] = ()

    def passing(self) -> list[Case]:
        """The first case, and those of the others that can be used."""
        usual = self._outputs(0)
        if usual is None:
            return [self._problem.cases[0]]
        kept = [self._problem.cases[0]]
        for case in range(1, len(self._problem.cases)):
            found = self._outputs(case)
            if found is None or not self._sound(case, found):
                continue
            same = found.headers == usual.headers and judge.same(found.arrays, usual.arrays)
            if not same:  # else the program does not depend on what was varied
                kept.append(self._problem.cases[case])
        self._runner.end()
        return kept

    def _outputs(self, case: int) -> Outputs | None:
        """What the program gives, if that does not depend on empty memory, or on the order of threads."""
        plan = [CaseRun(case, self._limits, poison=poison, timed=False) for poison in (0, 1)]
        hazards = self._problem.device.checks[:1]
        plan += [CaseRun(case, self._limits, check=name, timed=False) for name in hazards]
        with self._runner.run(self._artefact, plan, seconds=self._seconds) as child:
            try:
                child.expect(Prepared)
                first = self._run(child)
                second = self._run(child)
                for _ in hazards:
                    _, usage = self._run(child)
                    if case == 0:
                        self._hazards = usage.hazards
                    judge.check_hazards(usage.hazards, self._hazards, "")
            except (judge.Fault, *FAILURES):
                return None
        if case == 0:
            usual = Limits.like(first[1])
            self._limits = replace(usual, fuel=16 * usual.fuel + 1_000_000)
        if self._problem.device.deterministic and not judge.same(first[0].arrays, second[0].arrays):
            return None
        return first[0]

    def _run(self, child: Child) -> tuple[Outputs, Usage]:
        child.go()
        ran = child.expect(Ran)
        outputs = Outputs(ran.outputs)
        outputs.fill(child.fill)
        return outputs, ran.usage

    def _sound(self, case: int, found: Outputs) -> bool:
        """Whether the outputs are numbers, and those of the reference if there is one."""
        floats = (array for array in found.arrays.values() if array.dtype.kind in "fc")
        if not all(np.isfinite(array).all() for array in floats):
            return False
        reference = self._problem.workload.reference
        if reference is None:
            return True
        one = replace(self._problem, cases=[self._problem.cases[case]])
        with start(
            lambda channel: compute_reference(channel, one, reference),
            seconds=self._seconds,
            main=self._main,
        ) as child:
            try:
                ran = child.expect(Ran)
                want = Outputs(ran.outputs)
                want.fill(child.fill)
            except FAILURES:
                return False
        close = _LOOSE * max(AGREES, self._problem.workload.rounding or 0.0)
        return want.arrays.keys() == found.arrays.keys() and all(
            array.shape == want.arrays[name].shape
            and rough_error(array, want.arrays[name]) <= close
            for name, array in found.arrays.items()
        )


def screened(
    problem: Problem, candidates: Sequence[Case], *, seconds: float, main: int | None
) -> list[Case]:
    """The problem's first case, and those of the candidates that can be used."""
    cases = [problem.cases[0], *candidates]
    artefact = problem.device.build(problem.program.text)
    return Screen(replace(problem, cases=cases), artefact, seconds=seconds, main=main).passing()
