"""The MobileNet of the suite: inverted residuals for small images, in JAX.

It is written in the form that XLA runs fastest on a CPU, so that a search cannot win by undoing a
poor choice; `docs/explanation/suite-models.md` has the measurements:

- a depthwise convolution is nine shifted products (XLA's grouped convolution takes many times as
  long), and a pointwise convolution is a matrix product;
- normalisation is folded into the weights;
- images go through in small groups, which stay in the cache.

Only the first convolution is as such networks have it, of three colours. With a fourth that is zero
it would take a fraction of the time; that is left for a search to find.
"""

from typing import Any

import jax as _jax
from jax import lax as _lax
from jax import numpy as _numpy

jax: Any = _jax  # most of JAX has no types
lax: Any = _lax
jnp: Any = _numpy

Tree = dict[str, Any]


def predict(weights: Tree, images: Any) -> Any:
    """The score of each class, [count, classes], of images [count, h, w, c]."""
    stem = weights["stem"]
    layout = ("NHWC", "HWIO", "NHWC")
    x = lax.conv_general_dilated(images, stem["w"], (2, 2), ((1, 1), (1, 1)), None, None, layout)
    x = _relu(x + stem["b"])
    for block in weights["blocks"]:
        x = _inverted_residual(block, x)
    return _pointwise(weights["out"], _relu(_pointwise(weights["head"], x)).mean((1, 2)))


def cross_entropy(scores: Any, labels: Any) -> Any:
    """The mean cross-entropy of scores, [count, classes]."""
    chosen = jax.nn.one_hot(labels, scores.shape[-1])
    return -(chosen * jax.nn.log_softmax(scores)).sum(-1).mean()


def _inverted_residual(block: Tree, x: Any) -> Any:
    """Widen, convolve each channel alone, narrow; where the width stays, add what came in.

    A block that changes the width halves the image.
    """
    keeps = block["narrow"]["w"].shape[1] == x.shape[-1]
    wide = _relu(_pointwise(block["widen"], x))
    wide = _relu(_depthwise(wide, block["each"]["w"], 1 if keeps else 2) + block["each"]["b"])
    y = _pointwise(block["narrow"], wide)
    return x + y if keeps else y


def _pointwise(layer: Tree, x: Any) -> Any:
    return x @ layer["w"] + layer["b"]


def _depthwise(x: Any, w: Any, stride: int) -> Any:
    height, width = x.shape[1:3]
    around = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return sum(
        around[:, i : i + height : stride, j : j + width : stride] * w[i, j]
        for i in range(3)
        for j in range(3)
    )


def _relu(x: Any) -> Any:
    return jnp.maximum(x, 0)
