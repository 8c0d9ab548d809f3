"""The opening of a search: promising patches one by one, then those that paid, joined.

A program knows which patches are worth trying before anything random (`Program.sweep`). Each is judged
alone, those of the kinds that have paid most often first; a kind of which many were tried and none paid is
given up. What paid is then joined, by two kinds of rounds in turns. In the first every other winner is added to the
best so far alone, and those that do not pay are left out. In the second the best of those that do are added
together: the first, the first two, four and so on up to all, so that one that clashes with others costs half of
what follows it, not all.

Many edits pay only in company: two quotients by one divisor are worth a reciprocal once the compiler sees that the
divisors are one. So all edits that do the same at different places, and were harmless alone, are then added to the
best together, each such group at once; and all over again as long as that pays. Then those that are left are added to
it one by one, for what was hidden behind a barrier or a test may be what is waited for when that is gone.

Both objectives pay. What has less error than the unedited program, as a training may have, is joined for the least
error: first what takes no more time, and several edits at once that made nothing better alone, for a rate that falls pays
where the rate is large; then single edits of that kind. What is best alone may go with nothing else, so this begins anew with the best of each other
form that gains about as much, and goes on from the most accurate of all: to it comes what takes a little more time. To the most accurate comes what is faster, as long as it
loses next to no error: time that accuracy has cost is saved elsewhere. Then what is faster is joined for the least time:
first the exact winners, then those with an error that the tolerance allows. What these may lose is a budget that they
share, so that they come in order of the time that each saves for the error that it costs, not of the time alone.

Where the unedited program has an error itself, as models have, an evaluation is dear, and nearly all that is cheaper is
within the tolerance. So kinds are tried by how much they save, no more are tried alone once there is enough to join,
rounds begin with the second kind unless they are for the least error, where few edits simply add up, and in those of the first
kind a few are tried at a time.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Self

from gevolve.patch import Edit, Patch
from gevolve.search.individual import SAME, Individual
from gevolve.search.joining import form_of, grouped, joined, price
from gevolve.search.singles import Singles
from gevolve.search.stages import ACCURATE, COMPANY, EXACT, NEXT, PRICED, OpeningState, Stage

MOST_JOINED = 48
"""Of the winners, this many are joined: each may cost an evaluation in every second round."""
FEW = 16
"""Where evaluations are dear, so many of the winners are added alone at a time."""
WORTH = 0.998
"""What did nothing alone may round or be false elsewhere: added to the best it must bring the time below this part."""
AGAIN = 0.99
"""Groups are added once more if they brought the time below this part of what it was."""
STARTS = 3
"""Joining for the least error begins with so many patches at most, one after the other."""
ABOUT = 0.5
"""With those that gain at least this part of what the best does."""
DEAR = 1.25
"""What has less error is joined if it takes no more than this many times the unedited program's time."""


