"""The edit kind that exchanges a costly function for a cheap one of about the same shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.stablehlo.edit_kind import StablehloEdit
from gevolve.ir.stablehlo.resize import splat
from gevolve.ir.stablehlo.tensor import tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gevolve.ir.stablehlo.draft import StablehloDraft
    from gevolve.ir.stablehlo.sites import StablehloSites

LINES: dict[str, tuple[float, float, float, float]] = {
    "stablehlo.tanh": (1.0, 0.0, -1.0, 1.0),
    "stablehlo.logistic": (0.25, 0.5, 0.0, 1.0),
    "stablehlo.exponential": (0.5, 1.0, 0.0, 1e30),
    "stablehlo.log": (0.25, 0.0, -30.0, 30.0),
    "stablehlo.sine": (1.0, 0.0, -1.0, 1.0),
    "stablehlo.rsqrt": (-0.5, 1.5, 0.1, 10.0),
    "stablehlo.sqrt": (0.5, 0.5, 0.0, 1e30),
}
"""Functions and the straight line that takes the place of each: factor, offset, least and greatest value."""


@dataclass(frozen=True)
class Cheaper(StablehloEdit):
    """Exchange a function for a straight line between two bounds."""

    name = "cheaper"
    target: str

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        found = [id_ for id_, info in sites.index.info.items() if info.name in LINES]
        return [cls(id_) for id_ in sorted(found, key=lambda id_: -sites.cost(id_))]

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target = self.target
        info = draft.find(target, lambda info: info.name in LINES)
        kind = tensor(info.results[0])
        if kind is None or not kind.is_float:
            raise Skipped(f"{target} is not of real numbers")
        op = draft.op(target)
        emit = partial(draft.emit, target)
        factor, offset, low, high = (splat(kind, one, emit) for one in LINES[info.name])
        line = emit("multiply", kind, [op.operands[0], factor], {})
        line = emit("add", kind, [line, offset], {})
        line = emit("clamp", kind, [low, line, high], {})
        op.results[0].replace_all_uses_with(line)

    def describe(self, show: Show) -> str:
        return f"put a straight line in the place of {show(self.target)}"
