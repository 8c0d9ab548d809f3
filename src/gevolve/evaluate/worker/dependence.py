"""What is asked of programs that are judged by labels: they must still depend on what they are given.

Such a variant may differ from the unedited program, up to the tolerance. So on varied cases its outputs are
not compared; but where another input spoils the unedited program's results it must spoil the variant's as well,
and rows in another order must not matter. An input that is only a little other, such as images of another scale, spoils
little, and a variant that is more accurate may bear that better: it is asked where that input can do worse. Another order of
all rows takes nothing away: it spoils only what is spoilt as much as by other content of some input.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.meter import Meter
from gevolve.workload.base import Array, Case
from gevolve.workload.vary import ROWS, VariedCase

_PART = 0.5
"""A variant's error must rise by this part of what the unedited program's does."""
_SPOILS = 0.25
"""An input spoils the results if the error rises by this part of the most that any content of that input does."""
_ROWS = 16
"""So many constants are tried."""


class Follows:
    """The unedited program's errors on a case, and on others in which one input is another."""

    def __init__(self, errors: Sequence[float], cases: Sequence[Case]) -> None:
        self._errors = errors
        self._inputs = [one.what if isinstance(one, VariedCase) else "" for one in cases]
        self._own = errors[0]

    def begin(self, error: float) -> None:
        """Take the error of a variant on the first case, before it is checked on the others."""
        self._own = error

    def check(self, case: int, error: float, tolerance: float, where: str) -> None:
        """The error of the variant must rise where the unedited program's does, and stay where that stays."""
        first = self._errors[0]
        rise, expected = error - self._own, self._errors[case] - first
        ordered = self._inputs[case] == ROWS
        alike = [n for n, name in enumerate(self._inputs) if ordered or name == self._inputs[case]]
        most = max(self._errors[n] for n in alike) - first
        spoils = expected > max(tolerance, _SPOILS * most)
        if spoils and not rise >= _PART * expected:
            raise judge.Fault(
                Verdict.WRONG,
                f"{where}: its error goes from {self._own:.3g} to {error:.3g}, the unedited program's"
                f" from {first:.3g} to {self._errors[case]:.3g}: it does not depend on that input as it should",
            )
        if abs(expected) <= tolerance or (ordered and not spoils):
            judge.check_error(error, self._errors[case] + tolerance, where)


def warnings(
    meter: Meter, outputs: Mapping[str, Array], bound: float, *, repeated: bool = False
) -> tuple[str, ...]:
    """Whether a program that gives the same for all rows would pass, in one line.

    Of a case that is `repeated`, each part has rows of its own: that one start of a training gives what another does
    is no fault.
    """
    axis = int(repeated)
    counts = {array.shape[axis] if array.ndim > axis else 0 for array in outputs.values()}
    rows = counts.pop()
    if counts or rows < 2:
        return ()
    least = float("inf")
    for row in np.linspace(0, rows - 1, min(_ROWS, rows)).astype(int):
        constant = {
            name: np.broadcast_to(array[(0,) * axis][row], array.shape).copy()
            for name, array in outputs.items()
        }
        try:
            least = min(least, meter.error(0, constant, constant, "a constant"))
        except judge.Fault:
            continue
    if not least <= bound:
        return ()
    said = (
        f"A program that gives the same for every row has an error of {least:.3g}, within the {bound:.3g}"
        " allowed, so results may be worth no more than that: lower the tolerance, or bring data that tells"
        " more."
    )
    return (said,)
