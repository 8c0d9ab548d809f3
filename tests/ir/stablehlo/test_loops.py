"""What a search proposes first for a training: all its rates at once, wherever they are."""

import jax
import numpy as np
import pytest

from gevolve.ir.stablehlo import load
from gevolve.patch import Patch

WEIGHTS = {"w": np.ones((4, 2), np.float32), "b": np.zeros(2, np.float32)}
BATCHES = np.ones((5, 3, 4), np.float32)


def training(step):
    def train(weights, batches):
        def round_(weights, x):
            slope = jax.grad(lambda one: ((x @ one["w"] + one["b"]) ** 2).sum())(weights)
            return {name: w - step(slope[name]) for name, w in weights.items()}, None

        return jax.lax.scan(round_, weights, batches)[0]

    return load(train, [WEIGHTS, BATCHES])


def rates_of(program):
    return [p for p in program.sweep(["scale"], None) if len(p) > 1]


def test_all_rates_are_scaled_together_and_by_several_powers():
    program = training(lambda slope: 0.125 * slope)
    patches = rates_of(program)
    assert {tuple(edit.args[1] for edit in p) for p in patches} >= {("1",) * 2, ("-1",) * 2}
    larger = next(p for p in patches if p[0].args[1] == "1")
    text = program.apply(larger).text
    assert program.verify(text) is None
    assert text.count("dense<2.500000e-01>") == 2
    assert "dense<1.250000e-01>" not in text


def test_what_is_no_rate_is_not_scaled_with_them():
    program = training(lambda slope: slope / 8 if slope.ndim == 1 else 0.125 * slope)
    assert not rates_of(program), "one rate is left, which is scaled alone"
    (rate,) = [i for i in program.text.splitlines() if "dense<1.250000e-01>" in i]
    first = program.sweep(["scale"], None)[0]
    assert first[0].args[0] == rate.split()[0].removeprefix("%")


@pytest.mark.parametrize("kind", ["carry", "decay", "scale"])
def test_a_prediction_has_no_rates(kind):
    program = load(lambda weights, x: x @ weights["w"] * 0.5 + weights["b"], [WEIGHTS, BATCHES[0]])
    assert not [p for p in program.sweep([kind], None) if len(p) > 1]


def test_no_counter_stops_counting():
    """A step of 1 that is halved would be 0, and its loop would never end."""
    program = training(lambda slope: 0.125 * slope)
    ones = [line for line in program.text.splitlines() if "dense<1> : tensor<i32>" in line]
    assert ones
    for line in ones:
        id_ = line.split()[0].removeprefix("%")
        variant = program.apply(Patch.parse(f"scale {id_} -1 #1"))
        assert variant.skipped
