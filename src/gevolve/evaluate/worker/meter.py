"""Measures how wrong outputs are, and knows what of it is the unedited program's own rounding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.outputs import sealed
from gevolve.evaluate.worker.rounding import Rerounded
from gevolve.workload.base import Array
from gevolve.workload.error import SLACK, Ruler, relative_error, rulers, rulers_alike

_LITTLE = 10.0
"""So many times what a few runs that round otherwise happen to show, and it is rounding still."""
_ABOVE = 1.01
"""What is no rounding is this much above it, however small."""


@dataclass(frozen=True, slots=True)
class Meter:
    """How the outputs of one split are compared."""

    problem: Problem
    rulers: Sequence[Mapping[str, Ruler | None]]
    """By case and output; empty where the workload has an error function of its own."""
    rounding: float
    """An error up to this counts as none."""
    measured: bool
    """Whether that was measured, rather than set by the workload."""

    def error(
        self, case: int, got: Mapping[str, Array], want: Mapping[str, Array], where: str
    ) -> float:
        """The error of the outputs of a case; raises `Fault` where only one of them is finite."""
        return judge.measure_error(got, want, lambda g, w: self._measure(case, g, w), where)

    def near(
        self, case: int, got: Mapping[str, Array], want: Mapping[str, Array], where: str
    ) -> float | None:
        """The error of outputs that should be the same up to rounding; None if they are."""
        error = self.error(case, got, want, where)
        return None if error <= self.rounding else error

    def is_near(self, case: int, got: Mapping[str, Array], want: Mapping[str, Array]) -> bool:
        """Whether outputs differ by little more than a few runs that round otherwise have shown."""
        if not self.rulers or not self.measured:
            return False
        if {n: a.shape for n, a in got.items()} != {n: a.shape for n, a in want.items()}:
            return False
        for name, ruler in self.rulers[case].items():
            scale = None if ruler is None else ruler.scale
            if not relative_error(got[name], want[name], scale) <= _LITTLE * self.rounding:
                return False
        return True

    def excused(self, error: float, got: Mapping[str, Array], want: Mapping[str, Array]) -> float:
        """The workload's own error; what is within the rounding is above it where whole numbers differ."""
        excused = not 0 < error <= self.rounding or not _whole_differ(got, want)
        return error if excused else _ABOVE * self.rounding

    def _measure(self, case: int, got: Mapping[str, Array], want: Mapping[str, Array]) -> float:
        if not self.rulers:
            error = self.problem.workload.measure(got, want, self.problem.cases[case])
            return self.excused(error, got, want)
        rulers = self.rulers[case]
        return float(np.max([self._one(got[name], want[name], rulers[name]) for name in got]))

    def _one(self, got: Array, want: Array, ruler: Ruler | None) -> float:
        """The error of one output; no rounding excuses a whole number that is wrong."""
        error = relative_error(got, want, None if ruler is None else ruler.scale)
        if error == 0 or error > self.rounding:
            excused = self.measured and error > 0 and ruler is not None and ruler.excuses(got, want)
            return min(error, self.rounding) if excused else error
        excused = ruler is not None and (not self.measured or ruler.excuses(got, want))
        return error if excused else _ABOVE * self.rounding


def _whole_differ(got: Mapping[str, Array], want: Mapping[str, Array]) -> bool:
    """Whether a whole number differs, which no rounding excuses."""
    return any(
        array.dtype.kind in "iub" and not np.array_equal(got[name], array)
        for name, array in want.items()
    )


def meter(
    problem: Problem, plain: Sequence[Mapping[str, Array]], rerounded: Rerounded, *, rounds: bool
) -> Meter:
    """How to compare with these outputs, given those of runs that round otherwise."""
    given = problem.workload.rounding
    if not problem.workload.elementwise:
        rounding = _by_own_measure(problem, plain, rerounded) if given is None else given
        return Meter(problem, (), rounding, given is None)
    by_name = {
        name: rulers(
            [one[name] for one in plain],
            [[other[name] for other in others] for others in rerounded],
            rounds=rounds,
        )
        for name in plain[0]
    }
    return _with_rulers(problem, by_name)


def meter_alike(
    problem: Problem,
    plain: Sequence[Mapping[str, Array]],
    known: Meter,
    smaller: Sequence[Mapping[str, Array]],
) -> Meter:
    """How to compare with the outputs of large cases, given how those of smaller ones are compared."""
    if not known.rulers:
        return Meter(problem, (), known.rounding, known.measured)
    by_name = {
        name: rulers_alike(
            [one[name] for one in plain],
            [(one[name], of[name]) for one, of in zip(smaller, known.rulers, strict=True)],
        )
        for name in plain[0]
    }
    return _with_rulers(problem, by_name)


def either(one: Meter, two: Meter) -> Meter:
    """A meter of the same outputs that calls rounding what one of two does."""
    made = [
        {name: a and b and _wider(a, b) for (name, a), b in zip(x.items(), y.values(), strict=True)}
        for x, y in zip(one.rulers, two.rulers, strict=True)
    ]
    return replace(one, rulers=made, rounding=max(one.rounding, two.rounding))


def _wider(one: Ruler, two: Ruler) -> Ruler:
    return _hidden(Ruler(np.maximum(one.scale, two.scale), np.maximum(one.rounding, two.rounding)))


def _with_rulers(problem: Problem, by_name: Mapping[str, list[Ruler | None]]) -> Meter:
    given = problem.workload.rounding
    made = [
        dict(zip(by_name, of_case, strict=True)) for of_case in zip(*by_name.values(), strict=True)
    ]
    largest = max((one.largest for case in made for one in case.values() if one), default=0.0)
    hidden = [{name: one and _hidden(one) for name, one in case.items()} for case in made]
    return Meter(problem, hidden, largest if given is None else given, given is None)


def _hidden(ruler: Ruler) -> Ruler:
    """A ruler that no variant can read: it tells much of what is expected."""
    return Ruler(sealed(ruler.scale), sealed(ruler.rounding))


def _by_own_measure(
    problem: Problem, plain: Sequence[Mapping[str, Array]], rerounded: Rerounded
) -> float:
    """What the workload's own measure makes of rounding."""
    worst = 0.0
    for case, (want, others) in enumerate(zip(plain, rerounded, strict=True)):
        for got in others:
            try:
                error = judge.error_of(problem, case, got, want, "")
            except judge.Fault:
                continue
            worst = max(worst, error) if np.isfinite(error) else worst
    return SLACK * worst
