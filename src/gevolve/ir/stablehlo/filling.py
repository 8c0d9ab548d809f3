"""The edit kind that adds zeros to what a product sums: the same result, in a size that a machine does faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.stablehlo.edit_kind import StablehloEdit
from gevolve.ir.stablehlo.pruning import HEAVY, padded, summed, summed_dims
from gevolve.ir.stablehlo.slicing import Range, resized
from gevolve.ir.stablehlo.tensor import tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gevolve.ir.stablehlo.draft import StablehloDraft
    from gevolve.ir.stablehlo.sites import StablehloSites

MULTIPLES = (4, 2)
"""Sizes that machines like: what they take at once is a power of two."""
MOST = 64
"""No more zeros than this are added to a sum."""


@dataclass(frozen=True)
class Fill(StablehloEdit):
    """Let a matrix product or convolution sum zeros as well, up to a multiple of some number of channels."""

    name = "fill"
    target: str
    multiple: int

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        for id_ in sites.heavy:
            size = summed(sites.op(id_))
            sizes = {_next(size, multiple): multiple for multiple in MULTIPLES}
            yield from (cls(id_, multiple) for found, multiple in sizes.items() if found > size > 1)

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target = self.target
        draft.find(target, lambda info: info.name in HEAVY)
        op = draft.op(target)
        pair = summed_dims(op)
        kinds = [tensor(str(value.type)) for value in op.operands]
        if pair is None or kinds[0] is None or kinds[1] is None:
            raise Skipped(f"{target} sums over no channels")
        size = kinds[0].shape[pair[0]]
        wanted = _next(size, self.multiple) if self.multiple > 0 else size
        if not size < wanted <= size + MOST:
            raise Skipped(f"the {size} channels of {target} are not filled up to {wanted}")
        for number, dim in enumerate(pair):
            kind = kinds[number]
            assert kind is not None
            wider = resized(kind, dim, wanted)
            value = padded(draft, target, op.operands[number], wider, dim, Range(0, size))
            draft.set_operand(target, number, value)
        draft.retype_slots(target)

    def describe(self, show: Show) -> str:
        return f"sum zeros as well in {show(self.target)}, up to a multiple of {self.multiple} channels"


def _next(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple
