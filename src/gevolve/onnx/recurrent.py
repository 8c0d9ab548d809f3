"""ONNX's recurrent layers in JAX: each direction is a scan over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gevolve.onnx.node import Node, jax, jnp, lax

if TYPE_CHECKING:
    from collections.abc import Callable


def lstm(node: Node, x: Any, w: Any, r: Any, *rest: Any) -> Any:
    b, lengths, h, c, peep = (*rest, *[None] * (5 - len(rest)))
    if peep is not None:
        raise node.refuse("with peepholes")

    def step(state: Any, x: Any, r: Any, bias: Any) -> Any:
        h, c = state
        i, o, f, g = jnp.split(x + h @ r.T + bias, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    usual = ["Sigmoid", "Tanh", "Tanh"]
    return _layers(node, x, w, r, b, (lengths, h, c), step, usual)


def gru(node: Node, x: Any, w: Any, r: Any, *rest: Any) -> Any:
    b, lengths, h = (*rest, *[None] * (3 - len(rest)))
    late = node.get("linear_before_reset", 0)

    def step(state: Any, x: Any, r: Any, bias: Any) -> Any:
        (h,) = state
        rz, rr, rh = jnp.split(r, 3, 0)
        bz, br, bh = jnp.split(bias, 3, -1)
        xz, xr, xh = jnp.split(x, 3, -1)
        z = jax.nn.sigmoid(xz + h @ rz.T + bz)
        reset = jax.nn.sigmoid(xr + h @ rr.T + br)
        back = reset * (h @ rh.T + bh) if late else (reset * h) @ rh.T + bh
        return ((1 - z) * jnp.tanh(xh + back) + z * h,)

    return _layers(node, x, w, r, b, (lengths, h), step, ["Sigmoid", "Tanh"])


def rnn(node: Node, x: Any, w: Any, r: Any, *rest: Any) -> Any:
    b, lengths, h = (*rest, *[None] * (3 - len(rest)))

    def step(state: Any, x: Any, r: Any, bias: Any) -> Any:
        return (jnp.tanh(x + state[0] @ r.T + bias),)

    return _layers(node, x, w, r, b, (lengths, h), step, ["Tanh"])


def _layers(
    node: Node,
    x: Any,
    w: Any,
    r: Any,
    b: Any,
    given: tuple[Any, ...],
    step: Callable[..., Any],
    usual: list[str],
) -> Any:
    """All directions of a layer: what comes out at each time, and the state at the end."""
    lengths, *states = given
    directions, size = w.shape[0], r.shape[-1]
    named = [one.decode() if isinstance(one, bytes) else one for one in node.get("activations", [])]
    if named not in ([], usual * directions) or node.get("clip") or node.get("input_forget"):
        raise node.refuse("with other activations than the usual ones, or clipped")
    batch_first = node.get("layout", 0)
    if batch_first:
        x = x.swapaxes(0, 1)
        states = [one if one is None else one.swapaxes(0, 1) for one in states]
    if lengths is not None and any(
        one != x.shape[0] for one in node.numbers(lengths, "sequence lengths")
    ):
        raise node.refuse("with sequences of different lengths")
    backwards = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
    outputs: list[Any] = []
    ends: list[Any] = []
    for at, reverse in enumerate(backwards[node.get("direction", "forward")]):
        start = tuple(
            jnp.zeros((x.shape[1], size), x.dtype) if one is None else jnp.asarray(one[at])
            for one in states
        )
        inside, outside = (0, 0) if b is None else jnp.split(jnp.asarray(b[at]), 2)
        bias = jnp.zeros(w.shape[1], x.dtype) if b is None else outside

        def through(state: Any, x: Any, r: Any = r[at], bias: Any = bias) -> tuple[Any, Any]:
            state = step(state, x, r, bias)
            return state, state[0]

        end, y = lax.scan(through, start, x @ w[at].T + inside, reverse=reverse)
        outputs.append(y)
        ends.append(end)
    y = jnp.stack(outputs, 1)
    last = [jnp.stack([end[k] for end in ends]) for k in range(len(states))]
    if batch_first:
        y = y.transpose(2, 0, 1, 3)
        last = [one.swapaxes(0, 1) for one in last]
    return (y, *last)
