"""Local search: neighbours of one patch, which add, drop or exchange edits."""

from collections.abc import Callable, Collection

import numpy as np

from gevolve.patch import Edit, Patch

Draw = Callable[[], Collection[Edit]]
"""Proposes edits to be added together."""
DROP, ADD = 0.25, 0.55
"""The shares of neighbours that only drop, and that only add; the others do both."""
LONG = 6
"""A patch with more edits than this loses several at a time, up to half of them."""


def neighbor(
    patch: Patch, paid: Collection[Edit], most: int, draw: Draw, rng: np.random.Generator
) -> tuple[Patch, tuple[str, ...]]:
    """A patch that differs by an edit or a few; also returns the kinds of the edits that are new in it.

    Edits that did not pay alone are the first to be dropped, so that what is left is short.
    """
    choice = rng.random()
    if len(patch) > 1 and (choice < DROP or choice >= DROP + ADD or len(patch) >= most):
        patch = _shorter(patch, paid, rng, one=choice >= DROP)
        if choice < DROP:
            return patch, ()
    new = [edit for edit in draw() if edit not in patch.edits][: max(1, most - len(patch))]
    return patch + Patch(tuple(new)), tuple(edit.kind for edit in new)


def _shorter(patch: Patch, paid: Collection[Edit], rng: np.random.Generator, *, one: bool) -> Patch:
    """The patch without one edit, or without a run of edits if it is long."""
    idle = [n for n, edit in enumerate(patch) if edit not in paid]
    places = idle if idle and rng.random() < 0.75 else list(range(len(patch)))
    size = 1
    if len(patch) > LONG and not one:
        size = max(1, len(places) >> int(rng.integers(1, 5)))
    first = int(rng.integers(len(places) - size + 1))
    gone = {*places[first : first + size]}
    if len(gone) == len(patch):
        gone.pop()
    return Patch(tuple(edit for n, edit in enumerate(patch) if n not in gone))
