"""One patch becomes another: an edit more, an edit less, or the same edit repaired another way."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gevolve.patch import PLAIN, Edit, Patch
from gevolve.search.settings import Settings

Draw = Callable[[], Edit | None]
"""Proposes a new edit of the program, or None if there is none."""


def append(patch: Patch, edit: Edit) -> Patch:
    """Add an edit at the end, where it sees the effect of all others."""
    return patch + Patch((edit,))


def drop(patch: Patch, rng: np.random.Generator) -> Patch:
    """Remove one edit."""
    gone = int(rng.integers(len(patch)))
    return patch[:gone] + patch[gone + 1 :]


def reseed(patch: Patch, rng: np.random.Generator) -> Patch:
    """Let one edit make its repair choices anew, at the same place, if there is one that has any."""
    free = [n for n, edit in enumerate(patch) if edit.seed != PLAIN]
    if not free:
        return patch
    at = free[int(rng.integers(len(free)))]
    edit = replace(patch[at], seed=int(rng.integers(1 << 32)))
    return patch[:at] + Patch((edit,)) + patch[at + 1 :]


def mutate(
    patch: Patch, settings: Settings, draw: Draw, rng: np.random.Generator
) -> tuple[Patch, tuple[str, ...]]:
    """Change a patch a little; also returns the kinds of the edits that are new in it."""
    choice = rng.random()
    if len(patch) >= settings.max_edits:
        choice = settings.append + choice * (1 - settings.append)
    if not patch.edits or choice < settings.append:
        edit = draw()
        return (patch, ()) if edit is None else (append(patch, edit), (edit.kind,))
    if choice < settings.append + settings.drop:
        return drop(patch, rng), ()
    return reseed(patch, rng), ()
