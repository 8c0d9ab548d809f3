"""ONNX's layers in JAX: convolutions, pools, normalisations, resizing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gevolve.onnx.node import Node, each, jnp, lax


def around(
    node: Node, sizes: Any, window: Any, stride: Any, dilation: Any
) -> list[tuple[int, int]]:
    """How much is put around each axis."""
    rank, auto = len(sizes), node.get("auto_pad", "NOTSET")
    if auto in {"NOTSET", "VALID"}:
        pads = each(node.get("pads") if auto == "NOTSET" else None, 2 * rank, 0)
        return list(zip(pads[:rank], pads[rank:], strict=True))
    found: list[tuple[int, int]] = []
    for size, k, s, d in zip(sizes, window, stride, dilation, strict=True):
        more = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
        less = more // 2
        found.append((less, more - less) if auto == "SAME_UPPER" else (more - less, less))
    return found


def layout(rank: int) -> tuple[str, str, str]:
    space = "DHW"[-rank:] if rank < 4 else "DHWXYZ"[:rank]
    return (f"NC{space}", f"OI{space}", f"NC{space}")


def convolution(node: Node, x: Any, w: Any, bias: Any = None) -> Any:
    rank = x.ndim - 2
    stride, dilation = (each(node.get(name), rank, 1) for name in ("strides", "dilations"))
    pads = around(node, x.shape[2:], w.shape[2:], stride, dilation)
    y = lax.conv_general_dilated(
        x, w, stride, pads, None, dilation, layout(rank), feature_group_count=node.get("group", 1)
    )
    return y if bias is None else y + bias.reshape(1, -1, *[1] * rank)


def transposed_convolution(node: Node, x: Any, w: Any, bias: Any = None) -> Any:
    rank, groups = x.ndim - 2, node.get("group", 1)
    stride, dilation = (each(node.get(name), rank, 1) for name in ("strides", "dilations"))
    extra = each(node.get("output_padding"), rank, 0)
    reach = [(k - 1) * d for k, d in zip(w.shape[2:], dilation, strict=True)]
    wanted, auto = node.get("output_shape"), node.get("auto_pad", "NOTSET")
    pads: list[tuple[int, int]] = []
    given = around(node, x.shape[2:], w.shape[2:], stride, dilation) if auto == "NOTSET" else []
    for at, (size, s, r, e) in enumerate(zip(x.shape[2:], stride, reach, extra, strict=True)):
        less, more = given[at] if given else (0, 0)
        if wanted or auto.startswith("SAME"):
            size_out = wanted[-rank:][at] if wanted else size * s
            total = max(0, (size - 1) * s + e + r + 1 - size_out)
            less = total - total // 2 if auto == "SAME_LOWER" else total // 2
            more = total - less
        pads.append((r - less, r - more + e))
    outputs, inputs = w.shape[1], w.shape[0]
    w = jnp.flip(w, tuple(range(2, w.ndim)))
    w = w.reshape(groups, inputs // groups, outputs, *w.shape[2:]).swapaxes(1, 2)
    w = w.reshape(groups * outputs, inputs // groups, *w.shape[3:])
    y = lax.conv_general_dilated(
        x, w, [1] * rank, pads, stride, dilation, layout(rank), feature_group_count=groups
    )
    return y if bias is None else y + bias.reshape(1, -1, *[1] * rank)


def _pooled(node: Node, x: Any, start: Any, combine: Any, pads: Any, sizes: Any) -> Any:
    """A reduction over windows; the sizes are those without what is put around."""
    rank = len(sizes)
    window = node.get("kernel_shape")
    stride, dilation = (each(node.get(name), rank, 1) for name in ("strides", "dilations"))
    borders = [(0, 0), (0, 0)]
    for have, size, (less, more), k, s, d in zip(
        x.shape[2:], sizes, pads, window, stride, dilation, strict=True
    ):
        left = size + less + more - (k - 1) * d - 1
        count = left // s + 1
        if node.get("ceil_mode") and left % s and count * s < size + less:
            count += 1
        reach = (count - 1) * s + (k - 1) * d + 1  # what all windows together cover
        before = less if have == size else 0
        borders.append((before, reach - have - before))
    ones = (1, 1)
    return lax.reduce_window(
        x, start, combine, (*ones, *window), (*ones, *stride), borders, None, (*ones, *dilation)
    )


def _pads(node: Node, x: Any) -> list[tuple[int, int]]:
    rank = x.ndim - 2
    stride, dilation = (each(node.get(name), rank, 1) for name in ("strides", "dilations"))
    return around(node, x.shape[2:], node.get("kernel_shape"), stride, dilation)


def max_pool(node: Node, x: Any) -> Any:
    if node.outputs > 1:
        raise node.refuse("that gives places, too")
    least = -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    return _pooled(node, x, np.asarray(least, x.dtype), lax.max, _pads(node, x), x.shape[2:])


def average_pool(node: Node, x: Any) -> Any:
    pads, sizes = _pads(node, x), x.shape[2:]
    zero = np.asarray(0, x.dtype)
    total = _pooled(node, x, zero, lax.add, pads, sizes)
    ones = np.ones((1, 1, *sizes), x.dtype)
    if node.get("count_include_pad"):
        ones = np.pad(ones, [(0, 0), (0, 0), *pads], constant_values=1)
    return total / _pooled(node, ones, zero, lax.add, pads, sizes)


def batch_norm(node: Node, x: Any, scale: Any, b: Any, mean: Any, variance: Any) -> Any:
    if node.get("training_mode"):
        raise node.refuse("in training")
    shape = (1, -1, *[1] * (x.ndim - 2))
    factor = scale * lax.rsqrt(variance + np.asarray(node.get("epsilon", 1e-5), variance.dtype))
    y = (x - mean.reshape(shape)) * factor.reshape(shape) + b.reshape(shape)
    return y.astype(x.dtype)


def instance_norm(node: Node, x: Any, scale: Any, b: Any) -> Any:
    axes, shape = tuple(range(2, x.ndim)), (1, -1, *[1] * (x.ndim - 2))
    return _normal(x, axes, node.get("epsilon", 1e-5)) * scale.reshape(shape) + b.reshape(shape)


def group_norm(node: Node, x: Any, scale: Any, b: Any) -> Any:
    groups, shape = node.get("num_groups"), (1, -1, *[1] * (x.ndim - 2))
    y = _normal(x.reshape(x.shape[0], groups, -1), (2,), node.get("epsilon", 1e-5)).reshape(x.shape)
    if scale.shape[0] != x.shape[1]:  # before version 21 there is one for each group
        scale, b = (jnp.repeat(one, x.shape[1] // groups) for one in (scale, b))
    return y * scale.reshape(shape) + b.reshape(shape)


def layer_norm(node: Node, x: Any, scale: Any, b: Any = None) -> Any:
    if node.outputs > 1:
        raise node.refuse("that gives its mean, too")
    axes = tuple(range(node.get("axis", -1) % x.ndim, x.ndim))
    y = (_normal(x.astype(np.float32), axes, node.get("epsilon", 1e-5))).astype(x.dtype) * scale
    return y if b is None else y + b


def _normal(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    mean = x.mean(axes, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)


def local_norm(node: Node, x: Any) -> Any:
    """Local response normalisation, over neighbouring channels."""
    size = node.get("size")
    less = (size - 1) // 2
    window = (1, size, *[1] * (x.ndim - 2))
    pads = [(0, 0), (less, size - 1 - less), *[(0, 0)] * (x.ndim - 2)]
    total = lax.reduce_window(x * x, np.asarray(0, x.dtype), lax.add, window, [1] * x.ndim, pads)
    factor = node.get("alpha", 1e-4) / size
    return x / (node.get("bias", 1.0) + factor * total) ** node.get("beta", 0.75)


def resize(node: Node, x: Any, *rest: Any) -> Any:
    """Interpolate along each axis that changes."""
    given: list[Any] = [None if one is None or not np.size(one) else one for one in rest]
    scales, sizes = (given[0], None) if len(given) == 1 else ([*given, None, None][1:3])
    for name, plain in (
        ("antialias", 0),
        ("exclude_outside", 0),
        ("keep_aspect_ratio_policy", "stretch"),
    ):
        if node.get(name, plain) != plain:
            raise node.refuse(f"with {name}")
    axes = [one % x.ndim for one in node.get("axes") or range(x.ndim)]
    if sizes is not None:
        wanted = node.numbers(sizes, "sizes")
        factors = [size / x.shape[axis] for axis, size in zip(axes, wanted, strict=True)]
    else:
        if scales is None and node.get("scales") is None:
            raise node.refuse("without scales")
        known = node.get("scales") if scales is None else node.known(scales, "scales")
        factors = [float(one) for one in known]
        wanted = [math.floor(x.shape[axis] * f) for axis, f in zip(axes, factors, strict=True)]
    for axis, size, factor in zip(axes, wanted, factors, strict=True):
        if size != x.shape[axis] or factor != 1:
            x = _resized(node, x, axis, size, factor)
    return x


def _resized(node: Node, x: Any, axis: int, size: int, factor: float) -> Any:
    length, at = x.shape[axis], np.arange(size, dtype=np.float64)
    default = "asymmetric" if node.kind == "Upsample" else "half_pixel"
    rule = node.get("coordinate_transformation_mode", default)
    rules = {
        "half_pixel": lambda: (at + 0.5) / factor - 0.5,
        "pytorch_half_pixel": lambda: (at + 0.5) / factor - 0.5 if size > 1 else at * 0,
        "half_pixel_symmetric": lambda: (
            length / 2 * (1 - size / (factor * length)) + (at + 0.5) / factor - 0.5
        ),
        "align_corners": lambda: at * (length - 1) / (size - 1) if size > 1 else at * 0,
        "asymmetric": lambda: at / factor,
    }
    if rule not in rules:
        raise node.refuse(f"by {rule}")
    place = rules[rule]()
    mode = node.get("mode", "nearest")
    if mode == "nearest":
        near = {
            "round_prefer_floor": lambda: np.ceil(place - 0.5),
            "round_prefer_ceil": lambda: np.floor(place + 0.5),
            "floor": lambda: np.floor(place),
            "ceil": lambda: np.ceil(place),
        }[node.get("nearest_mode", "floor" if node.kind == "Upsample" else "round_prefer_floor")]()
        return node.xp.take(x, np.clip(near, 0, length - 1).astype(np.int32), axis)
    first = np.floor(place)
    part = place - first
    if mode == "linear":
        taps = [(0, 1 - part), (1, part)]
    else:
        a = node.get("cubic_coeff_a", -0.75)
        taps = [(k, _cubic(np.abs(part - k), a)) for k in (-1, 0, 1, 2)]
    shape = [1] * x.ndim
    shape[axis] = size
    y: Any = 0
    for step, weight in taps:
        places = np.clip(first + step, 0, length - 1).astype(np.int32)
        y = y + node.xp.take(x, places, axis) * weight.astype(x.dtype).reshape(shape)
    return y


def _cubic(t: Any, a: float) -> Any:
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0))
