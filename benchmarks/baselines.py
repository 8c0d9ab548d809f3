"""Searches to compare with: random patches, and climbing from the best by one edit at a time."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.search import Problem, Search, Settings

SIZE = 8
"""Patches that are asked for at a time."""


class RandomSearch(Search):
    """One to three edits of kinds drawn alike, on the unedited program, for ever."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self._problem = problem
        program = problem.program
        self._kinds = settings.drawn_kinds(program.kinds, program.paper_kinds, program.loose_kinds)
        self._rng = np.random.default_rng(problem.seed)
        self._seen: set[Patch] = {Patch()}
        self._asked: list[Patch] = []

    def ask(self) -> list[Patch]:
        for _ in range(100 * SIZE):
            if len(self._asked) >= SIZE:
                break
            patch = self._next()
            if patch not in self._seen:
                self._seen.add(patch)
                self._asked.append(patch)
        return self._asked

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        self._asked = []

    def _next(self) -> Patch:
        return self._more(Patch(), int(self._rng.integers(1, 4)))

    def _more(self, patch: Patch, count: int) -> Patch:
        kinds = (self._kinds[self._rng.integers(len(self._kinds))] for _ in range(count))
        edits = (
            self._problem.program.propose(kind, self._rng, self._problem.profile) for kind in kinds
        )
        return patch + Patch(tuple(filter(None, edits)))

    def state(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def restore(
        cls,
        problem: Problem,
        settings: Settings,
        state: Mapping[str, Any],
        judged: Iterable[tuple[Patch, Evaluation]],
    ) -> Self:
        raise NotImplementedError


class HillClimbing(RandomSearch):
    """The best with one edit more, or one less; what is as fast and right becomes the best."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        super().__init__(problem, settings)
        self._best = (problem.unedited.time or 0.0, Patch())
        self._rounding = settings.rounding

    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        for patch, one in zip(self._asked, evaluations, strict=True):
            exact = one.ok and (one.error or 0.0) <= self._rounding
            if exact and one.time is not None and one.time <= self._best[0]:
                self._best = (one.time, patch)
        super().tell(evaluations)

    def _next(self) -> Patch:
        best = self._best[1]
        if len(best) > 1 and self._rng.random() < 0.2:
            gone = int(self._rng.integers(len(best)))
            return best[:gone] + best[gone + 1 :]
        return self._more(best, 1)
