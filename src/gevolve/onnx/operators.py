"""ONNX's operators, by name; a walk over a graph with them."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# A table of short functions on arrays, of which JAX says no types.

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.onnx import arrays, layers, recurrent
from gevolve.onnx import node as nodes
from gevolve.onnx.node import Node, array_of, jax, jnp, lax

if TYPE_CHECKING:
    from collections.abc import Callable


def unary(name: str) -> Any:
    return lambda node, x: getattr(node.xp, name)(x)


def plain(function: Callable[[Any], Any]) -> Any:
    """An operator of one input and no attributes."""
    return lambda node, x: function(x)  # noqa: ARG005


def binary(name: str) -> Any:
    return lambda node, x, y: getattr(node.xp, name)(x, y)


def many(name: str) -> Any:
    return lambda node, *xs: reduce(getattr(node.xp, name), xs)


def divide(node: Node, x: Any, y: Any) -> Any:
    if np.dtype(x.dtype).kind in "iu":
        return lax.div(*jnp.broadcast_arrays(x, y)) if node.xp is jnp else _truncated(x, y)
    return x / y


def _truncated(x: Any, y: Any) -> Any:
    return (np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))).astype(np.asarray(x).dtype)


def modulo(node: Node, x: Any, y: Any) -> Any:
    return (node.xp.fmod if node.get("fmod") else node.xp.mod)(x, y)


def power(node: Node, x: Any, y: Any) -> Any:
    if isinstance(y, np.ndarray) and y.size == 1 and float(y.reshape(())) == 2:
        return x * x
    return node.xp.power(x, y).astype(x.dtype)


def clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    low = node.get("min") if low is None else low
    high = node.get("max") if high is None else high
    x = x if low is None else node.xp.maximum(x, node.xp.asarray(low, x.dtype))
    return x if high is None else node.xp.minimum(x, node.xp.asarray(high, x.dtype))


def matmul(node: Node, x: Any, y: Any) -> Any:
    return node.xp.matmul(x, y)


def gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    a, b = (x.T if node.get(name) else x for x, name in ((a, "transA"), (b, "transB")))
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    y = a @ b if alpha == 1 else alpha * (a @ b)
    return y if c is None else y + (c if beta == 1 else beta * c)


def softmax(function: Callable[..., Any]) -> Any:
    def over(node: Node, x: Any) -> Any:
        if node.version >= 13:
            return function(x, node.get("axis", -1))
        axis = node.get("axis", 1) % x.ndim  # before, all axes from this one on were one
        flat = x.reshape(int(np.prod(x.shape[:axis])), -1)
        return function(flat, -1).reshape(x.shape)

    return over


def hardmax(x: Any, axis: int) -> Any:
    return jnp.moveaxis(jax.nn.one_hot(jnp.argmax(x, axis), x.shape[axis], dtype=x.dtype), -1, axis)


def reduced(function: Callable[[Any, Any, Any, bool], Any]) -> Any:
    def over(node: Node, x: Any, axes: Any = None) -> Any:
        x = np.asarray(x) if node.xp is np else x
        found = node.axes(axes, x.ndim) if x.ndim else None
        if not found:
            if node.get("noop_with_empty_axes"):
                return x
            found = tuple(range(x.ndim))
        return function(node.xp, x, found, bool(node.get("keepdims", 1)))

    return over


def total(name: str) -> Any:
    return reduced(
        lambda xp, x, axes, keep: getattr(xp, name)(x, axis=axes, keepdims=keep).astype(x.dtype)
    )


def best(name: str) -> Any:
    def place(node: Node, x: Any) -> Any:
        axis, keep = node.get("axis", 0) % x.ndim, bool(node.get("keepdims", 1))
        if not node.get("select_last_index"):
            return getattr(jnp, name)(x, axis=axis, keepdims=keep)
        last = getattr(jnp, name)(jnp.flip(x, axis), axis=axis, keepdims=keep)
        return x.shape[axis] - 1 - last

    return place


def cumulative(node: Node, x: Any, axis: Any) -> Any:
    at = node.numbers(axis, "axis")[0]
    x = node.xp.flip(x, at) if node.get("reverse") else x
    y = node.xp.cumsum(x, at).astype(x.dtype)
    y = y - x if node.get("exclusive") else y
    return node.xp.flip(y, at) if node.get("reverse") else y


def topk(node: Node, x: Any, k: Any = None) -> Any:
    count = node.get("k") if k is None else node.numbers(k, "count")[0]
    axis = node.get("axis", -1)
    x = jnp.moveaxis(jnp.asarray(x), axis, -1)
    if node.get("largest", 1):
        values, places = lax.top_k(x, count)
    else:
        places = jnp.argsort(x, -1, stable=True)[..., :count]
        values = jnp.take_along_axis(x, places, -1)
    return jnp.moveaxis(values, -1, axis), jnp.moveaxis(places, -1, axis)


def dequantize(node: Node, x: Any, scale: Any, zero: Any = None) -> Any:
    if node.get("block_size"):
        raise node.refuse("by blocks")
    if np.ndim(scale) == 1 and np.size(scale) > 1:
        shape = [1] * x.ndim
        shape[node.get("axis", 1)] = -1
        scale = scale.reshape(shape)
        zero = zero if zero is None else zero.reshape(shape)
    y = x if zero is None else x.astype(np.int32) - zero.astype(np.int32)
    return y.astype(scale.dtype) * scale


def quantize(node: Node, x: Any, scale: Any, zero: Any = None) -> Any:
    if node.get("block_size") or node.get("output_dtype"):
        raise node.refuse("by blocks, or to a type that is not the zero point's")
    kind = np.dtype(np.uint8) if zero is None else np.dtype(zero.dtype)
    if kind.name not in {"int8", "uint8", "int16", "uint16"}:
        raise node.refuse(f"to {kind}")
    if np.ndim(scale) == 1 and np.size(scale) > 1:
        shape = [1] * x.ndim
        shape[node.get("axis", 1)] = -1
        scale = scale.reshape(shape)
        zero = zero if zero is None else zero.reshape(shape)
    limits = np.iinfo(kind)
    y = jnp.round(x / scale) + (0 if zero is None else zero.astype(np.float32))
    return jnp.clip(y, limits.min, limits.max).astype(kind)


OPERATORS: dict[str, Any] = {
    **{
        name: unary(word)
        for name, word in {
            "Abs": "abs",
            "Ceil": "ceil",
            "Cos": "cos",
            "Exp": "exp",
            "Floor": "floor",
            "Log": "log",
            "Neg": "negative",
            "Round": "round",
            "Sign": "sign",
            "Sin": "sin",
            "Sqrt": "sqrt",
            "Tan": "tan",
            "Tanh": "tanh",
            "Sinh": "sinh",
            "Cosh": "cosh",
            "Asin": "arcsin",
            "Acos": "arccos",
            "Atan": "arctan",
            "Asinh": "arcsinh",
            "Acosh": "arccosh",
            "Atanh": "arctanh",
            "IsNaN": "isnan",
            "Not": "logical_not",
            "BitwiseNot": "invert",
        }.items()
    },
    **{
        name: binary(word)
        for name, word in {
            "Add": "add",
            "Sub": "subtract",
            "Mul": "multiply",
            "And": "logical_and",
            "Or": "logical_or",
            "Xor": "logical_xor",
            "Equal": "equal",
            "Greater": "greater",
            "GreaterOrEqual": "greater_equal",
            "Less": "less",
            "LessOrEqual": "less_equal",
            "BitwiseAnd": "bitwise_and",
            "BitwiseOr": "bitwise_or",
            "BitwiseXor": "bitwise_xor",
        }.items()
    },
    "Div": divide,
    "Mod": modulo,
    "Pow": power,
    "Max": many("maximum"),
    "Min": many("minimum"),
    "Sum": many("add"),
    "Mean": lambda node, *xs: reduce(node.xp.add, xs) / np.asarray(len(xs), xs[0].dtype),
    "Reciprocal": plain(lambda x: 1 / x),
    "Erf": plain(lambda x: lax.erf(jnp.asarray(x))),
    "IsInf": lambda node, x: (
        (x == np.inf) & bool(node.get("detect_positive", 1))
        | (x == -np.inf) & bool(node.get("detect_negative", 1))
    ),
    "Relu": lambda node, x: node.xp.maximum(x, np.asarray(0, x.dtype)),
    "Sigmoid": plain(jax.nn.sigmoid),
    "Softplus": plain(jax.nn.softplus),
    "Softsign": plain(lambda x: x / (1 + abs(x))),
    "Mish": plain(lambda x: x * jnp.tanh(jax.nn.softplus(x))),
    "HardSwish": plain(lambda x: x * jnp.clip(x / 6 + 0.5, 0, 1)),
    "LeakyRelu": lambda node, x: jnp.where(x >= 0, x, node.get("alpha", 0.01) * x),
    "PRelu": lambda node, x, slope: jnp.where(x >= 0, x, slope * x),  # noqa: ARG005
    "Elu": lambda node, x: jnp.where(x > 0, x, node.get("alpha", 1.0) * jnp.expm1(x)),
    "Selu": lambda node, x: (
        node.get("gamma", 1.0507009873554805)
        * jnp.where(x > 0, x, node.get("alpha", 1.6732632423543772) * jnp.expm1(x))
    ),
    "HardSigmoid": lambda node, x: jnp.clip(
        node.get("alpha", 0.2) * x + node.get("beta", 0.5), 0, 1
    ),
    "ThresholdedRelu": lambda node, x: jnp.where(x > node.get("alpha", 1.0), x, 0),
    "Gelu": lambda node, x: jax.nn.gelu(x, approximate=node.get("approximate", "none") == "tanh"),
    "Clip": clip,
    "Softmax": softmax(jax.nn.softmax),
    "LogSoftmax": softmax(jax.nn.log_softmax),
    "Hardmax": softmax(hardmax),
    "MatMul": matmul,
    "Gemm": gemm,
    "Einsum": lambda node, *xs: node.xp.einsum(node.get("equation"), *xs),
    "Conv": layers.convolution,
    "ConvTranspose": layers.transposed_convolution,
    "MaxPool": layers.max_pool,
    "AveragePool": layers.average_pool,
    "GlobalAveragePool": plain(lambda x: x.mean(tuple(range(2, x.ndim)), keepdims=True)),
    "GlobalMaxPool": plain(lambda x: x.max(tuple(range(2, x.ndim)), keepdims=True)),
    "BatchNormalization": layers.batch_norm,
    "InstanceNormalization": layers.instance_norm,
    "GroupNormalization": layers.group_norm,
    "LayerNormalization": layers.layer_norm,
    "LRN": layers.local_norm,
    "Resize": layers.resize,
    "Upsample": layers.resize,
    "LSTM": recurrent.lstm,
    "GRU": recurrent.gru,
    "RNN": recurrent.rnn,
    **{
        f"Reduce{name}": total(word)
        for name, word in {
            "Sum": "sum",
            "Mean": "mean",
            "Max": "max",
            "Min": "min",
            "Prod": "prod",
        }.items()
    },
    "ReduceL1": reduced(lambda xp, x, axes, keep: xp.sum(abs(x), axis=axes, keepdims=keep)),
    "ReduceL2": reduced(lambda xp, x, axes, keep: xp.sqrt(xp.sum(x * x, axis=axes, keepdims=keep))),
    "ReduceSumSquare": reduced(lambda xp, x, axes, keep: xp.sum(x * x, axis=axes, keepdims=keep)),
    "ReduceLogSum": reduced(lambda xp, x, axes, keep: xp.log(xp.sum(x, axis=axes, keepdims=keep))),
    "ReduceLogSumExp": reduced(lambda xp, x, axes, keep: jax.nn.logsumexp(x, axes, keepdims=keep)),  # noqa: ARG005
    "ArgMax": best("argmax"),
    "ArgMin": best("argmin"),
    "CumSum": cumulative,
    "TopK": topk,
    "DequantizeLinear": dequantize,
    "QuantizeLinear": quantize,
    "Where": lambda node, condition, x, y: node.xp.where(condition, x, y),
    "Constant": arrays.constant,
    "ConstantOfShape": arrays.constant_of_shape,
    "Shape": arrays.shape,
    "Size": lambda node, x: np.asarray(np.size(x), np.int64),  # noqa: ARG005
    "Cast": arrays.cast,
    "CastLike": arrays.cast_like,
    "Reshape": arrays.reshape,
    "Flatten": arrays.flatten,
    "Squeeze": arrays.squeeze,
    "Unsqueeze": arrays.unsqueeze,
    "Transpose": arrays.transpose,
    "Concat": lambda node, *xs: node.xp.concatenate(xs, node.get("axis")),
    "Split": arrays.split,
    "Slice": arrays.slice_,
    "Gather": arrays.gather,
    "GatherElements": arrays.gather_elements,
    "GatherND": arrays.gather_nd,
    "ScatterElements": arrays.scatter_elements,
    "Scatter": arrays.scatter_elements,
    "ScatterND": arrays.scatter_nd,
    "Expand": arrays.expand,
    "Tile": arrays.tile,
    "Pad": arrays.pad,
    "Range": arrays.arange,
    "OneHot": arrays.one_hot,
    "DepthToSpace": arrays.depth_to_space,
    "SpaceToDepth": arrays.space_to_depth,
    "Trilu": arrays.trilu,
    "EyeLike": arrays.eye_like,
    "NonZero": arrays.non_zero,
    "If": arrays.if_,
    "Identity": plain(lambda x: x),
    "Dropout": lambda node, x, *_: x if node.outputs == 1 else (x, np.ones(x.shape, bool)),
}
"""What each of ONNX's operators is in JAX."""


def run(graph: Any, values: dict[str, Any], version: int) -> list[Any]:
    """The outputs of a graph, given its inputs, weights and constants by name."""
    return nodes.run(OPERATORS, graph, values, version)


__all__ = ["OPERATORS", "array_of", "run"]
