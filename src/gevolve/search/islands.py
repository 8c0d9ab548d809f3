"""Islands: several searches of one program, side by side, that exchange their best now and then.

One search waits for a whole generation before it can breed the next, so it keeps no more workers busy
than its population has members. Islands breed at the same time, each from its own seed and with
settings of its own, and so look in different places. They share what is known: none asks for a patch
that another had judged. All that happens follows from the seed.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import msgspec

from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.search.base import Problem, Search
from gevolve.search.settings import Settings
from gevolve.search.state import read_state

GUESTS = 3
"""How many variants an island sends at each exchange."""
VARIATIONS: tuple[dict[str, Any], ...] = (
    {},
    {"crossover_kind": "messy"},
    {"adaptive": False},
    {"append": 0.6, "drop": 0.3},
    {"crossover": 0.4, "proven": 0.6},
)
"""How islands differ, in turn; what the user has set stays as it is."""


class State(msgspec.Struct, frozen=True):
    """The states of all islands after a number of rounds."""

    rounds: int
    islands: list[dict[str, Any]]


class Islands(Search):
    """A search made of searches of one kind."""

    kind: ClassVar[type[Search]]

    @classmethod
    def of(cls, kind: type[Search]) -> type[Search]:
        """Islands that each run this search."""
        return type(f"{kind.__name__}Islands", (cls,), {"kind": kind})

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self._settings = settings
        self._rounds = 0
        self._islands = [
            self.kind(_seeded(problem, n), varied(settings, n)) for n in range(settings.islands)
        ]

    def ask(self) -> list[Patch]:
        """What all islands ask for, each patch once."""
        return list(dict.fromkeys(patch for island in self._islands for patch in island.ask()))

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Tell every island its own, then what the others had judged, then its guests."""
        judged = dict(zip(self.ask(), evaluations, strict=True))
        mine = [island.ask() for island in self._islands]
        for island, patches in zip(self._islands, mine, strict=True):
            island.tell([judged[patch] for patch in patches])
        self._rounds += 1
        guests = self._guests()
        for island, patches, visitors in zip(self._islands, mine, guests, strict=True):
            own = set(patches)
            others = [(patch, one) for patch, one in judged.items() if patch not in own]
            island.observe(others, visitors)

    def _guests(self) -> list[list[tuple[Patch, Evaluation]]]:
        """The guests of each island, from another one each time."""
        count = len(self._islands)
        exchanges, rest = divmod(self._rounds, self._settings.exchange)
        if rest:
            return [[]] * count
        best = [island.emigrants(GUESTS) for island in self._islands]
        distance = 1 + (exchanges - 1) % (count - 1)
        return [best[(n + distance) % count] for n in range(count)]

    def strike(self, patch: Patch, error: float = math.inf) -> None:
        """No island breeds from it any more, or only with its error."""
        for island in self._islands:
            island.strike(patch, error)

    def state(self) -> dict[str, Any]:
        """The states of all islands."""
        return msgspec.to_builtins(State(self._rounds, [one.state() for one in self._islands]))

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
        everything = list(judged)
        search = cls(problem, settings)
        search._rounds = past.rounds
        search._islands = [
            cls.kind.restore(_seeded(problem, n), varied(settings, n), one, everything)
            for n, one in enumerate(past.islands)
        ]
        return search


def _seeded(problem: Problem, number: int) -> Problem:
    """The problem with the seed of this island; the first has the run's own."""
    if number == 0:
        return problem
    digest = hashlib.sha256(f"{problem.seed} {number}".encode()).digest()
    return replace(problem, seed=int.from_bytes(digest[:6]))


def varied(settings: Settings, number: int) -> Settings:
    """The settings of this island; only the first tries what is promising before anything random."""
    if number == 0:
        return settings
    defaults = {one.name: one.default for one in fields(settings)}
    changes = {
        name: value
        for name, value in VARIATIONS[number % len(VARIATIONS)].items()
        if getattr(settings, name) == defaults[name]
    }
    return replace(settings, sweep=0, **changes)
