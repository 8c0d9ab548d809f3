"""Each operation of StableHLO by the one of JAX that it came from, which JAX can differentiate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gevolve.errors import UnsupportedError
from gevolve.ir.stablehlo.mlir import Op
from gevolve.ir.stablehlo.signature import array_spec

if TYPE_CHECKING:
    from gevolve.ir.stablehlo.signature import ArraySpec

Rule: TypeAlias = Callable[[Op, Sequence[Any]], Any]
_lax: Any = import_module("jax.lax")
_jnp: Any = import_module("jax.numpy")
_dialect: Any = import_module("jax.extend.mlir.dialects.stablehlo")


def rule_of(operation: Op) -> Rule:
    dialect, _, name = operation.name.partition(".")
    if operation.name == "func.return":
        return _nothing
    rule = _RULES.get(name) if dialect in ("stablehlo", "chlo") else None
    if rule is None or (operation.regions and name not in _REDUCING):
        raise UnsupportedError(
            f"{operation.name} has no gradient here, so the weights before it cannot be re-fit"
        )
    return rule


def _nothing(_operation: Op, _values: Sequence[Any]) -> Any:
    return ()


def _ints(operation: Op, name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in operation.attributes[name])


def _maybe_ints(operation: Op, name: str, otherwise: Sequence[int]) -> tuple[int, ...]:
    return _ints(operation, name) if name in operation.attributes else tuple(otherwise)


def _type(operation: Op) -> ArraySpec:
    return array_spec(operation.results[0].type)


def _word(operation: Op, name: str) -> str:
    """The last word of an attribute such as ``#stablehlo<comparison_direction LT>``."""
    return str(operation.attributes[name]).rstrip(">").split()[-1]


def _pairs(operation: Op, rank: int) -> list[tuple[int, int]]:
    if "padding" not in operation.attributes:
        return [(0, 0)] * rank
    return [(int(low), int(high)) for low, high in np.array(operation.attributes["padding"])]


def constant(operation: Op, _values: Sequence[Any]) -> Any:
    value, spec = operation.attributes["value"], _type(operation)
    if spec.dtype.kind == "c":
        raise UnsupportedError("complex constants have no gradient here")
    if value.is_splat:
        return np.full(spec.shape, value.get_splat_value().value, spec.dtype)
    try:
        numbers = np.array(value)
    except TypeError:  # of a kind that NumPy does not know
        numbers = np.array([value[place] for place in range(len(value))])
    return numbers.astype(spec.dtype).reshape(spec.shape)


def _elementwise(function: Any) -> Rule:
    return lambda _operation, values: function(*values)


def _convert(operation: Op, values: Sequence[Any]) -> Any:
    return _lax.convert_element_type(values[0], _type(operation).dtype)


def _compare(operation: Op, values: Sequence[Any]) -> Any:
    return getattr(_lax, _word(operation, "comparison_direction").lower())(*values)


def _select(_operation: Op, values: Sequence[Any]) -> Any:
    return _jnp.where(values[0], values[1], values[2])


def _clamp(_operation: Op, values: Sequence[Any]) -> Any:
    return _lax.clamp(*values)


def _reshape(operation: Op, values: Sequence[Any]) -> Any:
    return _lax.reshape(values[0], _type(operation).shape)


def _broadcast(operation: Op, values: Sequence[Any]) -> Any:
    dimensions = _ints(operation, "broadcast_dimensions")
    return _lax.broadcast_in_dim(values[0], _type(operation).shape, dimensions)


def _transpose(operation: Op, values: Sequence[Any]) -> Any:
    return _lax.transpose(values[0], _ints(operation, "permutation"))


def _slice(operation: Op, values: Sequence[Any]) -> Any:
    bounds = (_ints(operation, name) for name in ("start_indices", "limit_indices", "strides"))
    return _lax.slice(values[0], *bounds)


def _pad(operation: Op, values: Sequence[Any]) -> Any:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    return _lax.pad(*values, list(zip(*(_ints(operation, name) for name in names), strict=True)))


