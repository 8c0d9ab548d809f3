"""Programs as functions of JAX: the same results, the same gradients, and a line for what has none."""

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from gevolve.errors import UnsupportedError
from gevolve.ir.stablehlo import load
from gevolve.ir.stablehlo.differentiable import function_of, weights_of, with_values

RNG = np.random.default_rng(0)
IMAGES = RNG.standard_normal((2, 6, 6, 3)).astype(np.float32)
ROWS = RNG.standard_normal((4, 8)).astype(np.float32)
LAYOUT = ("NHWC", "HWIO", "NHWC")


def convolved(w, x):
    y = jax.lax.conv_general_dilated(x, w, (2, 1), ((1, 0), (2, 1)), (1, 1), (1, 2), LAYOUT)
    y = jax.lax.reduce_window(
        jax.nn.gelu(y), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID"
    )
    return y.mean((1, 2))


def pooled(w, x):
    y = jax.lax.reduce_window(x * w, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    return jnp.concatenate(
        [y[:, ::-1], jnp.pad(y, ((0, 0), (0, 0), (1, 1), (0, 0)))[:, :, 1:-1]], 1
    )


def attended(w, x):
    keys = x @ w
    scores = jax.nn.softmax(keys @ x.T / np.sqrt(8), -1)
    y = jnp.where(scores > 0.1, scores, 0.0) @ x
    y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
    return jnp.clip(jnp.tanh(y) + jax.nn.sigmoid(y), -1, 3).max(-1)


def looked_up(w, x):
    return w[np.array([2, 0, 2])].sum(0) + jnp.take_along_axis(x, jnp.argsort(x, -1)[:, :1], 1)


def narrowed(w, x):
    return (x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32).prod(-1)


CASES = [
    (convolved, RNG.standard_normal((3, 2, 3, 4)).astype(np.float32), IMAGES),
    (pooled, RNG.standard_normal(3).astype(np.float32), IMAGES),
    (attended, RNG.standard_normal((8, 8)).astype(np.float32), ROWS),
    (narrowed, RNG.standard_normal((8, 3)).astype(np.float32), ROWS),
]


@pytest.mark.parametrize(("function", "w", "x"), CASES, ids=[case[0].__name__ for case in CASES])
def test_results_and_gradients_are_those_of_the_function(function, w, x):
    traced = function_of(load(function, [w, x]).text)
    # XLA may leave out roundings to a narrow type that one operation after the other has.
    near = 2e-2 if function is narrowed else 1e-4
    np.testing.assert_allclose(traced([w, x], {})[0], function(w, x), rtol=near, atol=1e-6)
    slope = jax.grad(lambda w: (traced([w, x], {})[0] ** 2).sum())(w)
    want = jax.grad(lambda w: (function(w, x) ** 2).sum())(w)
    assert np.abs(want).max() > 0
    np.testing.assert_allclose(slope, want, rtol=near, atol=near * np.abs(want).max())


def test_rows_of_a_table_have_gradients():
    table = RNG.standard_normal((5, 8)).astype(np.float32)

    def embedded(table):
        return table[np.array([3, 0, 3])].sum(0)

    traced = function_of(load(embedded, [table]).text)
    slope = jax.grad(lambda t: traced([t], {})[0].sum())(table)
    assert slope[:, 0].tolist() == [1, 0, 0, 2, 0]


def test_what_has_no_gradient_is_named_before_anything_is_computed():
    def loops(x):
        return jax.lax.fori_loop(0, 3, lambda _, y: y * 2, x)

    with pytest.raises(UnsupportedError, match=r"stablehlo\.while has no gradient"):
        function_of(load(loops, [ROWS]).text)
    with pytest.raises(UnsupportedError, match=r"stablehlo\.sort has no gradient"):
        function_of(load(looked_up, [RNG.random((3, 8), np.float32), ROWS]).text)


def test_constants_with_many_numbers_are_weights_and_can_be_others():
    w = RNG.standard_normal((8, 3)).astype(np.float32)
    mask = np.tile(np.float32([1, 0]), 4)

    def predict(x, b):
        return (x * mask) @ w + b

    b = np.float32([1, 2, 3])
    text = load(predict, [ROWS, b]).text
    (found,) = weights_of(text)
    np.testing.assert_array_equal(found, w)
    changed = with_values(text, {1: 2 * b}, {0: 3 * w})
    (got,) = function_of(changed)([ROWS, b], {})
    np.testing.assert_allclose(got, (ROWS * mask) @ (3 * w) + 2 * b, rtol=1e-5)
    (given,) = function_of(text)([ROWS, b], {0: 3 * w})
    np.testing.assert_allclose(given, (ROWS * mask) @ (3 * w) + b, rtol=1e-5)
