"""The ResNet of the suite, in JAX: channels last and in small groups of images, as XLA likes it on a CPU."""

from typing import Any

from jax import lax as _lax
from jax import numpy as _numpy

lax: Any = _lax  # most of JAX has no types
jnp: Any = _numpy

Tree = dict[str, Any]


def predict(weights: Tree, images: Any) -> Any:
    """The score of each class, [count, classes], of images [count, h, w, c]."""
    x = jnp.maximum(_layer(weights["stem"], images), 0)
    x = lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0))
    )
    for block in weights["blocks"]:
        x = _block(block, x)
    return x.mean((1, 2)) @ weights["out"]["w"] + weights["out"]["b"]


def _block(block: Tree, x: Any) -> Any:
    """Two layers, added to what came in; where there is a short cut, they halve the image."""
    short = block.get("short")
    y = jnp.maximum(_layer(block["first"], x, 2 if short else 1), 0)
    y = _layer(block["second"], y)
    return jnp.maximum(y + (_layer(short, x, 2) if short else x), 0)


def _layer(layer: Tree, x: Any, stride: int = 1) -> Any:
    around = [(side // 2, side // 2) for side in layer["w"].shape[:2]]
    layout = ("NHWC", "HWIO", "NHWC")
    y = lax.conv_general_dilated(x, layer["w"], (stride, stride), around, None, None, layout)
    return y + layer["b"]