def _concatenate(operation: Op, values: Sequence[Any]) -> Any:
    return _lax.concatenate(values, operation.attributes["dimension"].value)


def _iota(operation: Op, _values: Sequence[Any]) -> Any:
    spec = _type(operation)
    dimension = operation.attributes["iota_dimension"].value
    return _lax.broadcasted_iota(spec.dtype, spec.shape, dimension)


def _reverse(operation: Op, values: Sequence[Any]) -> Any:
    return _lax.rev(values[0], _ints(operation, "dimensions"))


def _dynamic_slice(operation: Op, values: Sequence[Any]) -> Any:
    return _lax.dynamic_slice(values[0], list(values[1:]), _ints(operation, "slice_sizes"))


def _dynamic_update_slice(_operation: Op, values: Sequence[Any]) -> Any:
    return _lax.dynamic_update_slice(values[0], values[1], list(values[2:]))


def _dot_general(operation: Op, values: Sequence[Any]) -> Any:
    numbers = _dialect.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
    return _lax.dot_general(
        *values,
        (
            (tuple(numbers.lhs_contracting_dimensions), tuple(numbers.rhs_contracting_dimensions)),
            (tuple(numbers.lhs_batching_dimensions), tuple(numbers.rhs_batching_dimensions)),
        ),
        preferred_element_type=_type(operation).dtype,
    )


def _convolution(operation: Op, values: Sequence[Any]) -> Any:
    numbers = _dialect.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    spatial = tuple(numbers.input_spatial_dimensions)
    rank = len(spatial)
    kernel = values[1]
    if "window_reversal" in operation.attributes:
        turned = np.array([bool(one) for one in operation.attributes["window_reversal"]])
        places = np.array(tuple(numbers.kernel_spatial_dimensions))
        kernel = _lax.rev(kernel, tuple(int(place) for place in places[turned]))
    return _lax.conv_general_dilated(
        values[0],
        kernel,
        _maybe_ints(operation, "window_strides", [1] * rank),
        _pairs(operation, rank),
        _maybe_ints(operation, "lhs_dilation", [1] * rank),
        _maybe_ints(operation, "rhs_dilation", [1] * rank),
        _lax.ConvDimensionNumbers(
            (numbers.input_batch_dimension, numbers.input_feature_dimension, *spatial),
            (
                numbers.kernel_output_feature_dimension,
                numbers.kernel_input_feature_dimension,
                *numbers.kernel_spatial_dimensions,
            ),
            (
                numbers.output_batch_dimension,
                numbers.output_feature_dimension,
                *numbers.output_spatial_dimensions,
            ),
        ),
        feature_group_count=operation.attributes["feature_group_count"].value,
        batch_group_count=operation.attributes["batch_group_count"].value,
        preferred_element_type=_type(operation).dtype,
    )


def _combines(operation: Op) -> str:
    """What a reduction does with two values, if that is one operation."""
    block = operation.regions[0].blocks[0]
    inner = [one.operation for one in block.operations]
    name = inner[0].name.partition(".")[2]
    if len(operation.results) == 1 and len(inner) == 2 and name in _JOINS:
        return name
    raise UnsupportedError(
        f"{operation.name} with more than a sum, product or extreme in it has no gradient here,"
        " so the weights before it cannot be re-fit"
    )


def _reduce(operation: Op, values: Sequence[Any]) -> Any:
    name = _combines(operation)
    whole = _JOINS[name][0](values[0], _ints(operation, "dimensions"))
    return _JOINS[name][1](whole, values[1])


def _reduce_window(operation: Op, values: Sequence[Any]) -> Any:
    join = _JOINS[_combines(operation)][1]
    rank = values[0].ndim
    start = {_lax.add: 0, _lax.max: -np.inf, _lax.min: np.inf, _lax.mul: 1}.get(join, 0)
    if values[0].dtype.kind not in "fV":
        raise UnsupportedError("stablehlo.reduce_window of whole numbers has no gradient here")
    pooled = _lax.reduce_window(
        values[0],
        np.asarray(start, values[0].dtype),
        join,
        _ints(operation, "window_dimensions"),
        _maybe_ints(operation, "window_strides", [1] * rank),
        _pairs(operation, rank),
        _maybe_ints(operation, "base_dilations", [1] * rank),
        _maybe_ints(operation, "window_dilations", [1] * rank),
    )
    return join(pooled, values[1])


