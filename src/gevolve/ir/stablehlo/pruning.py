"""Edit kinds that leave out a part of the work: whole blocks, channels, taps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.stablehlo.draft import StablehloDraft, has_uses
from gevolve.ir.stablehlo.edit_kind import StablehloEdit, deletable
from gevolve.ir.stablehlo.mlir import Attribute, Op, Value, context, ir
from gevolve.ir.stablehlo.resize import splat
from gevolve.ir.stablehlo.slicing import (
    Range,
    Slicing,
    operand_dims,
    product_dims,
    window_of,
)
from gevolve.ir.stablehlo.tensor import Tensor, tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gevolve.ir.stablehlo.sites import StablehloSites

PARTS = ((0, 6), (2, 8), (0, 4), (4, 8), (0, 7), (1, 8), (0, 2))
"""The ranges that are kept, in eighths of the whole."""
SHARED = ((1, 7), (0, 6), (2, 8), (2, 6), (0, 4), (4, 8))
"""Those of a dimension that several products share."""
LEAST = 8
"""Dimensions smaller than this are left whole."""
HEAVY = ("stablehlo.dot_general", "stablehlo.convolution")


@dataclass(frozen=True)
class Skip(StablehloEdit):
    """Let everything that uses an operation use a value that was there before: a block is left out."""

    name = "skip"
    target: str
    value: str

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        return [cls(target, value) for target, value in sites.bypasses]

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        info = draft.find(self.target, deletable)
        if len(info.results) != 1:
            raise Skipped(f"{self.target} has {len(info.results)} results")
        name = self.value
        while name in draft.skipped:  # else the block before would be needed again
            name = draft.skipped[name]
        value, op = draft.value(name), draft.op(self.target)
        if value is None or name == self.target:
            raise Skipped(f"{name} is gone")
        if tensor(str(value.type)) is None or not draft.available(value, op):
            raise Skipped(f"{name} is not available at {self.target}")
        if not has_uses(op.results[0]):
            raise Skipped(f"nothing uses {self.target}")
        op.results[0].replace_all_uses_with(draft.fit(value, info.results[0], self.target))
        draft.skipped[self.target] = name

    def describe(self, show: Show) -> str:
        return f"skip from {show(self.value)} past {show(self.target)}"


@dataclass(frozen=True)
class Contract(StablehloEdit):
    """Sum a matrix product or convolution over a part of its channels only."""

    name = "contract"
    target: str
    start: int
    limit: int

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        for low, high in PARTS:
            for id_ in sites.heavy:
                size = summed(sites.op(id_))
                if size >= LEAST:
                    yield cls(id_, size * low // 8, size * high // 8)

    @classmethod
    def bundles(cls, sites: StablehloSites) -> Iterable[Iterable[StablehloEdit]]:
        """Channels that one product sums over and others keep, as the slope of weights does: left out of all of them."""
        found = list(_shared(sites))
        for low, high in SHARED:
            for id_, size, others in found:
                kept = size * low // 8, size * high // 8
                yield [cls(id_, *kept), *(Part(other, dim, *kept) for other, dim in others)]

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target = self.target
        draft.find(target, lambda info: info.name in HEAVY)
        op = draft.op(target)
        pairs = summed_dims(op)
        if pairs is None:
            raise Skipped(f"{target} sums over no channels")
        kept = _range(target, self.start, self.limit, _size(op.operands[0], pairs[0]))
        cut = Slicing(draft, target, kept).cut(
            [(op.operands[0], pairs[0]), (op.operands[1], pairs[1])]
        )
        for number, value in enumerate(cut):
            draft.set_operand(target, number, value)
        draft.retype_slots(target)

    def describe(self, show: Show) -> str:
        return f"sum {show(self.target)} over channels {self.start} to {self.limit - 1} only"


@dataclass(frozen=True)
class Part(StablehloEdit):
    """Compute only a part of a matrix product or convolution, along one dimension; the rest is zero."""

    name = "part"
    target: str
    dim: int
    start: int
    limit: int

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        for low, high in PARTS:
            for id_ in sites.heavy:
                kind = tensor(sites.index.info[id_].results[0])
                for dim, size in enumerate(kind.shape if kind else ()):
                    if size >= LEAST and dim in _own_dims(sites.op(id_)):
                        yield cls(id_, dim, size * low // 8, size * high // 8)

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target = self.target
        info = draft.find(target, lambda info: info.name in HEAVY)
        kind = tensor(info.results[0])
        if kind is None or not 0 <= self.dim < len(kind.shape):
            raise Skipped(f"{target} has no dimension {self.dim}")
        kept = _range(target, self.start, self.limit, kind.shape[self.dim])
        result = draft.op(target).results[0]
        if not has_uses(result):
            raise Skipped(f"nothing uses {target}")
        following = draft.after(target)
        users = [(use.owner, use.operand_number) for use in result.uses]
        slicing = Slicing(draft, following, kept, draft.op(target))
        (part,) = slicing.cut([(result, self.dim)])
        whole = padded(draft, following, part, kind, self.dim, kept)
        for user, number in users:
            user.operation.operands[number] = whole

    def describe(self, show: Show) -> str:
        return (
            f"compute {show(self.target)} at {self.start} to {self.limit - 1} of dimension"
            f" {self.dim} only, the rest is 0"
        )


@dataclass(frozen=True)
class Taps(StablehloEdit):
    """Leave out the outer taps of a convolution's window, in one direction."""

    name = "taps"
    target: str
    axis: int
    start: int
    limit: int

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        for id_ in sites.heavy:
            if sites.index.info[id_].name == "stablehlo.convolution":
                for axis, size in enumerate(_taps(sites.op(id_))):
                    if size > 1:
                        yield cls(id_, axis, 1, size)
                        yield cls(id_, axis, 0, size - 1)
                        if size > 2:
                            yield cls(id_, axis, size // 2, size // 2 + 1)

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target = self.target
        draft.find(target, lambda info: info.name == "stablehlo.convolution")
        op = draft.op(target)
        sizes = _taps(op)
        if not 0 <= self.axis < len(sizes):
            raise Skipped(f"{target} has no axis {self.axis}")
        kept = _range(target, self.start, self.limit, sizes[self.axis])
        dim = window_of(op).kernel_space[self.axis]
        (kernel,) = Slicing(draft, target, kept).cut([(op.operands[1], dim)])
        step = _numbers(op, "rhs_dilation", len(sizes))[self.axis]
        padding = _padding(op, len(sizes))
        padding[self.axis][0] -= kept.start * step
        padding[self.axis][1] -= (sizes[self.axis] - kept.limit) * step
        shape = f"tensor<{len(sizes)}x2xi64>"
        op.attributes["padding"] = ir.Attribute.parse(f"dense<{padding}> : {shape}", context())
        draft.set_operand(target, 1, kernel)
        draft.retype_slots(target)

    def describe(self, show: Show) -> str:
        return f"use taps {self.start} to {self.limit - 1} of axis {self.axis} of {show(self.target)} only"


def _shared(sites: StablehloSites) -> Iterator[tuple[str, int, list[tuple[str, int]]]]:
    """Matrix products, how many channels each sums over, and the products that keep these, with their dimension of them."""
    ops = {id_: sites.op(id_) for id_ in sites.heavy}
    products = {id_: op for id_, op in ops.items() if op.name == "stablehlo.dot_general"}
    kept = [
        (value, at, id_, dim)
        for id_, op in products.items()
        for dim in _own_dims(op)
        for number, at in operand_dims(op, dim) or ()
        for value in [op.operands[number]]
    ]
    for id_, op in products.items():
        dims = summed_dims(op)
        size = summed(op)
        if dims is None or size < LEAST:
            continue
        both = list(zip(op.operands, dims, strict=True))
        others = [
            (other, dim)
            for value, at, other, dim in kept
            if other != id_ and any(value == own and at == its for own, its in both)
        ]
        if others:
            yield id_, size, others


def summed(op: Op) -> int:
    """Over how many channels an operation sums; 0 if that cannot be made less."""
    dims = summed_dims(op)
    return 0 if dims is None else _size(op.operands[0], dims[0])


def summed_dims(op: Op) -> tuple[int, int] | None:
    """The dimensions of both operands that are summed over."""
    if op.name == "stablehlo.dot_general":
        left, right = product_dims(op)[1]
        return (left[0], right[0]) if left else None
    window = window_of(op)
    alone = window.groups != 1 or window.batch_groups != 1
    return None if alone else (window.feature, window.kernel_in)


def _own_dims(op: Op) -> list[int]:
    """The dimensions of a result that are no batch: what is left out there costs all examples alike."""
    if op.name == "stablehlo.convolution":
        return [window_of(op).out_feature]
    kind = tensor(str(op.results[0].type))
    return list(range(max(1, len(product_dims(op)[0][0])), len(kind.shape) if kind else 0))


def _size(value: Value, dim: int) -> int:
    kind = tensor(str(value.type))
    return kind.shape[dim] if kind else 0


def _range(target: str, start: int, limit: int, size: int) -> Range:
    if not 0 <= start < limit <= size or limit - start == size:
        raise Skipped(f"{start} to {limit} is no part of the {size} of {target}")
    return Range(start, limit)


def padded(
    draft: StablehloDraft, before: str, part: Value, kind: Tensor, dim: int, kept: Range
) -> Value:
    """A part of a tensor of some type, with zeros where the rest would be."""
    zero = splat(Tensor((), kind.element), 0, partial(draft.emit, before))
    rank = len(kind.shape)

    def around(size: int) -> Attribute:
        return ir.DenseI64ArrayAttr.get([size * (at == dim) for at in range(rank)], context())

    attributes = {
        "edge_padding_low": around(kept.start),
        "edge_padding_high": around(kind.shape[dim] - kept.limit),
        "interior_padding": around(0),
    }
    return draft.emit(before, "pad", kind, [part, zero], attributes)


def _taps(op: Op) -> list[int]:
    kernel = tensor(str(op.operands[1].type))
    return [kernel.shape[dim] for dim in window_of(op).kernel_space] if kernel else []


def _numbers(op: Op, name: str, count: int) -> list[int]:
    if name not in op.attributes:
        return [1] * count
    return [int(one) for one in ir.DenseI64ArrayAttr(op.attributes[name])]


def _padding(op: Op, count: int) -> list[list[int]]:
    if "padding" not in op.attributes:
        return [[0, 0] for _ in range(count)]
    flat = [int(one) for one in ir.DenseIntElementsAttr(op.attributes["padding"])]
    return [flat[2 * at : 2 * at + 2] for at in range(count)]
