"""What made nothing better alone and may pay in company: a rate that falls where it is large, momentum where it is small.

How a training learns is often changed by several edits at once: all its rates, all its steps. Few of these fit each other, and what
is best alone need not be among those that do. So they are mixed, two and three of different kinds, before single edits are added.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from gevolve.patch import Edit, Patch
from gevolve.search.individual import SAME, Individual
from gevolve.search.joining import mixed

DEAR = 1.25
"""What has less error is joined if it takes no more than this many times the unedited program's time, until time is saved elsewhere."""
FEW = 16
"""So many are added to a best."""
MIXES = 48
"""So many mixes of several edits at once are tried at most, of two of them and then of three."""
BEST = 8
"""Of two, so many of the best are mixed with a third, ..."""
LINES = 3
"""... and in the end so many of the best are gone on from: the very best may have been lucky, which shows when more is added."""


class CompanyState(msgspec.Struct, frozen=True):
    """All of it that a resumed search needs."""

    neutral: list[tuple[float, float, str]]
    failed: list[str]
    mixes: list[tuple[float, float, str]]
    mixed: bool


class Company:
    """Patches that changed the error at not much more time but made nothing better, and several edits at once that failed."""

    def __init__(self, unedited: Individual) -> None:
        self._unedited = unedited
        self.neutral: list[tuple[float, float, Patch]] = []
        """Time, error and patch."""
        self.failed: list[Patch] = []
        self.mixes: list[tuple[float, float, Patch]] = []
        """The most accurate mixes: error, time and patch."""
        self.mixed = False
        """Whether two of several edits at once were tried."""

    def tell(
        self, patches: Sequence[Patch], good: Iterable[Individual], others: Iterable[Individual]
    ) -> None:
        """Take what became of patches that were tried alone; `others` are the good ones that made nothing better."""
        unedited = self._unedited
        self.neutral += [
            (one.time, one.error, one.patch)
            for one in others
            if one.error != unedited.error and one.time <= DEAR * unedited.time
        ]
        alive = {one.patch for one in good}
        self.failed += [one for one in patches if len(one) > 1 and one not in alive]

    def strike(self, edits: frozenset[Edit]) -> None:
        """Forget what has all of these edits."""
        self.neutral = [one for one in self.neutral if not edits <= frozenset(one[2])]
        self.failed = [one for one in self.failed if not edits <= frozenset(one)]
        self.mixes = [one for one in self.mixes if not edits <= frozenset(one[2])]

    def aids(self, fits: Callable[[float], bool], *, several: bool) -> list[Patch]:
        """What may be added to a best though it did not pay alone, the least error first: several edits at once, or single ones."""
        found = [one for one in self.neutral if (len(one[2]) > 1) is several and fits(one[0])]
        order = sorted(found, key=lambda one: (one[1], str(one[2])))
        return [patch for *_, patch in order][:FEW]

    def mix(
        self, winners: Iterable[tuple[float, float, Patch]], better: Callable[[float], bool]
    ) -> list[Patch]:
        """Two of several edits at once, or three where the best two are known, if any of them has less error alone.

        Those that take less time are for saving time, not for accuracy, and come later.
        """
        if self.mixed and not self.mixes:
            return []
        whole, error = self._unedited.time, self._unedited.error
        known = [
            (one[1], one[2])
            for one in (*winners, *self.neutral)
            if len(one[2]) > 1 and whole <= SAME * one[0] <= SAME * DEAR * whole and one[1] != error
        ]
        if not any(better(one[0]) for one in known):
            return []
        known += [(2 * error, patch) for patch in self.failed]
        return mixed([(one[0], one[2]) for one in self.mixes] or known, known, MIXES)

    def note(self, good: Iterable[Individual]) -> None:
        """Take note of mixes that were judged."""
        found = [
            (one.error, one.time, one.patch)
            for one in good
            if one.time <= DEAR * self._unedited.time
        ]
        order = sorted([*self.mixes, *found], key=lambda one: (*one[:2], str(one[2])))
        self.mixes = order[:BEST]

    def mixes_more(self) -> bool:
        """Whether to try three of several edits at once, since two were tried; if not, the best are kept."""
        more = not self.mixed and bool(self.mixes)
        self.mixed = True
        if not more:
            self.mixes = self.mixes[:LINES]
        return more

    def next_mix(self) -> tuple[float, float, Patch] | None:
        """The most accurate mix that is left, its time first; each once."""
        if not self.mixes:
            return None
        error, time, patch = self.mixes.pop(0)
        return time, error, patch

    def state(self) -> CompanyState:
        """What was taken note of."""
        return CompanyState(
            neutral=[(time, error, str(patch)) for time, error, patch in self.neutral],
            failed=list(map(str, self.failed)),
            mixes=[(error, time, str(patch)) for error, time, patch in self.mixes],
            mixed=self.mixed,
        )

    def resume(self, past: CompanyState) -> None:
        """Go on from what was taken note of."""
        self.neutral = [(time, error, Patch.parse(text)) for time, error, text in past.neutral]
        self.failed = list(map(Patch.parse, past.failed))
        self.mixes = [(error, time, Patch.parse(text)) for error, time, text in past.mixes]
        self.mixed = past.mixed
