"""The opening of a search where the unedited program has an error itself, as models have.

An evaluation is dear there, and nearly all that is cheaper is within the tolerance. Promising patches (`Program.sweep`) are
tried on the unedited program, kinds by how much they save, and no more once there is enough to join. What paid is joined in
`Rounds` that begin with several together unless they are for the least error, where few edits simply add up; in those of
single ones a few are tried at a time.

Both objectives pay. What has less error than the unedited program, as a training may have, is joined for the least
error: first what takes no more time, then single edits that made nothing better alone. What is best alone may go with nothing
else, so this begins anew with the best of each other form that gains about as much, and goes on from the most accurate of all;
and then from each of the best mixes of several edits at once (`gevolve.search.company`). To it comes what takes a little more
time, and then what is faster, as long as it loses next to no error: time that accuracy has cost is saved elsewhere, at the price
of a part of the gain if there is no other way. What time is left after that may be spent on accuracy again. Then what is faster
is joined for the least time. The error that may be lost is a budget that all share, so that they come in order of the time that
each saves for the error that it costs, not of the time alone.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Self

from gevolve.patch import Edit, Patch
from gevolve.search.company import DEAR, FEW, Company
from gevolve.search.elsewhere import FAILS
from gevolve.search.individual import SAME, Individual
from gevolve.search.joining import price, starts
from gevolve.search.rounds import Rounds
from gevolve.search.singles import Singles
from gevolve.search.stages import ACCURATE, NEXT, PRICED, OpeningState, Stage

MOST_JOINED = 48
"""Of the winners, this many are joined: each may cost an evaluation in every second round."""
MOST_ALONE = 160
"""So many are tried alone at most."""
STARTS = 3
"""Joining for the least error begins with so many patches at most, one after the other."""
SURE = 5
"""And only if the best gains more than this many times what luck may: errors of a thousand images vary by a point."""
ABOUT = 0.5
"""With those that gain at least this part of what the best does."""
GIVEN = 0.25
"""This part of what was gained in error may be given for time, if that is what brings the time down to the unedited program's."""


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
            patches, unedited, size, min(MOST_ALONE, len(patches) if most is None else most), luck
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
        self._room = DEAR * unedited.time
        """The time that the most accurate may take for now."""
        self._before = unedited.error
        """The error when time was last saved on top of the most accurate."""
        self._turn = 0
        """How often joining for the least error has begun anew."""
        self._champion: tuple[float, float, Patch] | None = None
        """The most accurate that it has led to: time, error and patch."""
        self._company = Company(unedited)
        self._rounds = Rounds(FEW)
        self._settle()

    @property
    def over(self) -> bool:
        """Whether it has nothing left to try."""
        return self._stage == "over"

    @property
    def winners(self) -> list[Edit]:
        """The edits of all that was faster than the unedited program, or had less error, each once."""
        return self._singles.edits

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
            self._company.tell(patches, good, self._singles.tell(patches, good))
        else:
            self._keep(good)
        self._settle()

    def skip(self, essences: Iterable[frozenset[Edit]]) -> None:
        """Do not ask for patches with these edits."""
        self._seen.update(essences)
        self._settle()

    def strike(self, patch: Patch, _alive: Iterable[Individual], error: float) -> None:
        """Build on nothing that has all edits of a patch, unless it has an `error` only: here nothing is exact."""
        if error != FAILS:
            return
        edits = frozenset(patch)
        self._singles.strike(edits, error)
        self._company.strike(edits)
        self._rounds.strike(edits)
        if self._champion and edits <= frozenset(self._champion[2]):
            self._champion = None
        if edits <= frozenset(self._best[1]):
            self._start_over()
        self._settle()

    def _candidates(self) -> Iterator[Patch]:
        if self._stage == "single":
            yield from self._singles.next(self._seen)
        else:
            yield from self._rounds.candidates(self._best[1])

    def _keep(self, good: Sequence[Individual]) -> None:
        """Go on from the best of a round."""
        if self._stage == "mixed":
            self._company.note(good)
            self._rounds.keep(self._best[1], {})
            return
        reached, best = self._best
        enough = reached - self._luck if self._stage in ("aided", "dearer") else reached
        gains = {
            frozenset(one.patch): one
            for one in good
            if self._allows(one.time)
            and (one.error <= self._limit or self._stage != "leaner")
            and self._value(one.time, one.error) < enough
        }
        # What was added alone tells what each costs; of several together the most may be added.
        ranks = {
            key: self._bet(one.time, one.error, (reached, self._spent))
            if self._rounds.alone
            else self._value(one.time, one.error)
            for key, one in gains.items()
        }
        self._rounds.keep(best, ranks)
        if gains:
            key = min(gains, key=lambda key: (ranks[key], len(key), str(gains[key].patch)))
            one = gains[key]
            self._take(one.time, one.error, one.patch)
            self._rounds.leave_out(key)

    def _settle(self) -> None:
        """Go on to the next stage as long as there is nothing new to ask for."""
        while not self.over and not self.ask():
            if self._stage != "single" and self._rounds.go_on():
                continue
            if self._stage == "aided" and self._begins_anew():
                self._stage = "better"
            elif self._stays():
                pass
            elif self._goes_on():
                self._stage = "dearer"
            else:
                self._stage = NEXT[self._stage]
                self._limit = self._spent + self._luck
            if self._stage in ("better", "mixed", "loose"):  # with another objective
                self._start_over()
            if self._stage in ("dearer", "leaner"):
                self._take(self._time, self._spent, self._best[1])
            pool = self._fresh_pool() if not self.over else []
            self._rounds.begin(pool, alone=self._stage in ACCURATE)

    def _fresh_pool(self) -> list[Patch]:
        """The winners to be joined in this stage; the first of them is the best if there is none."""
        if self._stage == "mixed":
            return self._company.mix(self._singles.winners, self._singles.better)
        if self._stage == "aided":
            return self._company.aids(self._fits, several=False) if self._best[1].edits else []
        if self._stage == "leaner" and not self._sure(self._spent):
            return []
        order = self._order()
        if order and not self._best[1].edits:
            known = self._starts(order)
            self._take(*known[min(self._turn, len(known) - 1)])
        pool = [patch for *_, patch in order][:MOST_JOINED]
        if pool and self._stage == "better":
            return [*self._company.aids(self._fits, several=True), *pool]
        if self._stage == "dearer" and self._sure(self._spent):
            return [
                *pool,
                *self._company.aids(self._fits, several=True),
                *self._company.aids(self._fits, several=False),
            ]
        return pool

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
        return starts(order, self._error, ABOUT, STARTS)

    def _stays(self) -> bool:
        """Whether a stage begins once more, with other patches, from another one or up to another error."""
        more = {"mixed": self._company.mixes_more, "leaner": self._gives}
        return self._stage in more and more[self._stage]()

    def _goes_on(self) -> bool:
        """Whether to look for accuracy again at more time: in what was saved, or on top of another mix."""
        again = self._stage == "leaner" and self._spends_again()
        return again or (self._stage in ("leaner", "mixed") and self._has_rival())

    def _has_rival(self) -> bool:
        """Whether to go on from another mix of several edits at once, as from the most accurate of all starts."""
        rival = self._company.next_mix()
        if rival is None or not self._sure(rival[1]):
            self._company.mixes = []
            return False
        self._take(*rival)
        self._room, self._before = DEAR * self._unedited, self._error
        return True

    def _sure(self, error: float) -> bool:
        """Whether an error is so much less than the unedited program's that it is worth many evaluations."""
        return self._error - error > SURE * self._luck

    def _begins_anew(self) -> bool:
        """Whether to join for the least error from another start; if not, the most accurate is gone on from."""
        if self._champion is None or self._spent < self._champion[1]:
            self._champion = self._time, self._spent, self._best[1]
        order = self._order()
        several = bool(order) and self._sure(order[0][1])
        if several and self._turn + 1 < len(self._starts(order)):
            self._turn += 1
            return True
        self._take(*self._champion)
        return False

    def _belongs(self, time: float, error: float) -> bool:
        """Whether a winner is joined in this stage."""
        if self._accurate:
            return self._singles.better(error) and self._fits(time)
        return time < self._unedited

    def _gives(self) -> bool:
        """Whether to go on saving time at the price of a part of what was gained, since it still takes more than the unedited program."""
        limit = self._spent + GIVEN * (self._error - self._spent)
        if self._time <= SAME * self._unedited or self._limit > self._spent + self._luck:
            return False
        self._limit = max(limit, self._limit)
        return self._limit > self._spent + self._luck and self._sure(self._spent)

    def _spends_again(self) -> bool:
        """Whether to look for accuracy again, in the time that was saved."""
        if not self._sure(self._spent) or self._spent >= self._before - self._luck:
            return False
        self._before = self._spent
        self._room = max(SAME * self._unedited, self._time)
        return True

    def _fits(self, time: float) -> bool:
        """Whether what takes so much time alone may be added to the best in this stage, if it takes as much more there."""
        joined = self._time * time / self._unedited if self._stage == "dearer" else time
        return self._allows(joined)

    def _allows(self, time: float) -> bool:
        """Whether this stage may take so much time; without a gain in error it is the objective itself."""
        if self._stage == "dearer":
            return time <= self._room
        return not self._accurate or time <= SAME * self._unedited

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
            stage=self._stage,
            record=dict(self._singles.record),
            best=(self._best[0], str(self._best[1])),
            time=self._time,
            spent=self._spent,
            limit=self._limit,
            room=self._room,
            before=self._before,
            turn=self._turn,
            champion=self._champion and (*self._champion[:2], str(self._champion[2])),
            company=self._company.state(),
            winners=[(time, error, str(patch)) for time, error, patch in self._singles.winners],
            alone=self._rounds.alone,
            pool=[str(patch) for patch in self._rounds.pool],
        )

    def resume(self, past: OpeningState, asked: Collection[frozenset[Edit]]) -> Self:
        """Go on from a state, after all that was asked for until then."""
        self._seen.update(asked)
        self._stage = past.stage
        self._singles.resume(past.record, past.winners)
        self._best = (past.best[0], Patch.parse(past.best[1]))
        self._time, self._spent = past.time, past.spent
        self._limit = past.limit
        self._room, self._before = past.room, past.before
        self._turn = past.turn
        self._champion = past.champion and (*past.champion[:2], Patch.parse(past.champion[2]))
        self._company.resume(past.company)
        self._rounds.begin([Patch.parse(text) for text in past.pool], alone=past.alone)
        return self
