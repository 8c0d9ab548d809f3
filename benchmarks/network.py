"""In which form XLA runs the suite's MobileNet fastest: what its baseline is, and what it is not.

CPU time of all threads, minimum of some turns, for a thousand images of noise.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from gevolve.suite.models import network, weights
from gevolve.workload.locate import locate

TURNS = 5
IMAGES = 1000
NHWC, NCHW = ("NHWC", "HWIO", "NHWC"), ("NCHW", "HWIO", "NCHW")


def grouped(x: Any, w: Any, stride: int) -> Any:
    """A depthwise convolution as XLA knows it."""
    return lax.conv_general_dilated(
        x, w[:, :, None], (stride, stride), ((1, 1), (1, 1)), None, None, NHWC, x.shape[-1]
    )


def convolved(layer: Any, x: Any) -> Any:
    """A pointwise convolution as a convolution."""
    if x.ndim == 2:
        return x @ layer["w"] + layer["b"]
    w = layer["w"][None, None]
    return lax.conv_general_dilated(x, w, (1, 1), "VALID", None, None, NHWC) + layer["b"]


def four_colours(tree: Any, images: Any) -> Any:
    """The same network on images whose fourth colour is zero."""
    stem = tree["stem"]
    wider = {**stem, "w": jnp.pad(stem["w"], ((0, 0), (0, 0), (0, 1), (0, 0)))}
    images = jnp.pad(images, ((0, 0), (0, 0), (0, 0), (0, 1)))
    return network.predict({**tree, "stem": wider}, images)


def channels_first(tree: Any, images: Any) -> Any:
    """The same network on [n, c, h, w]."""

    def dense(layer: Any, x: Any) -> Any:
        return jnp.einsum("nchw,cd->ndhw", x, layer["w"]) + layer["b"][:, None, None]

    def each(layer: Any, x: Any, stride: int) -> Any:
        h, w = x.shape[2:]
        around = jnp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        taps = [(i, j) for i in range(3) for j in range(3)]
        parts = (around[:, :, i : i + h : stride, j : j + w : stride] for i, j in taps)
        y = sum(p * layer["w"][i, j][:, None, None] for p, (i, j) in zip(parts, taps, strict=True))
        return y + layer["b"][:, None, None]

    stem = tree["stem"]
    x = lax.conv_general_dilated(
        images.transpose(0, 3, 1, 2), stem["w"], (2, 2), ((1, 1), (1, 1)), None, None, NCHW
    )
    x = jax.nn.relu(x + stem["b"][:, None, None])
    for block in tree["blocks"]:
        keeps = block["narrow"]["w"].shape[1] == x.shape[1]
        y = jax.nn.relu(dense(block["widen"], x))
        y = jax.nn.relu(each(block["each"], y, 1 if keeps else 2))
        y = dense(block["narrow"], y)
        x = x + y if keeps else y
    x = jax.nn.relu(dense(tree["head"], x)).mean((2, 3))
    return x @ tree["out"]["w"] + tree["out"]["b"]


@contextmanager
def instead(**functions: Callable[..., Any]) -> Iterator[None]:
    kept = {name: getattr(network, name) for name in functions}
    try:
        for name, function in functions.items():
            setattr(network, name, function)
        yield
    finally:
        for name, function in kept.items():
            setattr(network, name, function)


def main() -> None:
    workload: Any = locate("mobilenet-tiny")
    tree = jax.device_put(weights.load(weights.Path(weights.__file__).with_name(workload.trained)))
    noise = np.random.default_rng(0).standard_normal((IMAGES, 32, 32, 3), np.float32)
    groups = workload.groups[1]
    forms: dict[str, tuple[int, dict[str, Any], Any]] = {
        "as shipped": (groups, {}, network.predict),
        "depthwise as grouped convolution": (groups, {"_depthwise": grouped}, network.predict),
        "a fourth colour, which is zero": (groups, {}, four_colours),
        "pointwise as convolution": (groups, {"_pointwise": convolved}, network.predict),
        "channels before pixels (NCHW)": (groups, {}, channels_first),
        **{
            f"groups of {n}": (n, {}, network.predict)
            for n in (5, 20, 50, 100, 250, IMAGES)
            if n != groups
        },
    }
    ready: dict[str, tuple[Any, Any]] = {}
    reference: Any = None
    for name, (size, functions, predict) in forms.items():
        images = jax.device_put(noise.reshape(-1, size, *noise.shape[1:]))

        def fresh(tree: Any, images: Any, predict: Any = predict) -> Any:  # jit knows by identity
            return lax.map(lambda group: predict(tree, group), images)

        with instead(**functions):
            compiled = jax.jit(fresh).lower(tree, images).compile()
        scores = np.asarray(compiled(tree, images)).reshape(IMAGES, -1)
        reference = scores if reference is None else reference
        assert np.allclose(scores, reference, atol=1e-3), name
        ready[name] = compiled, images
    best = dict.fromkeys(ready, float("inf"))
    for _ in range(TURNS):
        for name, (compiled, images) in ready.items():
            start = time.process_time()
            jax.block_until_ready(compiled(tree, images))
            best[name] = min(best[name], time.process_time() - start)
    for name, took in best.items():
        print(f"{name:34} {1e3 * took:>7.0f} ms {took / best['as shipped']:>6.2f}")


if __name__ == "__main__":
    main()
