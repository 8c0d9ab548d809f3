"""The opening of a search where the unedited program is exact: slices of promising patches, what paid joined at once.

A program knows which patches are worth trying before anything random (`Program.sweep`). A slice of them is tried, each
added to the best so far alone; what pays is joined in `Rounds`; then comes the next slice. So the best is good whenever
the search ends, and what pays only in the company of what was found before is found too.

Many edits pay only in company: two quotients by one divisor are worth a reciprocal once the compiler sees that the
divisors are one. So all edits that do the same at different places, and were harmless, are added to the best together,
each such group at once, and all over again as long as that pays: whenever twice as many patches were tried as the last
time. After the last slice what is left is added to the best one by one once more, for what was hidden behind
a barrier or a test may be what is waited for when that is gone.

Small gains can bar the way to large ones: a limit on registers that saves a hundredth makes it useless to unroll a loop.
So then comes a second climb, from before the small gains at the end of the first, on which all that has an effect is tried
in the order of how much of one it had, for better or worse. The better of both summits is kept.

At last come those with an error that the tolerance allows. What these may lose is a budget that they share, so that they come in order of the time that each saves for the
error that it costs, not of the time alone.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from math import log
from typing import Literal, Self

import msgspec

from gevolve.patch import Edit, Patch
from gevolve.search.elsewhere import FAILS, Elsewhere
from gevolve.search.individual import Individual
from gevolve.search.joining import form_of, grouped, joined, price
from gevolve.search.rounds import Rounds
from gevolve.search.singles import Singles

MOST_JOINED = 48
"""So many are added to the best alone in one round, and at most in a stage."""
WORTH = 0.998
"""What did nothing alone may round or be false elsewhere: added to the best it must bring the time below this part."""
AGAIN = 0.99
"""Groups are added once more if they, or single ones after them, brought the time below this part of what it was."""
STRIDE = 0.98
"""A gain is not small if it brings the time below this part of what it was."""

AscentStage = Literal["single", "join", "together", "beside", "anew", "loose", "over"]
COMPANY: tuple[AscentStage, ...] = ("together", "beside")
"""Stages that add what may have done nothing before."""


class AscentState(msgspec.Struct, frozen=True, tag="exact"):
    """All that the next `Ascent.ask` depends on besides what was asked for and struck."""

    stage: AscentStage
    record: dict[str, tuple[int, int]]
    best: tuple[float, float, str]
    rest: str
    winners: list[tuple[float, float, str]]
    harmless: list[tuple[float, str]]
    path: list[tuple[float, str]]
    summit: tuple[float, str] | None
    start: float
    due: int
    alone: bool
    pool: list[str]


class Ascent:
    """Asks for patches and is told what became of them, until it has nothing left to try."""

    def __init__(
        self,
        patches: Sequence[Patch],
        unedited: Individual,
        size: int,
        most: int | None = None,
        luck: float = 0.0,
        *,
        loose: Collection[str] = (),
    ) -> None:
        """Try these patches, the best bets first, `size` of them at a time and `most` in all.

        Kinds that are `loose`, approximations, come on top of these. Errors that differ by no more than `luck` may come in any order.
        """
        self._singles = Singles(
            patches, unedited, size, len(patches) if most is None else most, luck, loose=loose
        )
        self._unedited = unedited
        self._luck = luck
        self._seen: set[frozenset[Edit]] = {frozenset()}
        self._elsewhere = Elsewhere()
        self._stage: AscentStage = "single"
        self._best = unedited
        self._rest = Patch()
        """What is left of a best that was struck, to be added to the next best."""
        self._harmless: list[tuple[float, Patch]] = []
        """Single edits that are exact, faster or not, each with its time as a part of the time without it."""
        self._path: list[Individual] = []
        """The exact bests that have led to the best, in order."""
        self._summit: Individual | None = None
        """What the first climb came to, while the second is under way."""
        self._start = unedited.time
        """The least time when groups, or single ones after them, were last begun to be added."""
        self._due = 2 * size
        """Groups are added when so many patches were tried."""
        self._rounds = Rounds(max(MOST_JOINED, size))
        self._rounds.begin(self._fresh_pool(), alone=True)
        self._settle()

    @property
    def over(self) -> bool:
        """Whether it has nothing left to try."""
        return self._stage == "over"

    @property
    def winners(self) -> list[Edit]:
        """The edits of all that was faster than what it was added to, each once."""
        return self._singles.edits

    def ask(self) -> list[Patch]:
        """The next patches, none of which was asked for before; the same ones until they are told."""
        new: dict[frozenset[Edit], Patch] = {}
        for patch in self._candidates():
            key = frozenset(patch)
            if key not in self._seen and self._may_be(key):
                new.setdefault(key, patch)
        return list(new.values())

    def tell(self, patches: Sequence[Patch], judged: Sequence[Individual | None]) -> None:
        """Take what became of the patches that were asked for: None for what is not good enough."""
        self._seen.update(map(frozenset, patches))
        good = [one for one in judged if one is not None]
        self._rest = Patch()
        if self._stage == "single":
            self._note(good)
            self._stage = "join"
        self._keep(good)
        self._settle()

    def skip(self, essences: Iterable[frozenset[Edit]]) -> None:
        """Do not ask for patches with these edits."""
        self._seen.update(essences)
        self._settle()

    def strike(self, patch: Patch, alive: Iterable[Individual], error: float) -> None:
        """Build on nothing that has all edits of a patch; of what is `alive` the best is built on instead.

        If the patch has an `error` only, it may be built on where errors are allowed.
        """
        self._elsewhere.add(patch, error)
        edits = frozenset(patch)
        self._singles.strike(edits, error)
        self._harmless = [one for one in self._harmless if not edits <= frozenset(one[1])]
        self._path = [one for one in self._path if not edits <= frozenset(one.patch)]
        if not self._may_be(edits):
            self._rounds.strike(edits)
        allowed = [one for one in alive if not one.error or self._stage == "loose"]
        next_best = min((self._unedited, *allowed), key=_order)
        if self._summit is not None and edits <= frozenset(self._summit.patch):
            self._summit = next_best
        if edits <= frozenset(self._best.patch):
            rest = Patch(tuple(edit for edit in self._best.patch if edit not in edits))
            self._rest = rest if len(rest) > len(edits) else Patch()
            self._best = next_best
        self._settle()

    def _may_be(self, edits: frozenset[Edit]) -> bool:
        """Whether what has these edits may be asked for in this stage."""
        error = self._elsewhere.error(edits)
        return not error or (self._stage == "loose" and error != FAILS)

    def _candidates(self) -> Iterator[Patch]:
        if self._rest.edits:
            yield joined(self._best.patch, self._rest)
        yield from self._rounds.candidates(self._best.patch)

    def _note(self, good: Sequence[Individual]) -> None:
        """Take note of what each patch of a slice did, as if it had been added to the unedited program."""
        base, whole = self._best, self._unedited.time
        found = {frozenset(one.patch): one for one in good}
        alone: list[Individual] = []
        for patch in self._rounds.pool:
            one = found.get(frozenset(joined(base.patch, patch)))
            if one is not None:
                alone.append(replace(one, patch=patch, time=whole * (one.time / base.time)))
        self._singles.tell(self._rounds.pool, alone)
        self._harmless += [
            (one.time / whole, one.patch) for one in alone if len(one.patch) == 1 and one.error == 0
        ]

    def _keep(self, good: Sequence[Individual]) -> None:
        """Go on from the best of a round."""
        best = self._best
        idle = self._stage in (*COMPANY, "anew")
        enough = WORTH * best.time if idle else best.time
        gains = {
            frozenset(one.patch): one
            for one in good
            if one.time < enough and (self._stage == "loose" or not one.error)
        }
        # What was added alone tells what each costs; of several together the most may be added.
        priced = self._stage == "loose" and self._rounds.alone
        ranks = {
            key: self._price(one.time, one.error, best) if priced else one.time
            for key, one in gains.items()
        }
        self._rounds.keep(best.patch, ranks)
        if gains:
            key = min(gains, key=lambda key: (ranks[key], len(key), str(gains[key].patch)))
            self._best = gains[key]
            self._rounds.leave_out(key)
            if not self._best.error:
                self._path.append(self._best)

    def _settle(self) -> None:
        """Go on to the next stage as long as there is nothing new to ask for."""
        while not self.over and not self.ask():
            if self._stage == "single":
                self._note([])
            elif self._rounds.go_on():
                continue
            self._stage = self._next()
            self._rounds.begin(self._fresh_pool(), alone=True)

    def _next(self) -> AscentStage:
        """The stage that comes now."""
        if self._stage in COMPANY and self._best.time < AGAIN * self._start:
            return "together"
        more = not self._singles.over
        if self._stage in ("single", "join"):
            if more and self._singles.tried < self._due:
                return "single"
            self._due = 2 * self._singles.tried
            return "together"
        if self._stage == "together":
            return "single" if more else "beside"
        if self._stage == "beside":
            return "anew"
        if self._stage == "anew":
            return "together" if self._is_higher() else "loose"
        return "over"

    def _is_higher(self) -> bool:
        """Whether the second climb came higher than the first, by a hundredth; the best is the higher one."""
        first, second = self._summit or self._best, self._best
        self._summit = None
        self._best = min(first, second, key=_order)
        return second.time < AGAIN * first.time

    def _fresh_pool(self) -> list[Patch]:
        """The patches to be added in this stage."""
        if self._stage == "single":
            return list(self._singles.next(self._singles.done))
        if self._stage in COMPANY:
            self._start = self._best.time
        if self._stage == "together":
            return grouped(patch for _, patch in self._harmless)
        if self._stage == "beside":
            return self._beside()
        if self._stage == "anew":
            return self._anew()
        return self._loose() if self._stage == "loose" else []

    def _beside(self) -> list[Patch]:
        """Harmless edits that the best has not, those of the forms first that have paid most often."""
        has = frozenset(self._best.patch)
        left = [patch for _, patch in self._harmless if not has >= frozenset(patch)]
        return sorted(left, key=lambda patch: -self._singles.promise(form_of(patch)))[:MOST_JOINED]

    def _anew(self) -> list[Patch]:
        """Go back to before the small gains; all that has an effect and is not in that, what has most of one first."""
        times = [self._unedited.time, *(one.time for one in self._path)]
        large = [n for n in range(1, len(times)) if times[n] < STRIDE * times[n - 1]]
        foot = large[-1] if large else 0
        if foot == len(self._path):
            return []
        self._summit, self._path = self._best, self._path[:foot]
        self._best = self._path[-1] if self._path else self._unedited
        has, whole = frozenset(self._best.patch), self._unedited.time
        bundles = [
            (time / whole, patch)
            for time, error, patch in self._singles.winners
            if len(patch) > 1 and not error
        ]
        effects = sorted(
            (-abs(log(ratio)), len(patch), str(patch), patch)
            for ratio, patch in (*self._harmless, *bundles)
            if ratio != 1 and not has >= frozenset(patch)
        )
        return [patch for *_, patch in effects][:MOST_JOINED]

    def _loose(self) -> list[Patch]:
        """Winners with an error, those first that save most time for it."""
        order = sorted(
            (self._price(time, error, self._unedited), len(patch), str(patch), patch)
            for time, error, patch in self._singles.winners
            if error > 0
        )
        return [patch for *_, patch in order][:MOST_JOINED]

    def _price(self, time: float, error: float, base: Individual) -> float:
        return price(base.time - time, error - base.error, self._luck)

    def state(self) -> AscentState:
        """All that the next `ask` depends on besides what was asked for and struck."""
        return AscentState(
            stage=self._stage,
            record=dict(self._singles.record),
            best=(self._best.time, self._best.error, str(self._best.patch)),
            rest=str(self._rest),
            winners=[(time, error, str(patch)) for time, error, patch in self._singles.winners],
            harmless=[(ratio, str(patch)) for ratio, patch in self._harmless],
            path=[(one.time, str(one.patch)) for one in self._path],
            summit=self._summit and (self._summit.time, str(self._summit.patch)),
            start=self._start,
            due=self._due,
            alone=self._rounds.alone,
            pool=[str(patch) for patch in self._rounds.pool],
        )

    def resume(
        self,
        past: AscentState,
        asked: Collection[frozenset[Edit]],
        elsewhere: Iterable[tuple[Patch, float]] = (),
    ) -> Self:
        """Go on from a state, after all that was asked for and struck until then."""
        self._seen.update(asked)
        for patch, error in elsewhere:
            self._elsewhere.add(patch, error)
        self._stage = past.stage
        self._singles.resume(past.record, past.winners)
        time, error, text = past.best
        self._best = replace(self._exact(time, text), error=error)
        self._rest = Patch.parse(past.rest)
        self._harmless = [(ratio, Patch.parse(text)) for ratio, text in past.harmless]
        self._path = [self._exact(*one) for one in past.path]
        self._summit = self._exact(*past.summit) if past.summit else None
        self._start = past.start
        self._due = past.due
        self._rounds.begin([Patch.parse(text) for text in past.pool], alone=past.alone)
        return self

    def _exact(self, time: float, text: str) -> Individual:
        return replace(self._unedited, patch=Patch.parse(text), time=time)


def _order(one: Individual) -> tuple[float, int, str]:
    return one.time, len(one.patch), str(one.patch)
