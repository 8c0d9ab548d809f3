"""Edit kinds that have the same product computed in another form, which a machine may do faster.

A compiler has its own way for products of each size, and is bad at some: of two that do the same work one may take three
times as long. Products of one size are alike, so each form is tried on all of them at once. These edits come after all
others, and several may be put on one product.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.stablehlo.draft import StablehloDraft, has_uses
from gevolve.ir.stablehlo.edit_kind import StablehloEdit, draw_from
from gevolve.ir.stablehlo.mlir import Attribute, Op, Value, context, ir, named
from gevolve.ir.stablehlo.pruning import HEAVY, padded, summed, summed_dims
from gevolve.ir.stablehlo.resize import splat, whole_numbers
from gevolve.ir.stablehlo.slicing import (
    Range,
    operand_dims,
    part_of,
    product_dims,
    resized,
    window_of,
)
from gevolve.ir.stablehlo.tensor import Tensor, tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from gevolve.ir.stablehlo.sites import StablehloSites

PRODUCT = "stablehlo.dot_general"
MOST = 64
"""No more zeros than this are added to a dimension."""
LEAST = 4
"""A sum is split into parts of no fewer terms than this."""


class ProductEdit(StablehloEdit):
    """The base of edits that put a matrix product or convolution into another form."""

    # Edits that leave a part of it out, say, should not have to know of the form.
    last = True
    names: ClassVar[tuple[str, ...]] = HEAVY
    """The operations that it is for."""
    target: str

    @classmethod
    @abstractmethod
    def forms(cls, id_: str, op: Op) -> Sequence[Self]:
        """The forms that are worth trying on a product, the best bets first."""

    @abstractmethod
    def change(self, draft: StablehloDraft, product: str) -> None:
        """Put what stands for the target now into the form; raises `Skipped`."""

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        found = (cls.forms(id_, sites.op(id_)) for id_ in sites.heavy if cls._is_for(sites, id_))
        return draw_from([edit for forms in found for edit in forms], rng)

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        """Each form on the products that have a size of their own."""
        return [bundle[0] for bundle in cls._lots(sites) if len(bundle) == 1]

    @classmethod
    def bundles(cls, sites: StablehloSites) -> Iterable[Iterable[Self]]:
        """Each form on all products of one size, which are alike to a compiler."""
        return [bundle for bundle in cls._lots(sites) if len(bundle) > 1]

    @classmethod
    def _lots(cls, sites: StablehloSites) -> list[tuple[Self, ...]]:
        alike: dict[object, list[Sequence[Self]]] = {}
        for id_ in sites.heavy:
            if cls._is_for(sites, id_):
                info, op = sites.index.info[id_], sites.op(id_)
                size = info.name, info.results, *(str(value.type) for value in op.operands)
                alike.setdefault(size, []).append(cls.forms(id_, op))
        return [lot for forms in alike.values() for lot in zip(*forms, strict=False)]

    @classmethod
    def _is_for(cls, sites: StablehloSites, id_: str) -> bool:
        return sites.index.info[id_].name in cls.names

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        draft.find(self.target, lambda info: info.name in self.names)
        product = draft.products.get(self.target, self.target)
        if not has_uses(draft.op(product).results[0]):
            raise Skipped(f"nothing uses {self.target}")
        self.change(draft, product)

    def _stands_for(self, draft: StablehloDraft, product: str, made: str, whole: Value) -> None:
        """Let another product compute what the users of one need."""
        for use in list(draft.op(product).results[0].uses):
            use.owner.operation.operands[use.operand_number] = whole
        draft.products[self.target] = made


@dataclass(frozen=True)
class Fill(ProductEdit):
    """Let a matrix product or convolution sum zeros as well, up to a multiple of some number of channels."""

    name = "fill"
    target: str
    multiple: int

    @classmethod
    def forms(cls, id_: str, op: Op) -> Sequence[Self]:
        return [cls(id_, multiple) for multiple in _fillings(summed(op), (4, 2, 64))]

    def change(self, draft: StablehloDraft, product: str) -> None:
        op = draft.op(product)
        pair = summed_dims(op)
        if pair is None:
            raise Skipped(f"{self.target} sums over no channels")
        wanted = _filled(self.target, summed(op), self.multiple)
        for number, dim in enumerate(pair):
            wider = _with_zeros(draft, product, op.operands[number], dim, wanted)
            draft.set_operand(product, number, wider)
        draft.retype_slots(product)

    def describe(self, show: Show) -> str:
        return f"sum zeros as well in {show(self.target)}, up to a multiple of {self.multiple} channels"


@dataclass(frozen=True)
class Widen(ProductEdit):
    """Let a matrix product or convolution compute columns of zeros as well, up to a multiple of some number."""

    name = "widen"
    target: str
    multiple: int

    @classmethod
    def forms(cls, id_: str, op: Op) -> Sequence[Self]:
        found = _column(op)
        return [] if found is None else [cls(id_, n) for n in _fillings(found[3], (64, 16))]

    def change(self, draft: StablehloDraft, product: str) -> None:
        op = draft.op(product)
        found = _column(op)
        if found is None:
            raise Skipped(f"{self.target} has no columns of its own")
        dim, number, at, size = found
        wanted = _filled(self.target, size, self.multiple)
        before = draft.after(product)
        operands = list(op.operands)
        operands[number] = _with_zeros(draft, before, operands[number], at, wanted)
        kind = _kind(op.results[0])
        made = _again(draft, before, op, operands, resized(kind, dim, wanted), {})
        value = draft.op(made).results[0]
        whole = part_of(value, dim, Range(0, size), partial(draft.emit, before))
        self._stands_for(draft, product, made, whole)

    def describe(self, show: Show) -> str:
        return f"compute columns of zeros as well in {show(self.target)}, up to a multiple of {self.multiple}"


@dataclass(frozen=True)
class Split(ProductEdit):
    """Compute the parts of a matrix product's sums side by side, and add them up afterwards."""

    name = "split"
    names = (PRODUCT,)
    target: str
    parts: int

    @classmethod
    def forms(cls, id_: str, op: Op) -> Sequence[Self]:
        size = summed(op)
        return [cls(id_, parts) for parts in (4, 16) if size % parts == 0 and size >= LEAST * parts]

    def change(self, draft: StablehloDraft, product: str) -> None:
        op = draft.op(product)
        pair = summed_dims(op)
        size = summed(op)
        if pair is None or self.parts < 2 or size % self.parts or size == self.parts:
            raise Skipped(f"the {size} terms of {self.target} are not split into {self.parts}")
        before = draft.after(product)
        batches, summed_over = product_dims(op)
        operands: list[Value] = []
        numbers: list[tuple[list[int], list[int]]] = []
        for value, dim, batch, over in zip(op.operands, pair, batches, summed_over, strict=True):
            kind = _kind(value)
            shape = (*kind.shape[:dim], self.parts, size // self.parts, *kind.shape[dim + 1 :])
            operands.append(draft.emit(before, "reshape", replace(kind, shape=shape), [value], {}))
            numbers.append(([dim, *_moved(batch, dim)], _moved(over, dim)))
        kind = _kind(op.results[0])
        wide = replace(kind, shape=(self.parts, *kind.shape))
        made = _again(draft, before, op, operands, wide, {"dot_dimension_numbers": _dot(*numbers)})
        whole = _sum_of_first(draft, before, draft.op(made).results[0], kind)
        self._stands_for(draft, product, made, whole)

    def describe(self, show: Show) -> str:
        return f"sum {show(self.target)} in {self.parts} parts side by side, then add them"


@dataclass(frozen=True)
class Turn(ProductEdit):
    """Compute a matrix product the other way round: rows become columns, and are turned back afterwards."""

    name = "turn"
    names = (PRODUCT,)
    target: str

    @classmethod
    def forms(cls, id_: str, op: Op) -> Sequence[Self]:
        return [cls(id_)] if all(_own(op)) else []

    def change(self, draft: StablehloDraft, product: str) -> None:
        op = draft.op(product)
        before = draft.after(product)
        batches, summed_over = product_dims(op)
        rows, columns = _own(op)
        count = len(batches[0])
        kind = _kind(op.results[0])
        places = [*range(count), *range(count + rows, count + rows + columns)]
        places += range(count, count + rows)
        turned = replace(kind, shape=tuple(kind.shape[at] for at in places))
        sides = list(zip(batches, summed_over, strict=True))
        attributes = {"dot_dimension_numbers": _dot(sides[1], sides[0])}
        if "precision_config" in op.attributes:
            both = reversed(list(op.attributes["precision_config"]))
            attributes["precision_config"] = ir.ArrayAttr.get(list(both), context())
        operands = [op.operands[1], op.operands[0]]
        made = _again(draft, before, op, operands, turned, attributes)
        back = whole_numbers([places.index(at) for at in range(len(places))])
        value = draft.op(made).results[0]
        whole = draft.emit(before, "transpose", kind, [value], {"permutation": back})
        self._stands_for(draft, product, made, whole)

    def describe(self, show: Show) -> str:
        return f"compute {show(self.target)} with rows as columns, and turn it back"


def _kind(value: Value) -> Tensor:
    kind = tensor(str(value.type))
    if kind is None:
        raise Skipped(f"a {value.type} has no other form")
    return kind


def _again(
    draft: StablehloDraft,
    before: str,
    op: Op,
    operands: Sequence[Value],
    kind: Tensor,
    attributes: dict[str, Attribute],
) -> str:
    """The same operation on other operands, before another one; returns its id."""
    new = op.clone(ip=ir.InsertionPoint(draft.op(before))).operation
    made = draft.hide(new, before)
    new.location = named(f"r{made[1:]}")
    for number, value in enumerate(operands):
        new.operands[number] = value
    new.results[0].set_type(kind.native)
    for name, attribute in attributes.items():
        new.attributes[name] = attribute
    draft.retype_slots(made)
    return made


def _own(op: Op) -> tuple[int, int]:
    """How many dimensions of a product come from each of its operands alone."""
    batches, summed_over = product_dims(op)
    left, right = (
        len(_kind(value).shape) - len(batch) - len(over)
        for value, batch, over in zip(op.operands, batches, summed_over, strict=True)
    )
    return left, right


def _column(op: Op) -> tuple[int, int, int, int] | None:
    """Where the columns of a result come from: its dimension, the operand and its dimension, and their number."""
    kind = tensor(str(op.results[0].type))
    if kind is None or not kind.shape:
        return None
    is_product = op.name == PRODUCT
    if not is_product and window_of(op).groups != 1:
        return None
    dim = len(kind.shape) - 1 if is_product else window_of(op).out_feature
    found = operand_dims(op, dim)
    if found is None or len(found) != 1:
        return None
    return dim, *found[0], kind.shape[dim]


def _fillings(size: int, multiples: Sequence[int]) -> list[int]:
    """The multiples that a size could be filled up to, each giving another size that is not twice as large."""
    found = {_next(size, multiple): multiple for multiple in multiples}
    return [multiple for wanted, multiple in found.items() if size < wanted < 2 * size]


def _filled(target: str, size: int, multiple: int) -> int:
    wanted = _next(size, multiple) if multiple > 0 else size
    if not size < wanted <= size + MOST:
        raise Skipped(f"the {size} channels of {target} are not filled up to {wanted}")
    return wanted


def _next(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _with_zeros(draft: StablehloDraft, before: str, value: Value, dim: int, wanted: int) -> Value:
    kind = _kind(value)
    wider = resized(kind, dim, wanted)
    return padded(draft, before, value, wider, dim, Range(0, kind.shape[dim]))


def _moved(dims: Sequence[int], split: int) -> list[int]:
    """Dimensions of an operand in which one has become two, of which the second is meant."""
    return [dim + (dim >= split) for dim in dims]


def _dot(
    left: tuple[Sequence[int], Sequence[int]], right: tuple[Sequence[int], Sequence[int]]
) -> Attribute:
    """What a product takes together and sums over, of both operands."""
    fields = {
        "lhs_batching_dimensions": left[0],
        "rhs_batching_dimensions": right[0],
        "lhs_contracting_dimensions": left[1],
        "rhs_contracting_dimensions": right[1],
    }
    text = ", ".join(f"{name} = {list(dims)}" for name, dims in fields.items())
    return ir.Attribute.parse(f"#stablehlo.dot<{text}>", context())


def _sum_of_first(draft: StablehloDraft, before: str, value: Value, kind: Tensor) -> Value:
    """The sum of a value over its first dimension."""
    single = Tensor((), kind.element)
    zero = splat(single, 0, partial(draft.emit, before))
    total = draft.emit(before, "reduce", kind, [value, zero], {"dimensions": whole_numbers([0])}, 1)
    owner = total.owner.operation
    block = owner.regions[0].blocks.append(*[single.native] * 2, arg_locs=[owner.location] * 2)
    with ir.InsertionPoint(block), owner.location:
        added = ir.Operation.create(
            "stablehlo.add", results=[single.native], operands=list(block.arguments)
        )
        ir.Operation.create("stablehlo.return", operands=[added.results[0]])
    return total
