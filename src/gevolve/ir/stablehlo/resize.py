"""Repair of a type: makes a tensor of the wanted type from any other.

The steps, in this order: convert the element type; reshape if the number of elements agrees;
broadcast a scalar; drop or prepend dimensions of size one; cut the middle out of what is too large;
repeat what has size one; pad the rest with ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gevolve.ir.stablehlo.mlir import Attribute, Value, context, ir
from gevolve.ir.stablehlo.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Emit = Callable[[str, Tensor, Sequence[Value], dict[str, Attribute]], Value]
    """Makes an operation with this name, result type, operands and attributes."""


def resize(value: Value, have: Tensor, want: Tensor, emit: Emit) -> Value:
    """A tensor of the wanted type, as much like `value` as can be."""
    if have.count == 0 and want.count:
        return splat(want, 1, emit)  # all of it would be padding
    if have.element != want.element:
        value, have = _convert(value, have, want.element, emit)
    if have.shape == want.shape:
        return value
    if have.count == want.count:
        return emit("reshape", want, [value], {})
    if have.count == 1:
        if have.shape:
            have = replace(have, shape=())
            value = emit("reshape", have, [value], {})
        return _broadcast(value, want, (), emit)
    value, have = _match_rank(value, have, len(want.shape), emit)
    value, have = _cut(value, have, want.shape, emit)
    if have.shape == want.shape:
        return value
    wide = tuple(b if a == 1 else a for a, b in zip(have.shape, want.shape, strict=True))
    if wide != have.shape:
        have = replace(have, shape=wide)
        value = _broadcast(value, have, range(len(wide)), emit)
    return value if have.shape == want.shape else _pad(value, have, want, emit)


def splat(want: Tensor, number: float, emit: Emit) -> Value:
    """A tensor with the same number everywhere."""
    if want.is_complex:  # the bindings cannot hold complex constants
        real = splat(replace(want, element=want.part), number, emit)
        return emit("convert", want, [real], {})
    text = str(int(number))
    if want.is_float:
        text = f"{number:e}"
    elif want.element == "i1":
        text = "true" if number else "false"
    value = ir.Attribute.parse(f"dense<{text}> : {want}", context())
    return emit("constant", want, [], {"value": value})


def _convert(value: Value, have: Tensor, element: str, emit: Emit) -> tuple[Value, Tensor]:
    if have.is_complex and not element.startswith("complex"):
        # XLA has no conversion that drops the imaginary part.
        have = replace(have, element=have.part)
        value = emit("real", have, [value], {})
        if have.element == element:
            return value, have
    have = replace(have, element=element)
    return emit("convert", have, [value], {}), have


def _match_rank(value: Value, have: Tensor, rank: int, emit: Emit) -> tuple[Value, Tensor]:
    """Drop dimensions, those of size one and the outer ones first, or prepend some of size one."""
    shape = list(have.shape)
    if len(shape) > rank:
        by_size = sorted(range(len(shape)), key=lambda i: (shape[i] != 1, i))
        dropped = set(by_size[: len(shape) - rank])
        cut = tuple(1 if i in dropped else size for i, size in enumerate(shape))
        value, have = _cut(value, have, cut, emit)
        kept = tuple(size for i, size in enumerate(shape) if i not in dropped)
    else:
        kept = (1,) * (rank - len(shape)) + tuple(shape)
    if kept != have.shape:
        have = replace(have, shape=kept)
        value = emit("reshape", have, [value], {})
    return value, have


def _cut(value: Value, have: Tensor, sizes: Sequence[int], emit: Emit) -> tuple[Value, Tensor]:
    """The middle of every dimension that is larger than wanted."""
    shape = tuple(min(a, b) for a, b in zip(have.shape, sizes, strict=True))
    if shape == have.shape:
        return value, have
    start = [(a - b) // 2 for a, b in zip(have.shape, shape, strict=True)]
    limit = [low + size for low, size in zip(start, shape, strict=True)]
    have = replace(have, shape=shape)
    attributes = {
        "start_indices": whole_numbers(start),
        "limit_indices": whole_numbers(limit),
        "strides": whole_numbers([1] * len(shape)),
    }
    return emit("slice", have, [value], attributes), have


def _broadcast(value: Value, want: Tensor, dims: Sequence[int], emit: Emit) -> Value:
    return emit("broadcast_in_dim", want, [value], {"broadcast_dimensions": whole_numbers(dims)})


def _pad(value: Value, have: Tensor, want: Tensor, emit: Emit) -> Value:
    one = splat(Tensor((), want.element), 1, emit)
    missing = [b - a for a, b in zip(have.shape, want.shape, strict=True)]
    attributes = {
        "edge_padding_low": whole_numbers([size // 2 for size in missing]),
        "edge_padding_high": whole_numbers([size - size // 2 for size in missing]),
        "interior_padding": whole_numbers([0] * len(missing)),
    }
    return emit("pad", want, [value, one], attributes)


def whole_numbers(numbers: Sequence[int]) -> Attribute:
    """An attribute that holds numbers."""
    return ir.DenseI64ArrayAttr.get(list(numbers), context())
