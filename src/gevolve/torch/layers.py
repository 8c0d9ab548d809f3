"""What it takes in JAX to do what PyTorch's operations do, where it is more than a word."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
lax: Any = import_module("jax.lax")


def element_type(kind: Any) -> Any:
    """The element type that PyTorch names, such as ``torch.float32``."""
    name = str(kind).removeprefix("torch.")
    return {"bool": np.dtype(bool), "bfloat16": jnp.bfloat16}.get(name) or np.dtype(name)


def pair(numbers: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(numbers) * (count if len(numbers) == 1 else 1)


def axes_of(dims: Any, rank: int) -> tuple[int, ...]:
    if dims is None or dims == []:
        return tuple(range(rank))
    return tuple(one % rank for one in listed(dims))


def addmm(bias: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    product = a @ b
    return (bias if beta == 1 else beta * bias) + (product if alpha == 1 else alpha * product)


def convolution(
    x: Any,
    w: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    extra: Any,
    groups: Any,
) -> Any:
    rank = x.ndim - 2
    space = "DHW"[-rank:]
    layout = (f"NC{space}", f"OI{space}", f"NC{space}")
    stride, padding, dilation, extra = (
        pair(one, rank) for one in (stride, padding, dilation, extra)
    )
    if transposed:
        w = jnp.flip(w, tuple(range(2, w.ndim)))
        o, i = w.shape[1], w.shape[0]
        w = w.reshape(groups, i // groups, o, *w.shape[2:]).swapaxes(1, 2)
        w = w.reshape(groups * o, i // groups, *w.shape[3:])
        around = [
            (d * (k - 1) - p, d * (k - 1) - p + e)
            for d, k, p, e in zip(dilation, w.shape[2:], padding, extra, strict=True)
        ]
        y = lax.conv_general_dilated(
            x, w, (1,) * rank, around, stride, dilation, layout, feature_group_count=groups
        )
    else:
        around = [(p, p) for p in padding]
        y = lax.conv_general_dilated(
            x, w, stride, around, None, dilation, layout, feature_group_count=groups
        )
    return y if bias is None else y + bias.reshape(1, -1, *[1] * rank)


def pool(
    x: Any,
    start: Any,
    combine: Any,
    window: Any,
    stride: Any,
    padding: Any,
    dilation: Any = 1,
    *,
    ceil: bool = False,
) -> Any:
    rank = len(window)
    stride = pair(stride or window, rank)
    padding, dilation = pair(padding, rank), pair(listed(dilation), rank)
    around = [(0, 0)] * (x.ndim - rank)
    for size, k, s, p, d in zip(x.shape[-rank:], window, stride, padding, dilation, strict=True):
        over = (size + 2 * p - d * (k - 1) - 1) % s
        around.append((p, p + (s - over if ceil and over else 0)))
    ones = (1,) * (x.ndim - rank)
    return lax.reduce_window(
        x, start, combine, (*ones, *window), (*ones, *stride), around, None, (*ones, *dilation)
    )


def listed(one: Any) -> list[Any]:
    return list(one) if isinstance(one, list | tuple) else [one]  # pyright: ignore[reportUnknownArgumentType]


def max_pool(
    x: Any,
    window: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    least = -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    y = pool(x, least, lax.max, window, stride, listed(padding), dilation, ceil=ceil_mode)
    return y, None


def average_pool(
    x: Any,
    window: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: Any = False,
    count_include_pad: Any = True,
    divisor: Any = None,
) -> Any:
    padding = listed(padding)
    total = pool(x, 0.0, lax.add, window, stride, padding, ceil=ceil_mode)
    if divisor:
        return total / divisor
    if count_include_pad and not ceil_mode:
        return total / math.prod(window)
    return total / pool(jnp.ones_like(x), 0.0, lax.add, window, stride, padding, ceil=ceil_mode)


def adaptive_average(x: Any, sizes: Sequence[int]) -> Any:
    for axis, size in zip(range(-len(sizes), 0), sizes, strict=True):
        length = x.shape[axis]
        parts = [
            x[
                ...,
                (at * length) // size : -((-(at + 1) * length) // size),
                *[slice(None)] * (-axis - 1),
            ].mean(axis, keepdims=True)
            for at in range(size)
        ]
        x = jnp.concatenate(parts, axis)
    return x


def batch_norm(x: Any, w: Any, b: Any, mean: Any, variance: Any, *rest: Any) -> Any:
    eps = rest[-1]
    shape = (1, -1, *[1] * (x.ndim - 2))
    y = (x - mean.reshape(shape)) * lax.rsqrt(variance.reshape(shape) + eps)
    y = y if w is None else y * w.reshape(shape)
    return (y if b is None else y + b.reshape(shape)), mean, variance


def instance_norm(x: Any, w: Any, b: Any, *rest: Any) -> Any:
    """A normalisation by what is in the batch, as in training."""
    axes = (0, *range(2, x.ndim))
    mean, variance = x.mean(axes), x.var(axes)
    return batch_norm(x, w, b, mean, variance, rest[-1])


def spread(given: Any) -> list[Any]:
    """The numbers of a list in which there may be lists."""
    return [one for part in given for one in listed(part)]


def nearest(x: Any, sizes: Any, *scales: Any) -> Any:
    count = x.ndim - 2
    sizes = sizes or [int(n * s) for n, s in zip(x.shape[2:], spread(scales)[-count:], strict=True)]
    for axis, size in enumerate(sizes, 2):
        x = jnp.take(x, np.arange(size) * x.shape[axis] // size, axis)
    return x


def bilinear(x: Any, sizes: Any, corners: Any, *scales: Any) -> Any:
    if corners:
        raise UnsupportedError("no conversion of PyTorch's interpolation with align_corners=True")
    sizes = sizes or [int(n * s) for n, s in zip(x.shape[2:], spread(scales)[-2:], strict=True)]
    return jax.image.resize(x, (*x.shape[:2], *sizes), "linear", antialias=False)


def layer_norm(x: Any, shape: Any, w: Any = None, b: Any = None, eps: float = 1e-5) -> Any:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    mean = x.mean(axes, keepdims=True)
    scale = lax.rsqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)
    y = (x - mean) * scale
    y = y if w is None else y * w
    return (y if b is None else y + b), mean, scale


def group_norm(x: Any, w: Any, b: Any, n: int, c: int, size: int, groups: int, eps: float) -> Any:
    del size
    y = x.reshape(n, groups, -1)
    mean = y.mean(-1, keepdims=True)
    scale = lax.rsqrt(((y - mean) ** 2).mean(-1, keepdims=True) + eps)
    shape = (1, c, *[1] * (x.ndim - 2))
    y = ((y - mean) * scale).reshape(x.shape)
    y = y if w is None else y * w.reshape(shape)
    return (y if b is None else y + b.reshape(shape)), mean, scale


def attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    dropout: float = 0.0,
    is_causal: Any = False,
    *,
    scale: Any = None,
    enable_gqa: Any = False,
) -> Any:
    del dropout, enable_gqa
    weights = q @ jnp.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        weights = jnp.where(jnp.tril(jnp.ones(weights.shape[-2:], bool)), weights, -jnp.inf)
    if mask is not None:
        weights = jnp.where(mask, weights, -jnp.inf) if mask.dtype == bool else weights + mask
    return jax.nn.softmax(weights, -1) @ v


def slice_(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    index = [slice(None)] * x.ndim
    index[dim] = slice(start or 0, None if end is None or end > x.shape[dim] else end, step)
    return x[tuple(index)]


def split_(x: Any, sizes: Any, dim: int = 0) -> Any:
    if isinstance(sizes, int):
        sizes = [min(sizes, x.shape[dim] - at) for at in range(0, x.shape[dim], sizes)]
    return jnp.split(x, np.cumsum(sizes)[:-1], dim)


def expand_(x: Any, sizes: Sequence[int], **_: Any) -> Any:
    old = (1,) * (len(sizes) - x.ndim) + x.shape
    return jnp.broadcast_to(x, [o if n == -1 else n for o, n in zip(old, sizes, strict=True)])


def gelu(x: Any, *, approximate: str = "none") -> Any:
    return jax.nn.gelu(x, approximate=approximate == "tanh")


def reduce_(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(x: Any, dims: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        x = x if dtype is None else x.astype(element_type(dtype))
        return function(x, axis=axes_of(dims, x.ndim), keepdims=keepdim)

    return reduce


def best(value: Callable[..., Any], place: Callable[..., Any]) -> Callable[..., Any]:
    def best(x: Any, dim: int, keepdim: bool = False) -> Any:
        return value(x, axis=dim, keepdims=keepdim), place(x, axis=dim, keepdims=keepdim)

    return best


def var(x: Any, dims: Any = None, *, correction: float = 1, keepdim: bool = False) -> Any:
    return jnp.var(x, axis=axes_of(dims, x.ndim), ddof=correction, keepdims=keepdim)


def pad_(x: Any, widths: Sequence[int], value: float = 0.0) -> Any:
    pairs = [(widths[at], widths[at + 1], 0) for at in range(0, len(widths), 2)][::-1]
    return lax.pad(x, jnp.asarray(value, x.dtype), [(0, 0, 0)] * (x.ndim - len(pairs)) + pairs)


def cast_(x: Any, dtype: Any = None, **_: Any) -> Any:
    return jnp.asarray(x) if dtype is None else jnp.asarray(x).astype(element_type(dtype))


def full_(sizes: Any, value: Any, dtype: Any = None, **_: Any) -> Any:
    return jnp.full(sizes, value, None if dtype is None else element_type(dtype))


def arange(*ends: Any, dtype: Any = None, **_: Any) -> Any:
    return jnp.arange(*ends, dtype=None if dtype is None else element_type(dtype))


def with_alpha(function: Callable[..., Any]) -> Callable[..., Any]:
    def scaled(x: Any, y: Any, alpha: Any = 1) -> Any:
        return function(x, y if alpha == 1 else alpha * y)

    return scaled


def divide_(x: Any, y: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode == "floor":
        return jnp.floor_divide(x, y)
    return jnp.trunc(x / y) if rounding_mode == "trunc" else jnp.true_divide(x, y)


def clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


def repeat_(x: Any, times: Sequence[int]) -> Any:
    return jnp.tile(x, times)


def index_(x: Any, indices: Sequence[Any]) -> Any:
    return x[tuple(slice(None) if one is None else one for one in indices)]


def gather(x: Any, dim: int, index: Any, **_: Any) -> Any:
    return jnp.take_along_axis(x, index, dim)


def topk(x: Any, k: int, dim: int = -1, *_: Any) -> Any:
    values, places = lax.top_k(jnp.moveaxis(x, dim, -1), k)
    return jnp.moveaxis(values, -1, dim), jnp.moveaxis(places, -1, dim)


def softmax(x: Any, dim: int, half: Any = False) -> Any:
    del half
    return jax.nn.softmax(x, dim)


def log_softmax(x: Any, dim: int, half: Any = False) -> Any:
    del half
    return jax.nn.log_softmax(x, dim)


def running_sum(x: Any, dim: int, **_: Any) -> Any:
    return jnp.cumsum(x, dim)


def full_like(x: Any, value: Any, **_: Any) -> Any:
    return jnp.full_like(x, value)


def zeros_like(x: Any, **_: Any) -> Any:
    return jnp.zeros_like(x)


def ones_like(x: Any, **_: Any) -> Any:
    return jnp.ones_like(x)


def same_(x: Any, *_: Any, **__: Any) -> Any:
    return x
