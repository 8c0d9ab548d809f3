"""Small models of kinds that the suite has not: to see whether the modelled time holds for programs that nobody tuned it to."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

RNG = np.random.default_rng(7)


def normal(*shape: int) -> Any:
    return (RNG.standard_normal(shape) * 0.2).astype(np.float32)


def convolved(x: Any, kernel: Any, stride: int = 1) -> Any:
    form = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", None, None, form)


def u_net(weights: Any, x: Any) -> Any:
    """Down twice, up twice, and what was there on the way down beside it."""
    kept: list[Any] = []
    for kernel in weights[0]:
        x = jax.nn.relu(convolved(x, kernel))
        kept.append(x)
        x = x.reshape(len(x), x.shape[1] // 2, 2, x.shape[2] // 2, 2, -1).max((2, 4))
    x = jax.nn.relu(convolved(x, weights[1]))
    for kernel, beside in zip(weights[2], reversed(kept), strict=True):
        x = jnp.concatenate([x.repeat(2, 1).repeat(2, 2), beside], -1)
        x = jax.nn.relu(convolved(x, kernel))
    return jax.nn.sigmoid(convolved(x, weights[3]))


def graph(weights: Any, features: Any, sources: Any, targets: Any) -> Any:
    """Three graph convolutions: each node takes the mean of those with an edge to it."""
    count = len(features)
    degree = jax.ops.segment_sum(jnp.ones(len(targets)), targets, count) + 1
    for own, others in weights[:-1]:
        sums = jax.ops.segment_sum(features[sources], targets, count)
        features = jax.nn.elu(features @ own + (sums / degree[:, None]) @ others)
    return jax.nn.log_softmax(features @ weights[-1])


def gru(weights: Any, steps: Any) -> Any:
    """A gated recurrent unit over 16 steps."""
    gates, fresh, out = weights

    def step(held: Any, x: Any) -> Any:
        reset, keep = jnp.split(jax.nn.sigmoid(jnp.concatenate([x, held], -1) @ gates), 2, -1)
        made = jnp.tanh(jnp.concatenate([x, reset * held], -1) @ fresh)
        return keep * held + (1 - keep) * made, None

    start = jnp.zeros((steps.shape[1], fresh.shape[1]), jnp.float32)
    return jax.lax.scan(step, start, steps)[0] @ out


def encoder(weights: Any, tokens: Any) -> Any:
    """A transformer of two layers and three heads over embedded tokens, each of which sees those before it."""
    table, layers = weights
    x = table[tokens]
    length = tokens.shape[1]
    seen = jnp.tril(jnp.ones((length, length), bool))
    for joined, out, wide, narrow, scale in layers:
        y = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale
        q, k, v = (y @ joined).reshape(*x.shape[:2], 3, 3, -1).transpose(2, 0, 3, 1, 4)
        scores = jnp.where(seen, q @ k.swapaxes(-1, -2) / 4, -1e9)
        mixed = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + mixed @ out
        x = x + jax.nn.gelu(x @ wide) @ narrow
    return x[:, -1] @ table.T


def training(weights: Any, velocities: Any, images: Any, labels: Any) -> Any:
    """Three steps of gradient descent with momentum of a small convolutional network."""

    def loss(weights: Any) -> Any:
        first, second, dense = weights
        x = jax.nn.relu(convolved(images, first, 2))
        x = jax.nn.relu(convolved(x, second, 2))
        return -(jax.nn.log_softmax(x.reshape(len(x), -1) @ dense) * labels).sum(-1).mean()

    def step(_: Any, held: Any) -> Any:
        weights, velocities = held
        steps = jax.grad(loss)(weights)
        velocities = [0.9 * v - 0.05 * g for v, g in zip(velocities, steps, strict=True)]
        return [w + v for w, v in zip(weights, velocities, strict=True)], velocities

    return jax.lax.fori_loop(0, 3, step, (weights, velocities))[0]


def _training() -> list[Any]:
    weights = [normal(3, 3, 3, 8), normal(3, 3, 8, 16), normal(144, 10)]
    labels = np.eye(10, dtype=np.float32)[np.arange(8)]
    return [weights, [0 * one for one in weights], normal(8, 12, 12, 3), labels]


def residual(weights: Any, x: Any) -> Any:
    """Residual blocks with batch statistics, and a shortcut of one by one where they narrow."""

    def normalised(x: Any) -> Any:
        return (x - x.mean((0, 1, 2))) * jax.lax.rsqrt(x.var((0, 1, 2)) + 1e-5)

    x = jax.nn.relu(normalised(convolved(x, weights[0])))
    for first, second, short in weights[1]:
        y = jax.nn.relu(normalised(convolved(x, first, 2)))
        x = jax.nn.relu(normalised(convolved(y, second)) + convolved(x, short, 2))
    return x.mean((1, 2)) @ weights[2]


def temporal(weights: Any, x: Any) -> Any:
    """Causal convolutions along time, each over twice the span of the one before, with gates."""
    for power, (filtered, gate, out) in enumerate(weights):
        y = jnp.pad(x, ((0, 0), (2 << power, 0), (0, 0)))
        parts = [y[:, at << power : (at << power) + x.shape[1]] for at in range(3)]
        spans = jnp.concatenate(parts, -1)
        x = x + (jnp.tanh(spans @ filtered) * jax.nn.sigmoid(spans @ gate)) @ out
    return x


def experts(weights: Any, x: Any) -> Any:
    """Two of six experts for each row, by the softmax of a gate."""
    gate, wide, narrow = weights
    share = jax.nn.softmax(x @ gate)
    least = jax.lax.top_k(share, 2)[0][:, 1:]
    share = jnp.where(share >= least, share, 0)
    hidden = jax.nn.silu(jnp.einsum("bd,edh->beh", x, wide))
    return jnp.einsum("beh,ehd,be->bd", hidden, narrow, share / share.sum(-1, keepdims=True))


def autoencoder(weights: Any, x: Any) -> Any:
    """Dense layers down to a few numbers and back, and the error of each row."""
    y = x
    for number, (weight, bias) in enumerate(weights):
        y = y @ weight + bias
        y = y if number == len(weights) - 1 else jax.nn.softplus(y)
    return y, jnp.sqrt(((y - x) ** 2).mean(-1))


def adam(weights: Any, x: Any, y: Any) -> Any:
    """Four steps of Adam of two dense layers with a layer norm between them."""

    def loss(weights: Any) -> Any:
        first, scale, second = weights
        hidden = x @ first
        hidden = hidden - hidden.mean(-1, keepdims=True)
        hidden = hidden * jax.lax.rsqrt((hidden**2).mean(-1, keepdims=True) + 1e-5) * scale
        return ((jax.nn.gelu(hidden) @ second - y) ** 2).mean()

    def step(held: Any, number: Any) -> Any:
        weights, means, squares = held
        slopes = jax.grad(loss)(weights)
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slopes)
        squares = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, squares, slopes)
        rate = 0.01 * jnp.sqrt(1 - 0.99 ** (number + 1)) / (1 - 0.9 ** (number + 1))
        weights = jax.tree.map(
            lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-7), weights, means, squares
        )
        return (weights, means, squares), None

    none = jax.tree.map(jnp.zeros_like, weights)
    return jax.lax.scan(step, (weights, none, none), jnp.arange(4.0))[0][0]


def squeeze(weights: Any, x: Any) -> Any:
    """Blocks of a wide and a narrow convolution whose channels are weighted by what the whole image says, and a pooling."""
    stem, blocks, out = weights
    x = jax.nn.silu(convolved(x, stem, 2))
    for wide, down, up, narrow in blocks:
        y = jax.nn.silu(convolved(x, wide))
        share = jax.nn.sigmoid(jax.nn.relu(y.mean((1, 2)) @ down) @ up)
        x = x + convolved(y * share[:, None, None], narrow)
    return jax.nn.softmax(x.max((1, 2)) @ out)


def towers(weights: Any, people: Any, things: Any, told: Any) -> Any:
    """Two towers of dense layers over embeddings, and how well each of one goes with all of the other."""
    table, others, left, right, scale = weights

    def tower(x: Any, layers: Any) -> Any:
        for weight, bias in layers:
            x = jax.nn.leaky_relu(x @ weight + bias)
            x = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x / jnp.sqrt((x * x).sum(-1, keepdims=True))

    mine = tower(jnp.concatenate([table[people].mean(1), told], -1), left)
    theirs = tower(others[things], right)
    return jax.nn.log_softmax(mine @ theirs.T * jnp.exp(scale))


def lstm(weights: Any, steps: Any) -> Any:
    """A long short-term memory over 12 steps, and the mean of all that it held."""
    gates, bias, out = weights

    def step(state: Any, x: Any) -> Any:
        held, cell = state
        asked, forgotten, given, new = jnp.split(
            jnp.concatenate([x, held], -1) @ gates + bias, 4, -1
        )
        cell = jax.nn.sigmoid(forgotten) * cell + jax.nn.sigmoid(asked) * jnp.tanh(new)
        held = jax.nn.sigmoid(given) * jnp.tanh(cell)
        return (held, cell), held

    start = jnp.zeros((steps.shape[1], out.shape[0]), jnp.float32)
    return jax.lax.scan(step, (start, start), steps)[1].mean(0) @ out


def sets(weights: Any, x: Any) -> Any:
    """Points of a cloud through the same layers, seen together by a few questions and by their greatest."""
    for weight, bias in weights[0]:
        x = jax.nn.gelu(x @ weight + bias)
    asked, dense, out = weights[1:]
    share = jax.nn.softmax(x @ asked, 1)
    seen = jnp.einsum("bpq,bpc->bqc", share, x).reshape(len(x), -1)
    both = jnp.concatenate([seen, x.max(1), jnp.log1p(jnp.exp(x)).mean(1)], -1)
    return jax.nn.log_softmax(jax.nn.relu(both @ dense) @ out)


def mixture(weights: Any, x: Any, y: Any) -> Any:
    """How likely each row is under a mixture of normal distributions that a network gives, and its slope."""

    def likely(weights: Any) -> Any:
        wide, narrow = weights
        told = jnp.tanh(x @ wide) @ narrow
        share, middle, spread = jnp.split(told.reshape(len(x), 3, -1), 3, 1)
        apart = (y[:, None, None] - middle) * jnp.exp(-spread)
        each = jax.nn.log_softmax(share) - 0.5 * apart * apart - spread
        return jax.scipy.special.logsumexp(each, -1).mean()

    value, slopes = jax.value_and_grad(likely)(weights)
    return value, [w + 0.1 * s for w, s in zip(weights, slopes, strict=True)]


UNSEEN: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "u-net": (
        u_net,
        [
            [
                [normal(3, 3, 4, 12), normal(3, 3, 12, 24)],
                normal(3, 3, 24, 48),
                [normal(3, 3, 72, 24), normal(3, 3, 36, 12)],
                normal(1, 1, 12, 2),
            ],
            normal(2, 16, 16, 4),
        ],
    ),
    "graph": (
        graph,
        [
            [*([normal(40, 40), normal(40, 40)] for _ in range(3)), normal(40, 7)],
            normal(200, 40),
            RNG.integers(0, 200, 900).astype(np.int32),
            np.sort(RNG.integers(0, 200, 900)).astype(np.int32),
        ],
    ),
    "gru": (gru, [[normal(64, 80), normal(64, 40), normal(40, 12)], normal(16, 12, 24)]),
    "encoder": (
        encoder,
        [
            [
                normal(100, 48),
                [
                    [normal(48, 144), normal(48, 48), normal(48, 160), normal(160, 48), normal(48)]
                    for _ in range(2)
                ],
            ],
            RNG.integers(0, 100, (4, 24)).astype(np.int32),
        ],
    ),
    "training": (training, _training()),
    "residual": (
        residual,
        [
            [
                normal(3, 3, 3, 24),
                [
                    [normal(3, 3, 24, 32), normal(3, 3, 32, 32), normal(1, 1, 24, 32)],
                    [normal(3, 3, 32, 48), normal(3, 3, 48, 48), normal(1, 1, 32, 48)],
                ],
                normal(48, 10),
            ],
            normal(2, 16, 16, 3),
        ],
    ),
    "temporal": (
        temporal,
        [[[normal(84, 28), normal(84, 28), normal(28, 28)] for _ in range(3)], normal(3, 40, 28)],
    ),
    "experts": (experts, [[normal(56, 6), normal(6, 56, 72), normal(6, 72, 56)], normal(64, 56)]),
    "autoencoder": (
        autoencoder,
        [
            [[normal(a, b), normal(b)] for a, b in ((120, 64), (64, 20), (20, 64), (64, 120))],
            normal(96, 120),
        ],
    ),
    "adam": (
        adam,
        [[normal(36, 88), normal(88) + 1, normal(88, 9)], normal(64, 36), normal(64, 9)],
    ),
    "squeeze": (
        squeeze,
        [
            [
                normal(3, 3, 4, 16),
                [
                    [normal(3, 3, 16, 40), normal(40, 10), normal(10, 40), normal(1, 1, 40, 16)]
                    for _ in range(3)
                ],
                normal(16, 12),
            ],
            normal(3, 20, 20, 4),
        ],
    ),
    "towers": (
        towers,
        [
            [
                normal(300, 24),
                normal(150, 32),
                [[normal(44, 72), normal(72)], [normal(72, 30), normal(30)]],
                [[normal(32, 72), normal(72)], [normal(72, 30), normal(30)]],
                np.float32(1.5),
            ],
            RNG.integers(0, 300, (80, 6)).astype(np.int32),
            RNG.integers(0, 150, 110).astype(np.int32),
            normal(80, 20),
        ],
    ),
    "lstm": (
        lstm,
        [[normal(50, 136), normal(136), normal(34, 9)], normal(12, 20, 16)],
    ),
    "sets": (
        sets,
        [
            [
                [[normal(3, 32), normal(32)], [normal(32, 60), normal(60)]],
                normal(60, 4),
                normal(360, 48),
                normal(48, 10),
            ],
            normal(6, 50, 3),
        ],
    ),
    "mixture": (
        mixture,
        [[normal(14, 56), normal(56, 36)], normal(160, 14), normal(160)],
    ),
}
