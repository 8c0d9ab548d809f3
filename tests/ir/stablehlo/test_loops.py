"""What a search proposes first for a training: all its rates at once, wherever they are."""

import jax
import numpy as np
import pytest

from gevolve.device.xla.client import Client
from gevolve.ir.stablehlo import canonical, load
from gevolve.patch import Patch

WEIGHTS = {"w": np.ones((4, 2), np.float32), "b": np.zeros(2, np.float32)}
BATCHES = np.ones((5, 3, 4), np.float32)


def training(step, weights=WEIGHTS, batches=BATCHES):
    def train(weights, batches):
        def round_(weights, x):
            slope = jax.grad(lambda one: ((x @ one["w"] + one["b"]) ** 2).sum())(weights)
            return {name: w - step(slope[name]) for name, w in weights.items()}, None

        return jax.lax.scan(round_, weights, batches)[0]

    return load(train, [weights, batches])


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


def test_inputs_are_left_out_of_the_prediction_and_of_the_slope_alike():
    program = training(lambda slope: 0.125 * slope, WIDE, np.ones((5, 3, 16), np.float32))
    (first, *_) = [p for p in program.sweep(["contract"], None) if len(p) > 1]
    assert [edit.kind for edit in first] == ["contract", "part"]
    variant = program.apply(first)
    assert not variant.skipped
    assert program.verify(variant.text) is None
    products = [line for line in variant.text.splitlines() if "dot_general" in line]
    live = [line for line in products if "x12x" in line or "x12>" in line or "<12x" in line]
    assert len(live) == 2, "both products are over 12 of 16 inputs"


WIDE = {"w": np.ones((16, 2), np.float32), "b": np.zeros(2, np.float32)}


@pytest.mark.parametrize("eighths", [4, 6, 7])
def test_smooth_steps_are_as_large_in_the_long_run(eighths):
    """A step that is always the same stays what it was, but for the first rounds."""
    program = load(
        lambda start: jax.lax.fori_loop(0, 200, lambda _, x: x - np.float32(0.5), start),
        [np.zeros(4, np.float32)],
    )
    (target,) = [p for p in program.sweep(["smooth"], None) if p[0].args[1] == str(eighths)]
    late = eighths / (8 - eighths)
    assert outcome(program, target) == pytest.approx(-0.5 * (200 - late), rel=1e-3)
    (carried,) = [p for p in program.sweep(["carry"], None) if p[0].args[1] == str(eighths)]
    assert outcome(program, carried) == pytest.approx(
        -0.5 * (200 - late) * 8 / (8 - eighths), rel=1e-3
    )


def outcome(program, patch):
    variant = program.apply(patch)
    assert not variant.skipped
    compiled = Client("cpu", 0).compile(canonical(variant.text))
    (result,), _ = compiled.run([compiled.client.upload(np.zeros(4, np.float32))])
    return float(result[0])
