"""Draws operations to edit, in proportion to a guess of what they cost and how often they run.

Nothing counts how often a block of a model runs, and there is little to learn from it: a loop's trip
count is mostly a constant in its condition. So the weight of an operation comes from the text
alone, and it is mild, since a cheap operation (a learning rate, say) may matter as much.
"""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gevolve.ir.stablehlo.bypass import HEAVY, arithmetic, bypasses
from gevolve.ir.stablehlo.draft import CONSTANTS, StablehloDraft
from gevolve.ir.stablehlo.index import TERMINATORS, OpInfo, StablehloIndex
from gevolve.ir.stablehlo.tensor import tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from gevolve.ir.stablehlo.mlir import Op

TRIES = 64
"""How many operations are drawn by weight before all that are allowed are looked at."""
MOST_TRIPS = 10.0
"""The most trips that a loop counts for; also the guess if its trip count is not known."""
CONDITION = 0.05
"""The weight of a loop's condition, relative to its body: a changed condition may never end."""


class StablehloSites:
    """What edits are drawn from: the operations of a program, weighted by a guess of their cost."""

    def __init__(self, index: StablehloIndex) -> None:
        self.index = index
        self._draft = StablehloDraft(index)  # of the unedited program, to look values up in
        runs = {name: self._runs(name) for name in index.body}
        self._often = runs
        self._ids = list(index.info)
        weights = np.asarray(
            [runs[index.block_of[id_]] * _work(info) for id_, info in index.info.items()],
            np.float64,
        )
        self._sums = np.cumsum(weights) / weights.sum()
        self._sums[-1] = 1.0

    def draw(
        self,
        rng: np.random.Generator,
        allowed: Callable[[OpInfo], bool],
        *,
        other_than: str | None = None,
    ) -> str | None:
        """Draw an operation that is allowed; None if there is none."""
        info = self.index.info
        for _ in range(TRIES):
            found = self._ids[int(np.searchsorted(self._sums, rng.random(), side="right"))]
            if found != other_than and allowed(info[found]):
                return found
        rest = [id_ for id_ in self._ids if id_ != other_than and allowed(info[id_])]
        return rest[int(rng.integers(len(rest)))] if rest else None

    def follows(self, one: str, other: str) -> bool:
        """Whether the other operation comes right after the one."""
        body = self.index.body[self.index.block_of[one]]
        return body[body.index(one) + 1] == other

    def values(self, target: str, number: int, *, resized: bool) -> list[str]:
        """What an operand could be instead: values of its type, or those that can be made so."""
        slot = self.index.info[target].slots[number]
        now = self.index.operands[target][number]
        found = [
            name
            for name, kind in self._draft.values(target)
            if name != now and (kind != slot if resized else kind == slot)
        ]
        return found if resized else [*found, *CONSTANTS]

    def op(self, id_: str) -> Op:
        """An operation of the unedited program, which must not be changed."""
        return self._draft.op(id_)

    @cached_property
    def heavy(self) -> list[str]:
        """Matrix products and convolutions, the most costly first."""
        found = [id_ for id_, info in self.index.info.items() if info.name in HEAVY]
        return sorted(found, key=lambda id_: -self.cost(id_))

    @cached_property
    def bypasses(self) -> list[tuple[str, str]]:
        """Operations and the values that they could be skipped to, those that save most first."""
        return bypasses(self.index, self.cost)

    @cached_property
    def counters(self) -> dict[str, tuple[str, int]]:
        """By loop: the value in its body that counts its rounds from 0, and how many there are."""
        found: dict[str, tuple[str, int]] = {}
        for block, parent in self.index.parent_of.items():
            if parent is None or parent[1] or self.index.info[parent[0]].name != "stablehlo.while":
                continue
            for id_ in self.index.body[block]:
                names = self.index.operands[id_]
                if self.index.info[id_].name == "stablehlo.compare" and names[0].startswith("c"):
                    count = self._constant(names[1])
                    if count:
                        found[parent[0]] = f"b{names[0][1:]}", count
        return found

    def cost(self, id_: str) -> float:
        """A guess of what an operation costs over the whole run."""
        return self._often[self.index.block_of[id_]] * arithmetic(self.index.info[id_])

    def _runs(self, block: str) -> float:
        """How often a block runs, as far as the text says."""
        parent = self.index.parent_of[block]
        if parent is None:
            return 1.0
        outer = self._runs(self.index.block_of[parent[0]])
        if self.index.info[parent[0]].name != "stablehlo.while":
            return outer
        trips = (
            MOST_TRIPS
            if (count := self._trips(parent[0])) is None
            else min(MOST_TRIPS, float(count))
        )
        return outer * trips * (CONDITION if parent[1] == 0 else 1.0)

    def _trips(self, loop: str) -> int | None:
        """The bound of a counting loop, if it is a constant."""
        condition = next(b for b, h in self.index.parent_of.items() if h == (loop, 0))
        for id_ in self.index.body[condition]:
            if self.index.info[id_].name == "stablehlo.compare":
                for name in self.index.operands[id_]:
                    count = self._constant(name)
                    if count is not None:
                        return count
        return None

    def _constant(self, name: str) -> int | None:
        op = self._draft.get(name)
        if op is None or op.name != "stablehlo.constant" or not self.index.info[name].scalable:
            return None
        found = re.search(r"dense<(\d+)>", str(op.attributes["value"]))
        return int(found[1]) if found else None


def _work(info: OpInfo) -> float:
    """A mild measure of what an operation costs: 1 for a scalar, 4 for a million elements."""
    if info.name in TERMINATORS:
        return 1.0
    elements = max((kind.count for kind in map(tensor, info.results) if kind), default=1)
    if info.name in {"stablehlo.dot_general", "stablehlo.convolution"}:
        elements *= 64
    return 1.0 + math.log10(max(1, elements)) / 2
