"""The default search: NSGA-II, with new edits drawn by what has paid off so far.

    search = Nsga2Search(Problem(program, profile, unedited, seed=1), Settings())
    while budget:
        patches = search.ask()
        search.tell([evaluate(patch) for patch in patches])
    print(search.front)

All that is random in generation `g` comes from a generator seeded with ``(seed, g)``. So `ask` is a
function of the state alone, asking twice is harmless, and a run that was killed in the middle of a
generation asks for the same patches again when it is resumed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import msgspec
import numpy as np

from gevolve.errors import OptionError, StoreError, WorkloadError
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Edit, Patch
from gevolve.search import nsga2
from gevolve.search.ascent import Ascent, AscentState
from gevolve.search.base import Problem, Search
from gevolve.search.birth import Birth
from gevolve.search.breeding import Breeder, Stock
from gevolve.search.elsewhere import FAILS, Elsewhere
from gevolve.search.experience import Seen, outcome
from gevolve.search.individual import (
    Individual,
    admit,
    essence,
    front,
    improves,
    points,
    survivors,
)
from gevolve.search.loosened import PART, loosened
from gevolve.search.opening import Opening
from gevolve.search.proposals import Proposals
from gevolve.search.settings import Settings
from gevolve.search.stages import OpeningState
from gevolve.search.state import read_state
from gevolve.search.twins import Twins

LUCK = 0.1
"""A gain in error up to this part of what may be lost is not looked for in the opening: it may be luck."""


class State(msgspec.Struct, frozen=True):
    """All that the next generation depends on besides the evaluations."""

    seed: int
    generation: int
    judged: int
    """How many patches were told, the unedited program included."""
    population: list[str]
    credit: dict[str, tuple[float, float]]
    stale: int
    opening: AscentState | OpeningState
    struck: list[str] = []
    """Patches that failed on unseen cases."""
    inexact: dict[str, float] = {}
    """The errors of patches that are exact on the search's cases, and not on unseen ones."""