def _gather(operation: Op, values: Sequence[Any]) -> Any:
    numbers = _dialect.GatherDimensionNumbers(operation.attributes["dimension_numbers"])
    indices = values[1]
    if numbers.index_vector_dim == indices.ndim:
        indices = indices[..., None]
    elif numbers.index_vector_dim != indices.ndim - 1:
        indices = _jnp.moveaxis(indices, numbers.index_vector_dim, -1)
    return _lax.gather(
        values[0],
        indices,
        _lax.GatherDimensionNumbers(
            offset_dims=tuple(numbers.offset_dims),
            collapsed_slice_dims=tuple(numbers.collapsed_slice_dims),
            start_index_map=tuple(numbers.start_index_map),
            operand_batching_dims=tuple(numbers.operand_batching_dims),
            start_indices_batching_dims=tuple(numbers.start_indices_batching_dims),
        ),
        _ints(operation, "slice_sizes"),
        mode="clip",
    )


def _sum(values: Any, axes: tuple[int, ...]) -> Any:
    return _jnp.sum(values, axes, dtype=values.dtype)


def _product(values: Any, axes: tuple[int, ...]) -> Any:
    return _jnp.prod(values, axes, dtype=values.dtype)


_JOINS: dict[str, tuple[Any, Any]] = {
    "add": (_sum, _lax.add),
    "multiply": (_product, _lax.mul),
    "maximum": (_jnp.max, _lax.max),
    "minimum": (_jnp.min, _lax.min),
    "and": (_jnp.all, _lax.bitwise_and),
    "or": (_jnp.any, _lax.bitwise_or),
}
"""What a reduction may join values by: along axes, and two at a time."""
_REDUCING = ("reduce", "reduce_window")
_SAME_NAME = (
    *("abs", "cbrt", "ceil", "cos", "floor", "is_finite", "log", "logistic"),
    *("rsqrt", "sign", "sqrt", "tan", "tanh", "atan2", "erf", "erfc", "erf_inv", "lgamma"),
    *("digamma", "square", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"),
)
_OTHER_NAME = {
    "add": "add",
    "and": "bitwise_and",
    "divide": "div",
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "log_plus_one": "log1p",
    "maximum": "max",
    "minimum": "min",
    "multiply": "mul",
    "negate": "neg",
    "not": "bitwise_not",
    "or": "bitwise_or",
    "popcnt": "population_count",
    "power": "pow",
    "remainder": "rem",
    "round_nearest_even": "round",
    "sine": "sin",
    "cosine": "cos",
    "subtract": "sub",
    "xor": "bitwise_xor",
}
_RULES: dict[str, Rule] = {
    **{name: _elementwise(getattr(_lax, name)) for name in _SAME_NAME if hasattr(_lax, name)},
    **{name: _elementwise(getattr(_lax, ours)) for name, ours in _OTHER_NAME.items()},
    "round_nearest_even": _elementwise(
        partial(_lax.round, rounding_method=_lax.RoundingMethod.TO_NEAREST_EVEN)
    ),
    "round_nearest_afz": _elementwise(_lax.round),
    "optimization_barrier": lambda _operation, values: values if len(values) > 1 else values[0],
    "broadcast_in_dim": _broadcast,
    "clamp": _clamp,
    "compare": _compare,
    "concatenate": _concatenate,
    "constant": constant,
    "convert": _convert,
    "convolution": _convolution,
    "dot_general": _dot_general,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "iota": _iota,
    "pad": _pad,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "reshape": _reshape,
    "reverse": _reverse,
    "select": _select,
    "slice": _slice,
    "transpose": _transpose,
}
