"""A search that begins at a variant: each patch that it asks for is that variant's, and then its own edits."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.search.base import Problem, Search
from gevolve.search.settings import Settings


class BasedSearch:
    """A search of some kind on a variant, whose evaluation is the problem's `unedited` one."""

    def __init__(self, search: Search, base: Patch) -> None:
        self._search = search
        self._base = base

    @classmethod
    def start(cls, kind: type[Search], problem: Problem, settings: Settings, base: Patch) -> Self:
        """A new search."""
        return cls(kind(problem, settings), base)

    @classmethod
    def restore(
        cls,
        kind: type[Search],
        problem: Problem,
        settings: Settings,
        base: Patch,
        state: Mapping[str, Any],
        judged: Iterable[tuple[Patch, Evaluation]],
    ) -> Self:
        """Go on from a state; what was judged and does not begin with the base is none of this search's."""
        own = [
            (patch[len(base) :], evaluation)
            for patch, evaluation in judged
            if patch[: len(base)] == base
        ]
        return cls(kind.restore(problem, settings, state, own), base)

    def ask(self) -> list[Patch]:
        """As `Search.ask`."""
        return [self._base + patch for patch in self._search.ask()]

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """As `Search.tell`."""
        self._search.tell(evaluations)

    def strike(self, patch: Patch, error: float = math.inf) -> None:
        """As `Search.strike`; of what does not begin with the base nothing is built here."""
        if patch[: len(self._base)] == self._base:
            self._search.strike(patch[len(self._base) :], error)

    def state(self) -> dict[str, Any]:
        """As `Search.state`."""
        return self._search.state()
