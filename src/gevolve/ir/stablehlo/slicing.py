"""A part of a tensor along one dimension, made where the tensor is made: structured pruning.

To take a range of channels from a value it would do to slice it, but then all of it is still computed. So the slice
moves up: through elementwise operations, broadcasts, pads and transposes into the operands of matrix products and
convolutions. It stops where something else needs the whole value, and there it is an ordinary slice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from gevolve.ir.stablehlo.mlir import Op, Value, context, ir, named
from gevolve.ir.stablehlo.resize import whole_numbers
from gevolve.ir.stablehlo.tensor import Tensor, tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.ir.stablehlo.draft import StablehloDraft
    from gevolve.ir.stablehlo.resize import Emit

ELEMENTWISE = frozenset(
    f"stablehlo.{name}"
    for name in [
        *("abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "compare", "convert", "cosine"),
        *("divide", "exponential", "exponential_minus_one", "floor", "is_finite", "log"),
        *("log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or"),
        *("power", "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt", "select"),
        *("sign", "sine", "sqrt", "subtract", "tan", "tanh", "xor"),
    ]
)
MOST = 256
"""No more operations than this are looked at."""
_CHEAP = frozenset({"stablehlo.constant", "stablehlo.broadcast_in_dim", "stablehlo.iota"})


@dataclass(frozen=True, slots=True)
class Range:
    """From where to where."""

    start: int
    limit: int

    @property
    def size(self) -> int:
        return self.limit - self.start


class Slicing:
    """Takes the same range of one value, and of what it is made from, before one operation of a draft."""

    def __init__(
        self, draft: StablehloDraft, before: str, kept: Range, replaced: Op | None = None
    ) -> None:
        """What uses `replaced` will use the part, so nobody else needs that."""
        self._draft = draft
        self._replaced = replaced
        self._before = before
        self._place = draft.op(before)
        self._kept = kept
        self._planned: list[tuple[Op, int]] = []
        self._made: list[tuple[Value, int, Value]] = []

    def cut(self, pairs: Sequence[tuple[Value, int]]) -> list[Value]:
        """These values, each cut along a dimension."""
        self._plan(pairs)
        return [self._cut(value, dim) for value, dim in pairs]

    def _plan(self, pairs: Sequence[tuple[Value, int]]) -> None:
        """Find the operations that need only give a part: those that nobody else needs."""
        barred: list[Op] = []
        while True:
            found = self._reach(pairs, barred)
            outside = [op for op, _ in found if op.name not in _CHEAP and self._needed(op, found)]
            if not outside:
                self._planned = found
                return
            barred += outside

    def _reach(
        self, pairs: Sequence[tuple[Value, int]], barred: Sequence[Op]
    ) -> list[tuple[Op, int]]:
        found: list[tuple[Op, int]] = []
        todo = [*pairs]
        while todo and len(found) < MOST:
            value, dim = todo.pop()
            owner = value.owner
            if isinstance(owner, ir.Block):
                continue
            op = owner.operation
            if op in barred or op.block != self._place.block or (op, dim) in found:
                continue
            inside = operand_dims(op, dim)
            if inside is None or any(other == op for other, _ in found):
                continue
            found.append((op, dim))
            todo += [(op.operands[number], at) for number, at in inside]
        return found

    def _needed(self, op: Op, found: Sequence[tuple[Op, int]]) -> bool:
        """Whether anything needs all of a result."""
        if self._replaced is not None and op == self._replaced:
            return False
        users = [use.owner.operation for result in op.results for use in result.uses]
        return any(
            user != self._place and not any(other == user for other, _ in found) for user in users
        )

    def _cut(self, value: Value, dim: int) -> Value:
        for known, at, made in self._made:
            if known == value and at == dim:
                return made
        owner = value.owner
        op = None if isinstance(owner, ir.Block) else owner.operation
        if op is not None and (op, dim) in self._planned:
            made = self._smaller(op, dim)
        else:
            made = part_of(value, dim, self._kept, partial(self._draft.emit, self._before))
        self._made.append((value, dim, made))
        return made

    def _smaller(self, op: Op, dim: int) -> Value:
        """The same operation on cut operands."""
        operands = list(op.operands)
        for number, at in operand_dims(op, dim) or ():
            operands[number] = self._cut(operands[number], at)
        new = op.clone(ip=ir.InsertionPoint(self._place)).operation
        new.location = named(f"r{self._draft.hide(new, self._before)[1:]}")
        for number, value in enumerate(operands):
            new.operands[number] = value
        kind = tensor(str(op.results[0].type))
        assert kind is not None
        smaller = resized(kind, dim, self._kept.size)
        new.results[0].set_type(smaller.native)
        _adapt(new, dim, self._kept.size, smaller)
        return new.results[0]


def resized(kind: Tensor, dim: int, size: int) -> Tensor:
    """The same type with another size in one dimension."""
    return replace(kind, shape=tuple(size if at == dim else n for at, n in enumerate(kind.shape)))


def part_of(value: Value, dim: int, kept: Range, emit: Emit) -> Value:
    """A range of a value along a dimension."""
    kind = tensor(str(value.type))
    assert kind is not None
    start, limit = [0] * len(kind.shape), list(kind.shape)
    start[dim], limit[dim] = kept.start, kept.limit
    attributes = {
        "start_indices": whole_numbers(start),
        "limit_indices": whole_numbers(limit),
        "strides": whole_numbers([1] * len(start)),
    }
    return emit("slice", resized(kind, dim, kept.size), [value], attributes)


def operand_dims(op: Op, dim: int) -> list[tuple[int, int]] | None:
    """The operands whose dimensions a dimension of the result comes from; None if that is not so simple."""
    kind = tensor(str(op.results[0].type)) if len(op.results) == 1 else None
    if kind is None:
        return None
    slots = [tensor(str(value.type)) for value in op.operands]
    if any(slot is None for slot in slots):
        return None
    shapes = [slot.shape for slot in slots if slot is not None]
    name = op.name.removeprefix("stablehlo.")
    if op.name in ELEMENTWISE:
        return [(number, dim) for number, shape in enumerate(shapes) if shape == kind.shape]
    if name == "constant":
        return [] if getattr(op.attributes["value"], "is_splat", False) else None
    if name == "broadcast_in_dim":
        given = integers(op, "broadcast_dimensions")
        if dim not in given or shapes[0][given.index(dim)] == 1:
            return []
        return [(0, given.index(dim))]
    if name == "dot_general":
        return _product_dims(op, shapes, dim)
    if name == "convolution":
        return _convolution_dims(op, kind.shape, dim)
    if name == "transpose":
        return [(0, integers(op, "permutation")[dim])]
    if name == "pad":
        around = ("edge_padding_low", "edge_padding_high", "interior_padding")
        return None if any(integers(op, one)[dim] for one in around) else [(0, dim)]
    if name in ("slice", "dynamic_slice", "concatenate"):
        if name == "concatenate":
            along = int(op.attributes["dimension"].value)
            return None if along == dim else [(number, dim) for number in range(len(shapes))]
        return [(0, dim)] if shapes[0][dim] == kind.shape[dim] else None
    if name == "reduce" and len(shapes) == 2:
        left = [at for at in range(len(shapes[0])) if at not in integers(op, "dimensions")]
        return [(0, left[dim])]
    if name == "reshape":
        return _reshaped(shapes[0], kind.shape, dim)
    return None


def _product_dims(
    op: Op, shapes: Sequence[tuple[int, ...]], dim: int
) -> list[tuple[int, int]] | None:
    batches, contracted = product_dims(op)
    count = len(batches[0])
    if dim < count:
        return [(0, batches[0][dim]), (1, batches[1][dim])]
    at = count
    for side in (0, 1):
        for free in range(len(shapes[side])):
            if free not in batches[side] and free not in contracted[side]:
                if at == dim:
                    return [(side, free)]
                at += 1
    return None


def product_dims(op: Op) -> tuple[tuple[list[int], list[int]], tuple[list[int], list[int]]]:
    """Of a matrix product the batch dimensions of both operands, and those that are summed over."""
    text = str(op.attributes["dot_dimension_numbers"])

    def numbers(label: str) -> list[int]:
        inside = text.partition(f"{label} = [")[2].partition("]")[0] if f"{label} =" in text else ""
        return [int(one) for one in inside.split(",") if one.strip()]

    return (
        (numbers("lhs_batching_dimensions"), numbers("rhs_batching_dimensions")),
        (numbers("lhs_contracting_dimensions"), numbers("rhs_contracting_dimensions")),
    )


@dataclass(frozen=True, slots=True)
class Window:
    """Where a convolution has its dimensions."""

    batch: int
    feature: int
    kernel_in: int
    kernel_out: int
    kernel_space: list[int]
    out_batch: int
    out_feature: int
    groups: int
    batch_groups: int


def window_of(op: Op) -> Window:
    """The dimensions of a convolution."""
    text = str(op.attributes["dimension_numbers"])
    given, _, rest = text.partition("#stablehlo.conv<")[2].partition("x[")
    kernel, _, out = rest.partition("]->")
    labels = [
        [one.strip() for one in part.strip("[]> ").split(",")] for part in (given, kernel, out)
    ]
    left, middle, right = labels
    space = [middle.index(str(number)) for number in range(len(middle) - 2)]
    return Window(
        *(left.index("b"), left.index("f"), middle.index("i"), middle.index("o")),
        space,
        *(right.index("b"), right.index("f")),
        int(op.attributes["feature_group_count"].value),
        int(op.attributes["batch_group_count"].value),
    )


def _convolution_dims(op: Op, shape: tuple[int, ...], dim: int) -> list[tuple[int, int]] | None:
    window = window_of(op)
    if window.batch_groups != 1:
        return None
    if dim == window.out_batch:
        return [(0, window.batch)]
    if dim != window.out_feature:
        return None
    if window.groups == 1:
        return [(1, window.kernel_out)]
    inside = tensor(str(op.operands[0].type))
    assert inside is not None
    if window.groups == shape[dim] == inside.shape[window.feature]:  # each channel alone
        return [(0, window.feature), (1, window.kernel_out)]
    return None


def _reshaped(old: tuple[int, ...], new: tuple[int, ...], dim: int) -> list[tuple[int, int]] | None:
    before = math.prod(new[:dim])
    for at, size in enumerate(old):
        if size == new[dim] and size > 1 and math.prod(old[:at]) == before:
            return [(0, at)]
    return None


def _adapt(op: Op, dim: int, size: int, kind: Tensor) -> None:
    """Let the attributes of an operation say what its smaller result needs."""
    name = op.name.removeprefix("stablehlo.")
    if name == "slice":
        start = integers(op, "start_indices")[dim]
        limits = integers(op, "limit_indices")
        limits[dim] = start + size
        op.attributes["limit_indices"] = whole_numbers(limits)
    elif name == "dynamic_slice":
        sizes = integers(op, "slice_sizes")
        sizes[dim] = size
        op.attributes["slice_sizes"] = whole_numbers(sizes)
    elif name == "constant":
        number = str(op.attributes["value"]).partition("dense<")[2].partition(">")[0]
        op.attributes["value"] = ir.Attribute.parse(f"dense<{number}> : {kind}", context())
    elif name == "convolution" and window_of(op).groups > 1 and dim == window_of(op).out_feature:
        count = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context()), size)
        op.attributes["feature_group_count"] = count


def integers(op: Op, name: str) -> list[int]:
    """The numbers of an attribute."""
    return [int(one) for one in ir.DenseI64ArrayAttr(op.attributes[name])]
