"""Individuals: judged variants that are good enough to live, and which of them are best."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Edit, Patch
from gevolve.search import nsga2
from gevolve.search.settings import Settings

T = TypeVar("T")
_LEAST = 1e-300
"""The error of an approximation that showed none."""
SAME = 1.002
"""A time up to this many times another is no more than that: no clock tells them apart."""


@dataclass(frozen=True, slots=True)
class Individual:
    """A variant that runs and is right enough: its patch, its evaluation and its objectives."""

    patch: Patch
    evaluation: Evaluation
    time: float
    error: float
    """The evaluation's error; where that is no more than rounding, 0, or the rounding if it is an approximation.

    Cases that happen to hide an approximation do not make it exact.
    """

    def dominates(self, other: "Individual") -> bool:
        """At least as good in both objectives, and better in one."""
        return (
            self.time <= other.time
            and self.error <= other.error
            and (self.time, self.error) != (other.time, other.error)
        )


def admit(patch: Patch, evaluation: Evaluation, settings: Settings) -> Individual | None:
    """The individual that this evaluation makes, or None if the variant may not live."""
    time, error = evaluation.time, evaluation.error
    if not evaluation.ok or time is None or error is None or not math.isfinite(time):
        return None
    if not error <= settings.bound:
        return None
    if error <= settings.rounding:
        loose = any(edit.kind in settings.approximations for edit in patch)
        error = (settings.rounding or _LEAST) if loose else 0.0
    return Individual(patch, evaluation, time, error)


@lru_cache(maxsize=1 << 12)  # islands keep the same sets
def essence(patch: Patch) -> frozenset[Edit]:
    """What makes a patch worth judging anew: its edits, whose order seldom matters."""
    return frozenset(patch.edits)


def improves(child: Individual | None, parents: Sequence[Individual]) -> bool:
    """Whether a child is better than one of its parents, and no worse than the others."""
    if child is None:
        return False
    return any(child.dominates(parent) for parent in parents) and not any(
        parent.dominates(child) for parent in parents
    )


def points(individuals: Sequence[Individual]) -> nsga2.Points:
    """Their objectives as an array."""
    return np.array([(i.time, i.error) for i in individuals], np.float64).reshape(-1, 2)


def front(individuals: Iterable[Individual]) -> list[Individual]:
    """Those that no other dominates, fastest first; of equals, the one with the shortest patch.

    The result does not depend on the order of the individuals.
    """
    shortest: dict[tuple[float, float], Individual] = {}
    for one in individuals:
        held = shortest.get((one.time, one.error))
        if held is None or _simpler(one.patch, held.patch):
            shortest[one.time, one.error] = one
    return pareto(shortest.values(), lambda one: (one.time, one.error))


def pareto(items: Iterable[T], key: Callable[[T], tuple[Any, ...]]) -> list[T]:
    """The items that no other dominates, by the two objectives that their keys begin with.

    They are sorted by their keys; of those with equal objectives the first is kept.
    """
    best: list[T] = []
    for item in sorted(items, key=key):
        if not best or key(item)[1] < key(best[-1])[1]:
            best.append(item)
    return best


def _simpler(one: Patch, other: Patch) -> bool:
    """Whether a patch is shorter; of two that are as long, whether its text comes first."""
    if len(one) != len(other):
        return len(one) < len(other)
    for n, (mine, its) in enumerate(zip(one, other, strict=True)):
        if mine != its:  # its text mostly settles the order; that of the whole patch is costly
            a, b = str(mine), str(its)
            begins = a.startswith(b) or b.startswith(a)
            return str(one[n:]) < str(other[n:]) if begins else a < b
    return False


def survivors(candidates: Sequence[Individual], settings: Settings) -> list[Individual]:
    """The population that these candidates leave, best first.

    Many edits change nothing that the compiler keeps. Some such clones are welcome, since a later
    edit may build on them, but they must not fill the population: of each artefact only the few
    with the shortest patches live on.
    """
    kept: list[Individual] = []
    clones: dict[str, int] = {}
    for one in sorted(candidates, key=lambda i: len(i.patch)):
        artefact = one.evaluation.artefact or f"patch {one.patch}"
        clones[artefact] = clones.get(artefact, 0) + 1
        if clones[artefact] <= settings.clones:
            kept.append(one)
    return [kept[i] for i in nsga2.order(points(kept))[: settings.population]]
