"""Writes the StableHLO files in fixtures/: programs as other tools would hand them over.

Weights are arguments and the text has no locations. Run it again only to add a program:
`python -m tests.ir.stablehlo.make_fixtures`.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax

F32, I32 = jnp.float32, jnp.int32


def array(*shape, dtype=F32):
    return jax.ShapeDtypeStruct(shape, dtype)


def conv(x, w, stride=1, groups=1, dilation=1):
    return lax.conv_general_dilated(
        x,
        w,
        (stride, stride),
        "SAME",
        rhs_dilation=(dilation, dilation),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )


def normalise(x, scale, shift):
    mean = x.mean((0, 1, 2))
    variance = x.var((0, 1, 2))
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift


def resnet(images, stem, blocks, head):
    """Two residual blocks, one with groups and one with dilation, between pooling layers."""
    x = jax.nn.relu(conv(images, stem))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    for block, (groups, dilation) in zip(blocks, ((4, 1), (1, 2)), strict=True):
        y = jax.nn.relu(normalise(conv(x, block["w1"], groups=groups), block["s1"], block["b1"]))
        y = normalise(conv(y, block["w2"], dilation=dilation), block["s2"], block["b2"])
        x = jax.nn.relu(x + y)
    x = x.mean((1, 2))
    return jax.nn.log_softmax(x @ head["w"] + head["b"])


def transformer(tokens, table, position, layer, out):
    """One layer with causal attention over an embedding, and the three likeliest next tokens."""
    x = table[tokens] + position
    length, width = x.shape[1:]
    heads = 4

    def norm(x, g):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(jnp.mean((x - mean) ** 2, -1, keepdims=True) + 1e-5) * g

    h = norm(x, layer["g1"])
    q, k, v = (
        (h @ layer[name]).reshape(-1, length, heads, width // heads).transpose(0, 2, 1, 3)
        for name in ("q", "k", "v")
    )
    scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(jnp.float32(width // heads))
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(-1, length, width)
    x = x + mixed @ layer["o"]
    x = x + jax.nn.gelu(norm(x, layer["g2"]) @ layer["up"]) @ layer["down"]
    logits = x[:, -1] @ out
    order = jnp.argsort(-logits, axis=-1)
    return jax.nn.softmax(logits), order[:, :3]


def lstm_training(weights, inputs, labels, rate, phase):
    """Some epochs of gradient descent on an LSTM that reads sequences: loops within a loop."""

    def loss(weights, batch, label):
        def step(state, token):
            h, c = state
            gates = weights["embed"][token] + h @ weights["recur"] + weights["bias"]
            i, f, g, o = jnp.split(gates, 4, axis=-1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), None

        zero = jnp.zeros((batch.shape[0], weights["recur"].shape[0]))
        (h, _), _ = lax.scan(step, (zero, zero), batch.T)
        scores = jax.nn.log_softmax(h @ weights["out"])
        return -jnp.take_along_axis(scores, label[:, None], 1).mean()

    def epoch(number, carry):
        weights, losses = carry
        size = inputs.shape[0] // 4
        at = (number % 4) * size
        batch = lax.dynamic_slice_in_dim(inputs, at, size)
        label = lax.dynamic_slice_in_dim(labels, at, size)
        value, gradient = jax.value_and_grad(loss)(weights, batch, label)
        factor = lax.switch(
            phase, [lambda n: rate, lambda n: rate / (n + 1), lambda n: rate * 0.5], number * 1.0
        )
        weights = jax.tree.map(lambda w, g: w - factor * jnp.clip(g, -1, 1), weights, gradient)
        return weights, losses.at[number].set(value)

    return lax.fori_loop(0, 12, epoch, (weights, jnp.zeros(12)))


PROGRAMS = {
    "resnet": (
        resnet,
        (
            array(2, 16, 16, 3),
            array(3, 3, 3, 8),
            [
                {
                    "w1": array(3, 3, 8 // groups, 8),
                    "w2": array(3, 3, 8, 8),
                    **{name: array(8) for name in ("s1", "b1", "s2", "b2")},
                }
                for groups in (4, 1)
            ],
            {"w": array(8, 10), "b": array(10)},
        ),
    ),
    "transformer": (
        transformer,
        (
            array(2, 12, dtype=I32),
            array(50, 16),
            array(12, 16),
            {
                **{name: array(16, 16) for name in ("q", "k", "v", "o")},
                **{name: array(16) for name in ("g1", "g2")},
                "up": array(16, 32),
                "down": array(32, 16),
            },
            array(16, 50),
        ),
    ),
    "lstm": (
        lstm_training,
        (
            {
                "embed": array(20, 32),
                "recur": array(8, 32),
                "bias": array(32),
                "out": array(8, 4),
            },
            array(16, 6, dtype=I32),
            array(16, dtype=I32),
            array(),
            array(dtype=I32),
        ),
    ),
}


def main():
    folder = Path(__file__).parent / "fixtures"
    for name, (function, arguments) in PROGRAMS.items():
        lowered = jax.jit(function, keep_unused=True).lower(*arguments)
        (folder / f"{name}.mlir").write_text(lowered.as_text())


if __name__ == "__main__":
    main()
