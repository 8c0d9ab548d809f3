"""What was seen of single edits: which pass, which fail, which do nothing, and so what a new one may do.

An edit passes if any variant that has it is right. An edit is to blame for a variant that fails if it is the
only one there that never passed. An edit is idle if the compiler makes the unedited program of it. All this
follows from what was judged, in whatever order it came. A new edit is taken to pass, and to do something, as
often as others of its kind did, and others at the places that it names.
"""

import math
from collections.abc import Iterable
from typing import Literal

from gevolve.patch import Edit
from gevolve.search.individual import Individual

PRIOR = 4.0
"""How many edits it takes to believe the record of a kind, or of a place, more than that of all edits."""

Outcome = Literal["passed", "failed", "idle"]
Seen = tuple[frozenset[Edit], Outcome]
"""The edits of a variant, and what became of it."""


def outcome(one: Individual | None, unedited: Individual) -> Outcome:
    """What became of a variant, given the individual that it made."""
    if one is None:
        return "failed"
    own, before = one.evaluation, unedited.evaluation
    same = own.artefact == before.artefact or own.fingerprint == before.fingerprint != ""
    return "idle" if same and own.artefact else "passed"


class Experience:
    """Counts edits that passed and edits that failed, as patches are judged."""

    def __init__(self) -> None:
        self.passed: set[Edit] = set()
        self.known: list[Edit] = []
        """The edits that passed and are not idle, in order."""
        self._named: dict[tuple[str, tuple[str, ...]], Edit] = {}
        """Edits that passed, by what they do and where."""
        self._idle: set[Edit] = set()
        self._failures: list[frozenset[Edit]] = []
        """The edits of each variant that failed, without those that passed elsewhere."""
        self._blamed: frozenset[Edit] = frozenset()
        self._counts: dict[str, tuple[int, int]] = {}
        self._all = (0, 0)

    def add(self, judged: Iterable[Seen]) -> None:
        """Take note of variants."""
        for edits, outcome in judged:
            if outcome == "failed":
                self._failures.append(edits)
                continue
            self.passed |= edits
            if outcome == "idle" and len(edits) == 1:
                self._idle |= edits
        left = (edits - self.passed for edits in self._failures)
        self._failures = [edits for edits in left if edits]
        self._blamed = frozenset().union(*(edits for edits in self._failures if len(edits) == 1))
        self.known = sorted(self.passed - self._idle)
        self._named = {(edit.kind, edit.args): edit for edit in sorted(self.passed, reverse=True)}
        self._count()

    def settled(self, edit: Edit) -> Edit:
        """An edit with the repair that it passed with before, if it did: most are the same with any."""
        return self._named.get((edit.kind, edit.args), edit)

    def chance(self, edit: Edit) -> float:
        """How likely an edit is to pass and to do something, as far as its kind and its places tell."""
        if edit in self._blamed or edit in self._idle:
            return 0.0
        if edit in self.passed:
            return 1.0
        right, count = self._all
        common = (right + 1.0) / (count + 2.0)
        odds = _logit(common)
        total = odds
        for feature in _features(edit):
            right, count = self._counts.get(feature, (0, 0))
            total += _logit((right + PRIOR * common) / (count + PRIOR)) - odds
        return 1 / (1 + math.exp(-total))

    def _count(self) -> None:
        counts: dict[str, tuple[int, int]] = {}
        for edits, right in ((self.known, 1), (self._blamed | self._idle, 0)):
            for edit in edits:
                for feature in _features(edit):
                    passes, count = counts.get(feature, (0, 0))
                    counts[feature] = (passes + right, count + 1)
        self._counts = counts
        self._all = (len(self.known), len(self.passed) + len(self._blamed))


def _features(edit: Edit) -> tuple[str, ...]:
    return (edit.kind, *(f"{edit.kind} {place}" for place in edit.args), *edit.args)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
