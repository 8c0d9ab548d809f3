"""Which new patches are likely to be no other than one that was judged.

Most edits change nothing that counts. Where two patches have the same time and error to the last digit, the edits by which
they differ are idle there, and a child that differs from such a parent only by edits that are idle there will be like it
again. This is a guess: two edits that do the same look idle, and both may not be gone. So nothing is judged by it: such
children are not born. Where times are measured by a clock no two are the same, and every child is born.
"""

from collections.abc import Iterable

from gevolve.patch import Edit
from gevolve.search.individual import Individual, essence


class Twins:
    """The edits that are idle in variants that are alike, as patches are judged."""

    def __init__(self) -> None:
        self._all: dict[tuple[float, float], set[Edit]] = {}
        """The edits of all patches with a time and error."""
        self._common: dict[tuple[float, float], frozenset[Edit]] = {}
        """Those that each of these patches has."""

    def add(self, one: Individual | None) -> None:
        """Take note of a variant, if it is good enough to have children."""
        if one is not None:
            key, edits = (one.time, one.error), essence(one.patch)
            self._all.setdefault(key, set()).update(edits)
            self._common[key] = self._common.get(key, edits) & edits

    def expected(self, edits: frozenset[Edit], parents: Iterable[Individual]) -> bool:
        """Whether a patch of these edits is likely to be like one of its parents."""
        return any(edits ^ essence(parent.patch) <= self.idle(parent) for parent in parents)

    def idle(self, one: Individual) -> set[Edit]:
        """The edits that are idle in a variant, as far as is known."""
        key = one.time, one.error
        return self._all[key] - self._common[key] if key in self._all else set()
