"""ONNX's operators that only move elements, or compute sizes, in NumPy and JAX alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gevolve.onnx.node import KNOWN, Node, array_of, element_type, jax, jnp, lax


def constant(node: Node) -> Any:
    for name, value in node.attributes.items():
        if name == "value":
            return array_of(value)
        if name in {"value_float", "value_floats"}:
            return np.asarray(value, np.float32)
        if name in {"value_int", "value_ints"}:
            return np.asarray(value, np.int64)
    raise node.refuse("that is no array of numbers")


def constant_of_shape(node: Node, shape: Any) -> Any:
    value = node.get("value")
    value = np.zeros(1, np.float32) if value is None else array_of(value)
    return np.full(node.numbers(shape, "shape"), value[0], value.dtype)


def shape(node: Node, x: Any) -> Any:
    return np.asarray(np.shape(x)[node.get("start", 0) : node.get("end")], np.int64)


def cast(node: Node, x: Any) -> Any:
    kind = element_type(node, node.get("to"))
    if kind.kind == "b":
        return x != 0
    if np.dtype(x.dtype).kind in "OSU":
        raise node.refuse("from text")
    return x.astype(kind)


def cast_like(node: Node, x: Any, like: Any) -> Any:
    kind = like.dtype if node.xp is np else jax.dtypes.canonicalize_dtype(like.dtype)
    return x.astype(kind)


def reshape(node: Node, x: Any, to: Any = None) -> Any:
    sizes = node.get("shape") if to is None else node.numbers(to, "shape")
    if not node.get("allowzero"):
        sizes = [x.shape[at] if size == 0 else size for at, size in enumerate(sizes)]
    return x.reshape(sizes)


def flatten(node: Node, x: Any) -> Any:
    axis = node.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), -1)


def squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    return node.xp.squeeze(x, node.axes(axes, x.ndim))


def unsqueeze(node: Node, x: Any, axes: Any = None) -> Any:
    count = len(node.get("axes") if axes is None else node.numbers(axes, "axes"))
    return node.xp.expand_dims(x, node.axes(axes, np.ndim(x) + count))


def transpose(node: Node, x: Any) -> Any:
    return node.xp.transpose(x, node.get("perm"))


def split(node: Node, x: Any, sizes: Any = None) -> Any:
    axis = node.get("axis", 0)
    parts = node.get("split") if sizes is None else node.numbers(sizes, "sizes")
    if parts is None:
        count = node.get("num_outputs", node.outputs)
        size = -(-x.shape[axis] // count)
        parts = [size] * (count - 1) + [x.shape[axis] - size * (count - 1)]
    return tuple(node.xp.split(x, np.cumsum(parts)[:-1], axis))


def slice_(node: Node, x: Any, *rest: Any) -> Any:
    words = ("starts", "ends", "axes", "steps")
    given = (*rest, *[None] * (4 - len(rest)))
    starts, ends, axes, steps = (
        node.get(word) if one is None else node.numbers(one, word)
        for word, one in zip(words, given, strict=True)
    )
    index = [slice(None)] * x.ndim
    for at, (start, end) in enumerate(zip(starts, ends, strict=True)):
        index[axes[at] if axes else at] = slice(start, end, steps[at] if steps else 1)
    return x[tuple(index)]


def gather(node: Node, x: Any, at: Any) -> Any:
    return node.xp.take(x, at, node.get("axis", 0))


def gather_elements(node: Node, x: Any, at: Any) -> Any:
    axis = node.get("axis", 0)
    return node.xp.take_along_axis(x, node.xp.where(at < 0, at + x.shape[axis], at), axis)


def gather_nd(node: Node, x: Any, at: Any) -> Any:
    def one(x: Any, at: Any) -> Any:
        return x[tuple(jnp.moveaxis(jnp.asarray(at), -1, 0))]

    for _ in range(node.get("batch_dims", 0)):
        one = jax.vmap(one)
    return one(jnp.asarray(x), jnp.asarray(at))


def _scattered(node: Node, x: Any, index: Any, updates: Any) -> Any:
    place = jnp.asarray(x).at[index]
    how = {"none": "set", "add": "add", "mul": "multiply", "max": "max", "min": "min"}
    return getattr(place, how[node.get("reduction", "none")])(updates)


def scatter_elements(node: Node, x: Any, at: Any, updates: Any) -> Any:
    axis = node.get("axis", 0) % x.ndim
    index = list(jnp.indices(at.shape, sparse=True))
    index[axis] = jnp.where(at < 0, at + x.shape[axis], at)
    return _scattered(node, x, tuple(index), updates)


def scatter_nd(node: Node, x: Any, at: Any, updates: Any) -> Any:
    return _scattered(node, x, tuple(jnp.moveaxis(jnp.asarray(at), -1, 0)), updates)


def expand(node: Node, x: Any, to: Any) -> Any:
    sizes = np.broadcast_shapes(np.shape(x), tuple(node.numbers(to, "shape")))
    return node.xp.broadcast_to(x, sizes)


def tile(node: Node, x: Any, times: Any) -> Any:
    return node.xp.tile(x, node.numbers(times, "repeats"))


def pad(node: Node, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    pads = node.get("pads") if pads is None else node.numbers(pads, "pads")
    chosen = node.axes(axes, x.ndim) or range(x.ndim)
    pairs = [(0, 0)] * x.ndim
    for at, axis in enumerate(chosen):
        pairs[axis] = (pads[at], pads[at + len(pads) // 2])
    mode = node.get("mode", "constant")
    if mode != "constant":
        return node.xp.pad(x, pairs, mode)
    value = node.get("value", 0) if value is None else value
    fill = jnp.asarray(value, x.dtype).reshape(())
    return lax.pad(jnp.asarray(x), fill, [(*one, 0) for one in pairs])


def arange(node: Node, *ends: Any) -> Any:
    known: list[Any] = [node.known(one, "ends").reshape(()) for one in ends]
    return np.arange(*known, dtype=known[0].dtype)


def one_hot(node: Node, at: Any, depth: Any, values: Any) -> Any:
    count, axis = node.numbers(depth, "depth")[0], node.get("axis", -1)
    at = node.xp.where(at < 0, at + count, at).astype(np.int32)
    axis = axis + at.ndim + 1 if axis < 0 else axis
    sizes = [1] * (at.ndim + 1)
    sizes[axis] = count
    hot = node.xp.equal(node.xp.expand_dims(at, axis), np.arange(count).reshape(sizes))
    return node.xp.where(hot, values[1], values[0])


def depth_to_space(node: Node, x: Any) -> Any:
    n, c, h, w = x.shape
    b = node.get("blocksize")
    if node.get("mode", "DCR") == "DCR":
        y = x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, c // b**2, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(n, c // b**2, h * b, w * b)


def space_to_depth(node: Node, x: Any) -> Any:
    n, c, h, w = x.shape
    b = node.get("blocksize")
    y = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return y.reshape(n, c * b**2, h // b, w // b)


def trilu(node: Node, x: Any, k: Any = None) -> Any:
    offset = 0 if k is None else node.numbers(k, "diagonal")[0]
    return (node.xp.triu if node.get("upper", 1) else node.xp.tril)(x, offset)


def eye_like(node: Node, x: Any) -> Any:
    kind = element_type(node, node.get("dtype")) if node.get("dtype") else x.dtype
    return np.eye(*x.shape, k=node.get("k", 0), dtype=kind)


def non_zero(node: Node, x: Any) -> Any:
    return np.asarray(np.nonzero(node.known(x, "result's shape")), np.int64)


def if_(node: Node, condition: Any) -> Any:
    chosen, other = node.get("then_branch"), node.get("else_branch")
    if isinstance(condition, KNOWN):
        return node.inner(chosen if bool(np.asarray(condition).reshape(())) else other)

    def branch(graph: Any) -> Any:
        return lambda: tuple(jnp.asarray(one) for one in node.inner(graph))

    return lax.cond(condition.reshape(()), branch(chosen), branch(other))
