"""Takes the outputs of a case portion by portion, and ends a variant as soon as it is surely too wrong."""

from collections.abc import Mapping, Sequence

import numpy as np

from gevolve.device.base import Limits
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.child.process import Child
from gevolve.evaluate.protocol import CaseRun, Header, Ran
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.baseline import Unedited
from gevolve.evaluate.worker.outputs import Outputs
from gevolve.evaluate.worker.sample import Sample, portions, sketched
from gevolve.workload.base import Array, Split


def planned(problem: Problem, split: Split, case: int, limits: Limits) -> list[CaseRun]:
    """The runs of a case, the last of which is timed: portion by portion, or the whole at once.

    The first portions are run by code that was compiled in haste, where the device can do that. What passes is
    compiled again and runs all of it. Only a search rejects early: what is reported, and what is compared with
    a reference, is run as a whole.
    """
    workload = problem.workload
    count = workload.parts(problem.cases[case])
    labels = not workload.compares and not workload.elementwise and workload.reference is None
    if split != "search" or not labels or count == 1:
        return [CaseRun(case, limits)]
    lots = sketched(count) if problem.device.sketches else []
    sketches = [CaseRun(case, limits, timed=False, parts=lot, sketch=True) for lot in lots]
    *first, last = portions(count)
    plan = [CaseRun(case, limits, timed=False, parts=lot) for lot in first]
    return [*sketches, *plan, CaseRun(case, limits, parts=last)]


def unedited_errors(problem: Problem, unedited: Unedited) -> list[list[float]]:
    """The unedited program's errors by case and part."""
    return [
        problem.workload.measure_parts(expected.want, expected.want, case)
        for case, expected in zip(problem.cases, unedited.expected, strict=True)
    ]


class Growing:
    """What a variant has given for a case so far."""

    def __init__(
        self, problem: Problem, case: int, unedited: Sequence[float], bound: float
    ) -> None:
        self._workload = problem.workload
        self._case = problem.cases[case]
        self._sample = Sample(unedited, bound) if np.isfinite(bound) else None
        self._bound = bound
        self._errors: dict[int, float] = {}
        self._count = len(unedited)

    @property
    def error(self) -> float | None:
        """The error of the case; None until all of it was run."""
        whole = len(self._errors) == self._count
        # In their own order, for the sum of floats depends on it.
        return float(np.mean([self._errors[n] for n in range(self._count)])) if whole else None

    def take(
        self,
        child: Child,
        ran: Ran,
        parts: Sequence[int],
        outputs: Outputs,
        want: Mapping[str, Array],
        where: str,
    ) -> None:
        """Receive the outputs of some parts; raises `Fault` if they show that the case will not pass."""
        headers = [Header(h.name, h.dtype, (len(parts), *h.shape[1:])) for h in outputs.headers]
        judge.check_headers(ran.outputs, headers, where)
        got = Outputs(headers)
        got.fill(child.fill)
        chosen = list(parts)
        for name, array in got.arrays.items():
            outputs.arrays[name][chosen] = array
        some = self._workload.some(self._case, parts)
        errors = judge.measure_errors(
            got.arrays,
            {name: array[chosen] for name, array in want.items()},
            lambda g, w: self._workload.measure_parts(g, w, some),
            where,
        )
        for part, error in zip(parts, errors, strict=True):
            self._errors[part] = error
            if self._sample is not None:
                self._sample.add(part, error)
        if self._sample is not None and self._sample.rejected:
            so_far = float(np.mean(list(self._errors.values())))
            raise judge.Fault(
                Verdict.WRONG,
                f"{where}: error {so_far:.3g} on {len(self._errors)} of {self._count} parts, which is"
                f" too much to come down to {self._bound:.3g}",
            )
