"""What made nothing better alone and may pay in company: a rate that falls where it is large, momentum where it is small."""

from collections.abc import Callable, Iterable, Sequence

from gevolve.patch import Edit, Patch
from gevolve.search.individual import Individual
from gevolve.search.joining import paired

DEAR = 1.25
"""What has less error is joined if it takes no more than this many times the unedited program's time, until time is saved elsewhere."""
SAVES = 0.98
"""What takes less than this part of the unedited program's time is for saving time, not for accuracy."""
FEW = 16
"""So many are added to a best."""
PAIRS = 48
"""So many pairs of several edits at once are tried at most."""


class Company:
    """Patches that did something at not much more time but made nothing better, and several edits at once that failed."""

    def __init__(self, unedited: Individual) -> None:
        self._unedited = unedited
        self.neutral: list[tuple[float, float, Patch]] = []
        """Time, error and patch."""
        self.failed: list[Patch] = []

    def tell(
        self, patches: Sequence[Patch], good: Iterable[Individual], others: Iterable[Individual]
    ) -> None:
        """Take what became of patches that were tried alone; `others` are the good ones that made nothing better."""
        unedited = self._unedited
        self.neutral += [
            (one.time, one.error, one.patch)
            for one in others
            if (one.time, one.error) != (unedited.time, unedited.error)
            and one.time <= DEAR * unedited.time
        ]
        alive = {one.patch for one in good}
        self.failed += [one for one in patches if len(one) > 1 and one not in alive]

    def strike(self, edits: frozenset[Edit]) -> None:
        """Forget what has all of these edits."""
        self.neutral = [one for one in self.neutral if not edits <= frozenset(one[2])]
        self.failed = [one for one in self.failed if not edits <= frozenset(one)]

    def aids(self, fits: Callable[[float], bool], *, several: bool) -> list[Patch]:
        """What may be added to a best though it did not pay alone, the least error first: several edits at once, or single ones."""
        found = [one for one in self.neutral if (len(one[2]) > 1) is several and fits(one[0])]
        order = sorted(found, key=lambda one: (one[1], str(one[2])))
        return [patch for *_, patch in order][:FEW]

    def pairs(
        self, winners: Iterable[tuple[float, float, Patch]], better: Callable[[float], bool]
    ) -> list[Patch]:
        """Several edits at once two by two, where they have to do with accuracy and any of them has less error; what failed comes last."""
        whole, error = self._unedited.time, self._unedited.error
        known = [
            one
            for one in (*winners, *self.neutral)
            if len(one[2]) > 1 and SAVES <= one[0] / whole <= DEAR and one[1] != error
        ]
        if not any(better(one[1]) for one in known):
            return []
        failed = [(2 * error, patch) for patch in self.failed]
        return paired([*((one[1], one[2]) for one in known), *failed], PAIRS)
