"""What the edit kinds of models have in common: their base, and what several of them do to a draft.

Inserted operations are named ``x`` and the edit's seed, so a later edit can find them whatever else is
in the patch.
"""

from collections.abc import Sequence
from typing import Self, TypeVar

import numpy as np

from gevolve.ir.edit_kind import EditKind, Skipped
from gevolve.ir.stablehlo.draft import StablehloDraft
from gevolve.ir.stablehlo.index import OpInfo
from gevolve.ir.stablehlo.sites import StablehloSites


class StablehloEdit(EditKind[StablehloSites, StablehloDraft]):
    """The base of edit kinds for models in StableHLO."""

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        """Draw an edit of this kind; of those that are worth trying unless the kind knows better."""
        return draw_from(list(cls.sweep(sites)), rng)


EditT = TypeVar("EditT", bound=StablehloEdit)


def draw_from(edits: Sequence[EditT], rng: np.random.Generator) -> EditT | None:
    """One of some edits, the first ones more often; None if there is none."""
    return edits[int(len(edits) * rng.random() ** 2)] if edits else None


def deletable(info: OpInfo) -> bool:
    return info.deletable


def movable(info: OpInfo) -> bool:
    return info.movable


def any_operation(info: OpInfo) -> bool:
    del info
    return True


def insert_copy(draft: StablehloDraft, source: str, before: str, seed: int) -> str:
    """Insert a repaired copy of an operation; returns its id."""
    draft.find(source, movable)
    name = f"x{seed:x}"
    if draft.get(name) is not None:
        raise Skipped(f"{name} is there already")
    draft.clone(source, name, before)
    draft.repair_inputs(name, seed)
    return name