class Nsga2Search(Search):
    """NSGA-II over (time, error) on the patches of one program."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        if problem.seed < 0:
            raise OptionError(f"seed is {problem.seed}; it must be 0 or more")
        unedited = admit(Patch(), problem.unedited, settings)
        if unedited is None:
            raise WorkloadError(
                f"the unedited program is judged {problem.unedited.verdict} "
                f"({problem.unedited.detail}); correct the workload before searching"
            )
        self._program = problem.program
        self._profile = problem.profile
        self._settings = settings
        self._seed = problem.seed
        self._unedited = unedited
        self._generation = 0
        self._population = [unedited]
        self._front = [unedited]
        self._alive = {essence(unedited.patch): unedited}
        self._elsewhere = Elsewhere()
        self._twins = Twins()
        self._twins.add(unedited)
        program = problem.program
        kinds = settings.drawn_kinds(program.kinds, program.paper_kinds, program.loose_kinds)
        self._proposals = Proposals(program, problem.profile, kinds, settings)
        self._stale = 0
        self._judged = {essence(unedited.patch)}
        self._asked: list[Birth] | None = None
        self._opening = self._open(kinds)

    @property
    def generation(self) -> int:
        """How many generations have been judged."""
        return self._generation

    @property
    def population(self) -> list[Individual]:
        """The variants that live, best first."""
        return list(self._population)

    @property
    def front(self) -> list[Individual]:
        """Of all variants judged so far those that no other dominates, fastest first."""
        return list(self._front)

    @property
    def fastest(self) -> Individual:
        """The fastest variant within the tolerance."""
        return self._front[0]

    @property
    def best(self) -> Individual:
        """The fastest exact variant."""
        return self._front[-1]

    @property
    def hypervolume(self) -> float:
        """How much of the unit square the front dominates: 0 at the start, 1 is out of reach.

        Time is measured by the unedited program's, error by the tolerance.
        """
        scale = (self._unedited.time or 1.0, self._settings.bound or 1.0)
        return nsga2.hypervolume(points(self._front) / scale)

    @property
    def shares(self) -> dict[str, float]:
        """The probability with which each edit kind is drawn now."""
        return self._proposals.shares

    def ask(self) -> list[Patch]:
        """The patches to be judged next; the same ones until they are told.

        None of them was asked for before. There are fewer than `population` of them if no more new
        ones can be found, and none if the program has no variant left to offer.
        """
        if self._asked is None:
            self._asked = self._breed()
        return [birth.patch for birth in self._asked]

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the verdicts on what was asked for, in the same order."""
        births = self._breed() if self._asked is None else self._asked
        if len(evaluations) != len(births):
            raise ValueError(f"{len(births)} patches were asked for, {len(evaluations)} told")
        judged: list[Individual | None] = []
        seen: list[Seen] = []
        for birth, evaluation in zip(births, evaluations, strict=True):
            self._judged.add(essence(birth.patch))
            child = admit(birth.patch, evaluation, self._settings)
            self._twins.add(child)
            seen.append((essence(birth.patch), outcome(child, self._unedited)))
            judged.append(self._elsewhere.corrected(child))
            self._proposals.credit.record(birth.kinds, paid=improves(child, birth.parents))
        self._proposals.experience.add(seen)
        born = [child for child in judged if child is not None]
        if not self._opening.over:
            own = len(self._opening.ask())  # what comes after it was no part of it
            self._opening.tell([birth.patch for birth in births[:own]], judged[:own])
            self._opening.skip(essence(birth.patch) for birth in births[own:])
        self._keep(born)
        before = points(self._front)
        self._front = front(self._front + born)
        self._stale = self._stale + 1 if np.array_equal(points(self._front), before) else 0
        self._population = survivors(self._population + born, self._settings)
        self._generation += 1
        self._asked = None

    def emigrants(self, count: int) -> list[tuple[Patch, Evaluation]]:
        """The best of the population, as guests for another search."""
        return [(one.patch, one.evaluation) for one in self._population[:count]]

    def observe(
        self,
        judged: Iterable[tuple[Patch, Evaluation]],
        guests: Iterable[tuple[Patch, Evaluation]],
    ) -> None:
        """Never ask for what others had judged, and let guests live here if they are good enough."""
        others = list(judged)
        seen = {essence(patch) for patch, _ in others}
        self._judged |= seen
        self._opening.skip(seen)
        admitted = [
            (patch, admit(patch, evaluation, self._settings)) for patch, evaluation in others
        ]
        self._proposals.experience.add(
            (essence(patch), outcome(one, self._unedited)) for patch, one in admitted
        )
        for _, one in admitted:
            self._twins.add(one)
        alive = list(filter(None, (self._elsewhere.corrected(one) for _, one in admitted)))
        self._keep(alive)
        self._front = front([*self._front, *alive])
        here = {one.patch for one in self._population}
        visitors = filter(None, (self._admit(one) for one in guests if one[0] not in here))
        self._population = survivors([*self._population, *visitors], self._settings)
        self._asked = None

    def strike(self, patch: Patch, error: float = FAILS) -> None:
        """Let nothing live, now or later, that has all edits of a patch, or only with its error."""
        if not self._elsewhere.add(patch, error):
            return
        alive = filter(None, map(self._elsewhere.corrected, self._alive.values()))
        self._alive = {essence(one.patch): one for one in alive}
        here = (self._alive.get(essence(one.patch)) for one in self._population)
        self._population = [one for one in here if one is not None] or [self._unedited]
        self._front = front(self._alive.values())
        self._opening.strike(patch, self._alive.values(), error)
        self._asked = None

    def _keep(self, ones: Iterable[Individual]) -> None:
        """Let these live; of two with the same edits, which islands may have judged in two orders, one whose text comes first."""
        for one in ones:
            key = essence(one.patch)
            held = self._alive.get(key)
            if held is None or str(one.patch) <= str(held.patch):
                self._alive[key] = one

    def _admit(self, judged: tuple[Patch, Evaluation]) -> Individual | None:
        """What another search had judged, if it may live here."""
        return self._elsewhere.corrected(admit(*judged, self._settings))

    def state(self) -> dict[str, Any]:
        """All that the next generation depends on besides the evaluations, as JSON can hold it.

        Between `ask` and `tell` it is still the state before `ask`.
        """
        state = State(
            seed=self._seed,
            generation=self._generation,
            judged=len(self._judged),
            population=[str(one.patch) for one in self._population],
            credit=self._proposals.credit.state(),
            stale=self._stale,
            opening=self._opening.state(),
            struck=sorted(str(patch) for patch, error in self._elsewhere if error == FAILS),
            inexact={str(patch): error for patch, error in self._elsewhere if error != FAILS},
        )
        return msgspec.to_builtins(state)

    @classmethod
    def restore(
        cls,
        problem: Problem,
        settings: Settings,
        state: Mapping[str, Any],
        judged: Iterable[tuple[Patch, Evaluation]],
    ) -> Self:
        """Go on from a state, given what was told until then, in any order."""
        past = read_state(state, State)
        search = cls(replace(problem, seed=past.seed), settings)
        for text, error in (dict.fromkeys(past.struck, FAILS) | past.inexact).items():
            search._elsewhere.add(Patch.parse(text), error)
        alive = {"": search._unedited}
        seen: list[Seen] = []
        for patch, evaluation in judged:
            search._judged.add(essence(patch))
            one = admit(patch, evaluation, settings)
            search._twins.add(one)
            seen.append((essence(patch), outcome(one, search._unedited)))
            one = search._elsewhere.corrected(one)
            if one is not None:
                alive[str(patch)] = one
        if len(search._judged) != past.judged or not alive.keys() >= set(past.population):
            raise StoreError(
                f"the run's evaluations do not match its generation {past.generation} "
                f"({len(search._judged)} found of {past.judged}); start a new run"
            )
        search._generation = past.generation
        search._keep(alive.values())
        search._front = front(alive.values())
        search._population = [alive[text] for text in past.population]
        search._go_on_with(past.credit)
        search._proposals.experience.add(seen)
        search._opening = search._reopen(past.opening)
        search._stale = past.stale
        return search

    def _go_on_with(self, credit: Mapping[str, tuple[float, float]]) -> None:
        """Draw the edit kinds that were drawn before, even if packages have added some since."""
        missing = sorted(credit.keys() - {*self._program.kinds})
        if missing:
            raise StoreError(
                f"the run draws edits of the kinds {', '.join(missing)}, which the program does not "
                "know; install the packages that add them"
            )
        kinds = tuple(kind for kind in self._program.kinds if kind in credit)
        self._proposals.go_on_with(kinds, credit)

    def _open(self, kinds: tuple[str, ...]) -> Ascent | Opening:
        """The opening: what the program offers of these kinds, as far as the settings allow."""
        most = self._settings.sweep
        patches = self._program.sweep(kinds, self._profile) if most else []
        luck = LUCK * max(0.0, self._settings.bound - self._unedited.error)
        size, loose = self._settings.population, self._settings.approximations
        if self._unedited.error:
            return Opening(patches, self._unedited, size, most, luck)
        return Ascent(patches, self._unedited, size, most, luck, loose=loose)

    def _reopen(self, past: AscentState | OpeningState) -> Ascent | Opening:
        """The opening as it was."""
        opening = self._open(self._proposals.kinds)
        if isinstance(opening, Ascent) and isinstance(past, AscentState):
            return opening.resume(past, self._judged, self._elsewhere)
        if isinstance(opening, Opening) and isinstance(past, OpeningState):
            return opening.resume(past, self._judged)
        raise StoreError("the unedited program's error is not what it was; start a new run")

    def _breed(self) -> list[Birth]:
        """The next generation: what the opening asks for, and when that is over what is bred."""
        loose = [Birth(patch, (self._unedited,), ()) for patch in self._loosened()]
        if not self._opening.over:
            first = [Birth(patch, (self._unedited,), ()) for patch in self._opening.ask()]
            known = {essence(birth.patch) for birth in first}
            return [*first, *(birth for birth in loose if essence(birth.patch) not in known)]
        rng = np.random.Generator(np.random.PCG64([self._seed, self._generation]))
        stock = Stock(
            unedited=self._unedited,
            population=self._population,
            front=self._front,
            winners=self._opening.winners,
            judged=self._judged,
            elsewhere=self._elsewhere,
            twins=self._twins,
            first=self._generation == 0,
            stuck=self._stale >= self._settings.patience,
        )
        return Breeder(stock, self._proposals, self._settings, rng).breed(loose)

    def _loosened(self) -> list[Patch]:
        """New patches that trade error for time; none where the program has an error of its own, or none is allowed."""
        bound = self._settings.bound
        if self._unedited.error or bound <= self._settings.rounding or not self._settings.sweep:
            return []
        found: dict[frozenset[Edit], Patch] = {}
        for patch in loosened(self._alive.values(), self._judged, bound, LUCK * bound):
            key = essence(patch)
            if key not in self._judged and not self._elsewhere.fails(key):
                found.setdefault(key, patch)
            if len(found) >= self._settings.population // PART:
                break
        return list(found.values())