class Opening:
    """Asks for patches and is told what became of them, until it has nothing left to try."""

    def __init__(
        self,
        patches: Sequence[Patch],
        unedited: Individual,
        size: int,
        most: int | None = None,
        luck: float = 0.0,
    ) -> None:
        """Try these patches, the best bets first, `size` of them at a time and `most` in all.

        An error that is less than the unedited program's by no more than `luck` says nothing.
        """
        self._singles = Singles(
            patches, unedited, size, len(patches) if most is None else most, luck
        )
        self._unedited = unedited.time
        self._error = unedited.error
        self._luck = luck
        self._seen: set[frozenset[Edit]] = {frozenset()}
        self._stage: Stage = "single"
        self._best: tuple[float, Patch] = (unedited.time, Patch())
        self._spent = unedited.error
        """The error of the best."""
        self._time = unedited.time
        """The time of the best."""
        self._limit = unedited.error
        """The error up to which time is saved on top of the most accurate."""
        self._turn = 0
        """How often joining for the least error has begun anew."""
        self._champion: tuple[float, float, Patch] | None = None
        """The most accurate that it has led to: time, error and patch."""
        self._harmless: list[Patch] = []
        """Single edits that are exact, faster or not."""
        self._neutral: list[tuple[float, Patch]] = []
        """What did something and took no more time, but made nothing better: error and patch."""
        self._start = unedited.time
        """The least time when groups were last begun to be added."""
        self._pool: list[Patch] = []
        """Winners that may still be added to the best, the best bets first."""
        self._alone = True
        """Whether each of them is added alone, not the first few together."""
        self._abreast = FEW if self._error else MOST_JOINED
        """So many of them are added alone in one round."""
        self._settle()

    @property
    def over(self) -> bool:
        """Whether it has nothing left to try."""
        return self._stage == "over"

    @property
    def winners(self) -> list[Edit]:
        """The edits of all that was faster than the unedited program, or had less error, each once."""
        return list(dict.fromkeys(edit for *_, patch in self._singles.winners for edit in patch))

    def ask(self) -> list[Patch]:
        """The next patches, none of which was asked for before; the same ones until they are told."""
        new: dict[frozenset[Edit], Patch] = {}
        for patch in self._candidates():
            if frozenset(patch) not in self._seen:
                new.setdefault(frozenset(patch), patch)
        return list(new.values())

    def tell(self, patches: Sequence[Patch], judged: Sequence[Individual | None]) -> None:
        """Take what became of the patches that were asked for: None for what is not good enough."""
        self._seen.update(map(frozenset, patches))
        good = [one for one in judged if one is not None]
        if self._stage == "single":
            others = self._singles.tell(patches, good)
            self._harmless += [one.patch for one in good if len(one.patch) == 1 and one.error == 0]
            self._neutral += [(one.error, one.patch) for one in others if self._is_neutral(one)]
        else:
            self._keep(good)
        self._settle()

    def skip(self, essences: Iterable[frozenset[Edit]]) -> None:
        """Do not ask for patches with these edits."""
        self._seen.update(essences)
        self._settle()

    def strike(self, edits: frozenset[Edit]) -> None:
        """Build on nothing that has all of these edits."""
        winners = self._singles.winners
        self._singles.winners = [one for one in winners if not edits <= frozenset(one[2])]
        self._harmless = [patch for patch in self._harmless if not edits <= frozenset(patch)]
        self._neutral = [one for one in self._neutral if not edits <= frozenset(one[1])]
        self._pool = [patch for patch in self._pool if not edits <= frozenset(patch)]
        if self._champion and edits <= frozenset(self._champion[2]):
            self._champion = None
        if edits <= frozenset(self._best[1]):
            self._start_over()
        self._settle()

    def _candidates(self) -> Iterator[Patch]:
        if self._stage == "single":
            yield from self._singles.next(self._seen)
        elif self._alone:
            yield from (joined(self._best[1], patch) for patch in self._pool[: self._abreast])
        else:
            yield from (joined(self._best[1], *self._pool[:n]) for n in self._lengths())

    def _lengths(self) -> list[int]:
        """How many of the pool are added at a time: one, two, four … and all."""
        count = len(self._pool)
        return [*(1 << n for n in range(count.bit_length()) if 1 << n < count), *([count][:count])]

    def _keep(self, good: Sequence[Individual]) -> None:
        """Go on from the best of a round."""
        reached, best = self._best
        enough = WORTH * reached if self._stage in COMPANY else reached
        if self._stage == "aided":
            enough -= self._luck
        gains = {
            frozenset(one.patch): one
            for one in good
            if self._allows(one.time)
            and (one.error == 0 or self._stage not in EXACT)
            and (one.error <= self._limit or self._stage != "leaner")
            and self._value(one.time, one.error) < enough
        }
        # What was added alone tells what each costs; of several together the most may be added.
        ranks = {
            key: self._bet(one.time, one.error, (reached, self._spent))
            if self._alone
            else self._value(one.time, one.error)
            for key, one in gains.items()
        }
        if self._alone:
            tried, later = self._pool[: self._abreast], self._pool[self._abreast :]
            keys = {patch: frozenset(joined(best, patch)) for patch in tried}
            paid = [patch for patch in tried if keys[patch] in gains]
            self._pool = sorted(paid, key=lambda patch: (ranks[keys[patch]], str(patch))) + later
        if gains:
            key = min(gains, key=lambda key: (ranks[key], len(key), str(gains[key].patch)))
            one = gains[key]
            self._take(one.time, one.error, one.patch)
            self._pool = [patch for patch in self._pool if not key >= frozenset(patch)]
        self._alone = not self._alone or not gains

    def _settle(self) -> None:
        """Go on to the next stage as long as there is nothing new to ask for."""
        while not self.over and not self.ask():
            if self._stage != "single" and not self._alone and self._pool:
                self._alone = True
                continue
            if self._stage != "single" and len(self._pool) > self._abreast:
                self._pool = self._pool[self._abreast :]
                continue
            again = self._stage == "together" and self._best[0] < AGAIN * self._start
            if self._stage == "aided" and self._begins_anew():
                self._stage = "better"
            else:
                self._stage = self._stage if again else NEXT[self._stage]
            self._alone = not self._error or self._stage in ("better", "aided", *COMPANY)
            if self._stage in ("better", "exact"):  # with another objective
                self._start_over()
            if self._stage == "leaner":
                self._limit = self._spent + self._luck
                self._take(self._time, self._spent, self._best[1])
            self._pool = self._fresh_pool() if not self.over else []

    def _fresh_pool(self) -> list[Patch]:
        """The winners to be joined in this stage; the first of them is the best if there is none."""
        if self._stage == "together":
            self._start = self._best[0]
            return grouped(self._harmless)
        if self._stage == "beside":
            return self._beside()
        if self._stage == "aided":
            return self._aids(several=False) if self._best[1].edits else []
        if self._stage == "leaner" and not self._best[1].edits:
            return []
        order = self._order()
        if order and not self._best[1].edits:
            starts = self._starts(order)
            self._take(*starts[min(self._turn, len(starts) - 1)])
        pool = [patch for *_, patch in order][:MOST_JOINED]
        return [*self._aids(several=True), *pool] if pool and self._stage == "better" else pool

    def _order(self) -> list[tuple[float, float, Patch]]:
        """The winners that may be joined in this stage, the best bets first."""
        unedited = self._unedited, self._error
        return sorted(
            (winner for winner in self._singles.winners if self._belongs(*winner[:2])),
            key=lambda one: (self._bet(*one[:2], unedited), len(one[2]), str(one[2])),
        )

    def _starts(
        self, order: Sequence[tuple[float, float, Patch]]
    ) -> list[tuple[float, float, Patch]]:
        """What joining begins with: the best, and for the least error also those of other forms that come near."""
        if self._stage not in ("better", "aided"):
            return [order[0]]
        forms: dict[str, tuple[float, float, Patch]] = {}
        for one in order:
            if self._error - one[1] >= ABOUT * (self._error - order[0][1]):
                forms.setdefault(form_of(one[2]), one)
        return list(forms.values())[:STARTS]

    def _begins_anew(self) -> bool:
        """Whether to join for the least error from another start; if not, the most accurate is gone on from."""
        if self._champion is None or self._spent < self._champion[1]:
            self._champion = self._time, self._spent, self._best[1]
        order = self._order()
        if order and self._turn + 1 < len(self._starts(order)):
            self._turn += 1
            return True
        self._take(*self._champion)
        return False

    def _aids(self, *, several: bool) -> list[Patch]:
        """What may pay on top of the best though it did not alone, the least error first: several edits at once, or single ones."""
        fitting = [one for one in self._neutral if (len(one[1]) > 1) is several]
        return [patch for _, patch in sorted(fitting, key=lambda one: (one[0], str(one[1])))][:FEW]

    def _beside(self) -> list[Patch]:
        """Harmless edits that the best has not, those of the forms first that have paid most often."""
        has = frozenset(self._best[1])
        left = [patch for patch in self._harmless if not has >= frozenset(patch)]
        return sorted(left, key=lambda patch: -self._singles.promise(form_of(patch)))[:MOST_JOINED]

    def _belongs(self, time: float, error: float) -> bool:
        """Whether a winner is joined in this stage."""
        if self._accurate:
            slower = time > SAME * self._unedited
            return (
                self._singles.better(error)
                and slower is (self._stage == "dearer")
                and self._allows(time)
            )
        return time < self._unedited and (
            self._stage == "leaner" or (error == 0) is (self._stage == "exact")
        )

    def _is_neutral(self, one: Individual) -> bool:
        changes = (one.time, one.error) != (self._unedited, self._error)
        return bool(self._error) and changes and one.time <= SAME * self._unedited

    def _allows(self, time: float) -> bool:
        """Whether this stage may take so much time; without a gain in error it is the objective itself."""
        most = {"better": SAME, "aided": SAME, "dearer": DEAR}.get(self._stage)
        return most is None or time <= most * self._unedited

    @property
    def _accurate(self) -> bool:
        """Whether the least error is looked for, not the least time."""
        return self._stage in ACCURATE

    def _start_over(self) -> None:
        """Take the unedited program as the best, by the objective of this stage."""
        self._take(self._unedited, self._error, Patch())

    def _take(self, time: float, error: float, patch: Patch) -> None:
        """Let a patch be the best, by the objective of this stage."""
        self._best = self._value(time, error), patch
        self._time, self._spent = time, error

    def _value(self, time: float, error: float) -> float:
        return error if self._accurate else time

    def _bet(self, time: float, error: float, base: tuple[float, float]) -> float:
        """What goes first is least: by the objective, or by the time saved for the error lost since a time and error."""
        if self._stage not in PRICED:
            return self._value(time, error)
        return price(base[0] - time, error - base[1], self._luck)

    def state(self) -> OpeningState:
        """All that the next `ask` depends on besides what was asked for."""
        return OpeningState(
            self._stage,
            self._singles.tried,
            dict(self._singles.record),
            (self._best[0], str(self._best[1])),
            [(time, error, str(patch)) for time, error, patch in self._singles.winners],
            [str(patch) for patch in self._pool],
            self._alone,
            [str(patch) for patch in self._harmless],
            self._start,
            self._spent,
            [(error, str(patch)) for error, patch in self._neutral],
            self._time,
            self._limit,
            self._turn,
            self._champion and (*self._champion[:2], str(self._champion[2])),
        )

    def resume(self, past: OpeningState, asked: Collection[frozenset[Edit]]) -> Self:
        """Go on from a state, after all that was asked for until then."""
        self._seen.update(asked)
        self._stage = past.stage
        self._singles.tried = past.tried
        self._singles.record = dict(past.record)
        self._best = (past.best[0], Patch.parse(past.best[1]))
        self._singles.winners = [
            (time, error, Patch.parse(text)) for time, error, text in past.winners
        ]
        self._pool = [Patch.parse(text) for text in past.pool]
        self._alone = past.alone
        self._harmless = [Patch.parse(text) for text in past.harmless]
        self._start = past.start
        self._spent = past.spent
        self._neutral = [(error, Patch.parse(text)) for error, text in past.neutral]
        self._time = past.time
        self._limit = past.limit
        self._turn = past.turn
        if past.champion is not None:
            time, error, text = past.champion
            self._champion = time, error, Patch.parse(text)
        return self
