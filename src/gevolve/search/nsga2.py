"""NSGA-II's order of merit for variants with two objectives, both to be made small.

Variants are compared by their rank (how many layers of better ones lie before them), then by how
lonely they are within it, so that a front is kept whole and spread out. Everything else follows
from the order: to survive is to come early in it, and a tournament goes to whoever comes first.
"""

from typing import Any

import moocore  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
"""One row per variant, one column per objective."""

_moocore: Any = moocore  # it has no types


def ranks(points: Points) -> npt.NDArray[np.int64]:
    """The rank of each point: 0 if no other dominates it, 1 if only those of rank 0 do, and so on.

    Points that are equal have equal ranks.
    """
    if len(points) == 0:
        return np.zeros(0, np.int64)
    return np.asarray(_moocore.pareto_rank(points), np.int64)


def crowding(points: Points) -> npt.NDArray[np.float64]:
    """How lonely each point of one rank is; infinite at both ends, 0 for a repeat of another.

    Only the first of several equal points counts: otherwise all of them would look crowded, and a
    point that happened to be found twice would be lost before one that was found once.
    """
    distance = np.zeros(len(points))
    unique, first = np.unique(points, axis=0, return_index=True)  # sorted by the first objective
    spans = [float(np.ptp(column)) or 1.0 for column in unique.T]
    distance[first[[0, -1]]] = np.inf
    for i in range(1, len(unique) - 1):
        gaps = np.abs(unique[i + 1] - unique[i - 1])
        distance[first[i]] = sum(float(g) / s for g, s in zip(gaps, spans, strict=True))
    return distance


def order(points: Points) -> list[int]:
    """Indices of all points, best first: by rank, then loneliness, then as they were given."""
    rank = ranks(points)
    lonely = np.zeros(len(points))
    for value in np.unique(rank):
        members = np.flatnonzero(rank == value)
        lonely[members] = crowding(points[members])
    return sorted(range(len(points)), key=lambda i: (int(rank[i]), -float(lonely[i])))


def tournament(size: int, rng: np.random.Generator) -> int:
    """Draw two of `size` variants that are sorted best first, and return the better one's index."""
    return int(rng.integers(0, size, 2).min())


def hypervolume(points: Points) -> float:
    """The area that the points dominate within the unit square."""
    return float(_moocore.hypervolume(points, ref=[1.0, 1.0])) if len(points) else 0.0
