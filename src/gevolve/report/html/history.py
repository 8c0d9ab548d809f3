"""How the front moved: after each generation, which variants were on it and how good it was."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gevolve.run.store import format_id
from gevolve.search import nsga2
from gevolve.search.individual import pareto

Point: TypeAlias = tuple[float, float, int, int]
"""Ratio, error (0 where that is rounding), number of edits, id."""


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """The front after one generation."""

    members: int
    """How many variants of the generation it knows of."""
    before: "_Step | None"
    front: list[Point]
    area: float
    change: tuple[list[str], list[str]] | None


class History:
    """The front after each generation; only what changed since the last look is worked out again."""

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._points: dict[int, list[Point]] = defaultdict(list)
        self._steps: dict[int, _Step] = {}
        self.ever: set[int] = set()
        """Variants that were on the front after some generation."""

    def add(self, generation: int, point: Point) -> None:
        self._points[generation].append(point)

    def drop(self, id_: int) -> None:
        """Forget a variant that was struck: the front is then as if it had never been."""
        for generation, points in self._points.items():
            kept = [point for point in points if point[3] != id_]
            if len(kept) < len(points):
                self._points[generation] = kept
        self.ever.clear()
        self._steps.clear()

    def correct(self, id_: int, error: float) -> None:
        """Give a variant the error that it has on other cases: the front is then as if that had been known."""
        for points in self._points.values():
            for n, (ratio, before, edits, own) in enumerate(points):
                if own == id_ and before < error:
                    points[n] = ratio, error, edits, own
                    self.ever.clear()
                    self._steps.clear()

    def steps(self) -> dict[str, list[Any]]:
        """Generation by generation: the last id so far, the best ratio, the hypervolume, the front.

        Of the front, what came to it and what left it; None if it stayed the same.
        """
        columns: dict[str, list[Any]] = {
            name: [] for name in ("generation", "last", "best", "hypervolume", "front")
        }
        before: _Step | None = None
        last = 0
        for generation in sorted(self._points):
            points = self._points[generation]
            step = self._steps.get(generation)
            if step is None or step.members != len(points) or step.before is not before:
                step = self._steps[generation] = self._step(points, before)
            last = max([last, *(point[3] for point in points)])
            columns["generation"].append(generation)
            columns["last"].append(last)
            columns["best"].append(round(step.front[0][0], 6))
            columns["hypervolume"].append(round(step.area, 6))
            columns["front"].append(step.change)
            before = step
        return columns

    def _step(self, points: list[Point], before: _Step | None) -> _Step:
        front = pareto([*(before.front if before else ()), *points], lambda point: point)
        self.ever.update(point[3] for point in front)
        old = before.front if before else []
        if before is not None and front == old:
            return _Step(len(points), before, front, before.area, None)
        scale = (1.0, self._bound or 1.0)
        objectives = np.array([point[:2] for point in front], np.float64) / scale
        change = (_names({*front} - {*old}), _names({*old} - {*front}))
        return _Step(len(points), before, front, nsga2.hypervolume(objectives), change)


def _names(points: set[Point]) -> list[str]:
    return [format_id(point[3]) for point in sorted(points)]
