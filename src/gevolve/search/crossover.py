"""Two patches become two others, made of the same edits."""

from collections.abc import Callable, Sequence

import numpy as np

from gevolve.patch import Edit, Patch
from gevolve.search.settings import CrossoverKind


def messy(a: Patch, b: Patch, rng: np.random.Generator) -> tuple[Patch, Patch]:
    """Join the edits of both, shuffle them, and cut the list in two at a random point.

    Every edit of the parents is in exactly one child, so the children's lengths vary freely.
    """
    edits = _shuffle((a + b).edits, rng)
    cut = int(rng.integers(0, len(edits) + 1))
    return Patch(edits[:cut]), Patch(edits[cut:])


def shared(a: Patch, b: Patch, rng: np.random.Generator) -> tuple[Patch, Patch]:
    """Give what the parents share to both children, and deal out the rest by shuffle and cut.

    What both parents kept has proved itself, perhaps only in company, so no child loses it. Edits
    keep the order that they had in their parent, since a later edit may build on an earlier one.
    """
    everything = tuple(dict.fromkeys((a + b).edits))
    both = set(a) & set(b)
    rest = _shuffle([edit for edit in everything if edit not in both], rng)
    cut = int(rng.integers(1, len(rest))) if len(rest) > 1 else len(rest)
    first = set(rest[:cut])

    def keep(wanted: Callable[[Edit], bool]) -> Patch:
        return Patch(tuple(edit for edit in everything if edit in both or wanted(edit)))

    return keep(lambda edit: edit in first), keep(lambda edit: edit not in first)


def _shuffle(edits: Sequence[Edit], rng: np.random.Generator) -> tuple[Edit, ...]:
    # Sorting random keys uses the plainest of numpy's streams, the least likely ever to change.
    order: list[int] = np.argsort(rng.random(len(edits)), kind="stable").tolist()
    return tuple(edits[i] for i in order)


Crossover = Callable[[Patch, Patch, np.random.Generator], tuple[Patch, Patch]]
CROSSOVERS: dict[CrossoverKind, Crossover] = {"messy": messy, "shared": shared}
