"""How a generation is bred: fresh variants where the population has gaps, neighbours of the front, children of two."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gevolve.patch import Edit, Patch
from gevolve.search import nsga2
from gevolve.search.birth import Birth
from gevolve.search.crossover import CROSSOVERS
from gevolve.search.elsewhere import Elsewhere
from gevolve.search.individual import Individual, essence
from gevolve.search.local import neighbor
from gevolve.search.mutation import append, mutate
from gevolve.search.proposals import Proposals
from gevolve.search.settings import Settings
from gevolve.search.twins import Twins

TRIES = 20
"""How often a child that was judged before is changed again before it is given up."""


@dataclass(frozen=True, slots=True)
class Stock:
    """What a generation is bred from."""

    unedited: Individual
    population: Sequence[Individual]
    front: Sequence[Individual]
    winners: Sequence[Edit]
    """The edits that paid in the opening."""
    judged: Collection[frozenset[Edit]]
    """What is not new."""
    elsewhere: Elsewhere
    twins: Twins
    first: bool
    """Whether nothing was bred before."""
    stuck: bool
    """Whether there was no progress for long."""


class Breeder:
    """Breeds one generation from a stock."""

    def __init__(
        self, stock: Stock, proposals: Proposals, settings: Settings, rng: np.random.Generator
    ) -> None:
        self._stock = stock
        self._proposals = proposals
        self._settings = settings
        self._rng = rng
        self._births: list[Birth] = []
        self._taken: set[frozenset[Edit]] = set()

    def breed(self, given: Iterable[Birth]) -> list[Birth]:
        """A generation that begins with what is given."""
        size = self._settings.population
        for birth in given:
            self._add(birth)
        for _ in range(size * TRIES):
            if len(self._births) >= self._fresh:
                break
            self._add(self._start())
        for _ in range(size * TRIES):
            if len(self._births) >= size:
                break
            for child in self._children():
                self._add(child)
        return self._births

    def _add(self, birth: Birth) -> None:
        key = essence(birth.patch)
        room = len(self._births) < self._settings.population
        if room and not self._known(key) and not self._stock.elsewhere.fails(key):
            if birth.kinds and self._stock.twins.expected(key, birth.parents):
                return
            self._taken.add(key)
            self._births.append(birth)

    def _known(self, key: frozenset[Edit]) -> bool:
        return key in self._stock.judged or key in self._taken

    @property
    def _fresh(self) -> int:
        """How many of the generation start from the unedited program."""
        size = self._settings.population
        return size if self._stock.first else min(size - len(self._stock.population), size // 2)

    def _start(self) -> Birth:
        """A fresh variant: the unedited program with a few edits, new ones or such as passed before."""
        fewest, most = self._settings.initial_edits
        known = self._proposals.experience.known
        enough = len(known) > most
        if self._settings.alone and not enough:
            fewest = most = 1
        patch = Patch()
        for _ in range(int(self._rng.integers(fewest, most + 1))):
            if self._settings.alone and enough:
                edit = known[int(self._rng.integers(len(known)))]
            else:
                edit = self._draw()
            if edit is not None:
                patch = append(patch, edit)
        return Birth(patch, (self._stock.unedited,), tuple(edit.kind for edit in patch))

    def _children(self) -> list[Birth]:
        """One or two children of parents that tournaments chose.

        A search that is stuck widens: every member of the population may have a child, by mutation
        alone. Crossing what has been crossed many times over yields little that is new.
        """
        settings, rng, stuck = self._settings, self._rng, self._stock.stuck
        if rng.random() < settings.local:
            return [self._neighbor()]
        mother = self._parent(by_merit=not stuck)
        if stuck or rng.random() >= settings.crossover:
            return [self._mutant(Birth(mother.patch, (mother,), ()), always=True)]
        father = self._parent(by_merit=True)
        crossed = CROSSOVERS[settings.crossover_kind](mother.patch, father.patch, rng)
        return [
            self._mutant(
                Birth(patch[: settings.max_edits], (mother, father), ()),
                always=rng.random() < settings.mutation,
            )
            for patch in crossed
        ]

    def _neighbor(self) -> Birth:
        """A neighbour of the fastest exact variant, or of another on the front."""
        rng, front, winners = self._rng, self._stock.front, self._stock.winners
        one = front[-1 if rng.random() < 0.5 else int(rng.integers(len(front)))]
        idle = self._stock.twins.idle(one)
        patch, kinds = neighbor(
            one.patch,
            winners,
            self._settings.max_edits,
            lambda: self._proposals.draw_near(winners, idle, rng),
            rng,
        )
        return Birth(patch, (one,), kinds)

    def _parent(self, *, by_merit: bool) -> Individual:
        size = len(self._stock.population)
        chosen = nsga2.tournament(size, self._rng) if by_merit else int(self._rng.integers(size))
        return self._stock.population[chosen]

    def _mutant(self, birth: Birth, *, always: bool) -> Birth:
        """Mutate a child; one that was judged before, until it is new."""
        patch, kinds = birth.patch, birth.kinds
        for attempt in range(TRIES):
            if not (always and attempt == 0) and not self._known(essence(patch)):
                break
            patch, new = mutate(patch, self._settings, self._draw, self._rng)
            kinds += new
        return Birth(patch, birth.parents, kinds)

    def _draw(self) -> Edit | None:
        """A new edit."""
        return self._proposals.draw(self._stock.winners, self._rng)
