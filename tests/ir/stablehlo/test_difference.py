"""What an edit made of a model, in plain words."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gevolve.ir.stablehlo import load
from gevolve.patch import Patch

RATE = 0.25


def train(weights, images, targets):
    def step(weights, batch):
        x, y = batch

        def loss(w):
            return jnp.mean((jnp.maximum(x @ w, 0) - y) ** 2) + jnp.exp(w).sum()

        return weights - RATE * jax.grad(loss)(weights), None

    return jax.lax.scan(step, weights, (images, targets))[0]


@pytest.fixture(scope="module")
def program():
    shapes = ((6, 4), (8, 5, 6), (8, 5, 4))
    return load(train, [np.zeros(shape, np.float32) for shape in shapes])


def ids(program, name, text=""):
    """The ids of all operations of this name, by what else is in their line."""
    lines = (line.strip() for line in program.text.splitlines())
    return [
        line[1:].split(" =")[0].partition(":")[0]
        for line in lines
        if f"= stablehlo.{name}" in line and text in line
    ]


def theme(program, patch):
    patch = Patch.parse(patch)
    assert not program.apply(patch).skipped
    return program.difference(Patch(), patch)


def test_a_learning_rate(program):
    (rate,) = ids(program, "constant", "2.500000e-01")
    found = theme(program, f"scale {rate} -1 #1")
    assert found.theme == "learning rate changed"
    assert found.sentence == "changes the learning rate from 0.25 to 0.125"


def test_a_loop(program):
    (bound,) = ids(program, "constant", "dense<8> : tensor<i32>")
    found = theme(program, f"scale {bound} -1 #1")
    assert (found.theme, found.sentence) == (
        "loop shortened",
        "lets the loop end at 4 and not at 8",
    )


def test_a_layer_and_its_line(program):
    first, *_ = ids(program, "dot_general")
    found = theme(program, f"delete {first} #1")
    assert found.theme == "layer pruned"
    assert found.line.startswith("test_difference.py:")


def test_precision_and_functions(program):
    first, *_ = ids(program, "dot_general")
    assert theme(program, f"narrow {first} bf16 #1").theme == "precision lowered"
    function, *_ = ids(program, "exponential")
    found = theme(program, f"delete {function} #1")
    assert (found.theme, found.sentence[:21]) == ("function removed", "saves the exponential")


def test_nothing(program):
    assert program.difference(Patch(), Patch()) is None
