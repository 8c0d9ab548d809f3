"""What became of variants on cases that the search never used, and what that says of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from gevolve.run.store import format_id
from gevolve.run.summary import Struck
from gevolve.run.unseen import EARLY
from gevolve.search.elsewhere import FAILS, Elsewhere
from gevolve.search.individual import essence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gevolve.evaluate.verdict import Evaluation
    from gevolve.patch import Edit, Patch
    from gevolve.search import Individual

_NONE: frozenset[Edit] = frozenset()


class Checks:
    """The verdicts on variants by split, and which others share the fault of one that failed."""

    def __init__(self) -> None:
        self._found: dict[int, dict[str, Evaluation]] = {}
        self._patches: dict[int, Patch] = {}
        """Of all variants that are `ok` on the search's cases."""
        self.ids: dict[Patch, int] = {}
        """Their numbers."""
        self._exact: set[int] = set()
        """Variants that are exact on the search's cases."""
        self._errors: dict[int, float] = {}
        """What variants have shown elsewhere, or others that compile to the same code."""
        self._fallen: set[int] = set()
        """Variants that build on one that was struck."""
        self._elsewhere = Elsewhere()

    def admit(self, id_: int, one: Individual) -> Individual | None:
        """A variant that comes from the search, in line with what is known; None if it builds on one that was struck."""
        self._patches[id_] = one.patch
        self.ids[one.patch] = id_
        if not one.error:
            self._exact.add(id_)
        return self.corrected(id_, one)

    def corrected(self, id_: int, one: Individual) -> Individual | None:
        """A variant with no less error than it has shown elsewhere, or what it builds on; None if that fails."""
        error = self._errors.get(id_, 0.0)
        left = self._elsewhere.corrected(replace(one, error=max(one.error, error)))
        if left is None:
            self._fallen.add(id_)
        return None if error == FAILS else left

    def add(
        self, id_: int, split: str, evaluation: Evaluation, alive: Mapping[int, Individual]
    ) -> bool:
        """Take note of how a variant did; returns whether those that live have to be corrected."""
        self._found.setdefault(id_, {})[split] = evaluation
        exact = id_ not in self._exact or not evaluation.inexact
        if evaluation.ok and exact:
            return False
        error = evaluation.error if evaluation.ok and evaluation.error else FAILS
        if split in EARLY or len(self._patches.get(id_, ())) == 1:
            self._elsewhere.add(self._patches[id_], error)
        one = alive.get(id_)
        same = "" if one is None else one.evaluation.identity
        for other, its in alive.items():
            if other == id_ or (same and its.patch.edits and its.evaluation.identity == same):
                self._errors[other] = max(error, self._errors.get(other, 0.0))
        return True

    def get(self, id_: int) -> Mapping[str, Evaluation]:
        """The verdicts on a variant, by split."""
        return self._found.get(id_, {})

    def failed(self, id_: int) -> bool:
        """Whether a variant failed anywhere."""
        return any(not one.ok for one in self.get(id_).values())

    @property
    def failed_on(self) -> set[str]:
        """Where any variant failed."""
        return {
            split for checks in self._found.values() for split, one in checks.items() if not one.ok
        }

    def error(self, id_: int, split: str) -> float | None:
        """A variant's error on a split, if it was tried there."""
        mine = self.get(id_).get(split)
        return None if mine is None else mine.error

    def error_elsewhere(self, id_: int, patch: Patch) -> float:
        """The largest error above rounding that a variant has shown, or what it builds on has."""
        checks = self.get(id_).values()
        own = max((one.error or 0.0 for one in checks if one.inexact), default=0.0)
        built_on = self._elsewhere.error(essence(patch))
        return own if built_on == FAILS else max(own, built_on)

    def ratio(self, id_: int, split: str) -> float | None:
        """A variant's time over the unedited program's on a split, if both were timed there."""
        mine, unedited = (self.get(n).get(split) for n in (id_, 0))
        if mine is None or unedited is None or not mine.time or not unedited.time:
            return None
        return mine.time / unedited.time

    def inexact_on(self, id_: int) -> str:
        """Where a variant that is exact on the search's cases is not; "" if it is wherever it was tried."""
        checks = self.get(id_).items() if id_ in self._exact else ()
        return next((split for split, one in checks if one.inexact), "")

    @property
    def faulty(self) -> list[tuple[Patch, float]]:
        """The patches that failed while the search went on, or were not exact, with their errors."""
        return list(self._elsewhere)

    @property
    def struck(self) -> Struck:
        """How many were tried, and what became of them."""
        failed = {
            id_: next((split, one) for split, one in checks.items() if not one.ok)
            for id_, checks in sorted(self._found.items())
            if id_ and self.failed(id_)
        }
        why = Counter(f"{one.verdict} on {split} cases" for split, one in failed.values())
        first = next(((id_, one) for id_, (_, one) in failed.items()), None)
        return Struck(
            tried=sum(1 for id_, checks in self._found.items() if id_ and checks),
            failed=len(failed),
            descendants=len(self._fallen - failed.keys()),
            why=dict(sorted(why.items())),
            example=f"{format_id(first[0])}: {first[1].detail}" if first else "",
        )

    def suspects(self, split: str, alive: Mapping[int, Individual]) -> list[tuple[int, Patch]]:
        """Of the variants that each faulty one builds on the likeliest to blame, if it was not tried on a split yet.

        That is the one with the fewest edits that are in none of those that passed there. None of one that is
        known to fail for what a smaller one has. Only older ones are looked at, so that it is the same ones
        whenever it is asked.
        """
        found: dict[int, Patch] = {}
        faulty = [(patch, essence(patch), error) for patch, error in self._elsewhere]
        for patch, edits, error in faulty:
            if any(other < edits and its >= error for _, other, its in faulty):
                continue
            smaller = {
                id_: frozenset(one.patch)
                for id_, one in alive.items()
                if 0 < id_ < self.ids[patch]
                and len(one.patch) < len(edits)
                and edits.issuperset(one.patch)
                and (error == FAILS or not one.error)
            }
            passed = _NONE.union(*(smaller[id_] for id_ in smaller if split in self.get(id_)))
            doubts = {id_: own - passed for id_, own in smaller.items() if own - passed}
            if doubts:
                id_ = min(doubts, key=lambda id_: (len(doubts[id_]), len(smaller[id_]), id_))
                found[id_] = self._patches[id_]
        return list(found.items())
