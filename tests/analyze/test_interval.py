"""Intervals that hold: neutral variants on a noisy device are hardly ever called a gain."""

import math

import numpy as np
import pytest

from benchmarks.synthetic.noise import NOISE, claims
from gevolve.analyze.interval import LEAST, MOST, STUDENT, TOGETHER, certain, estimate


def below(t, degrees):
    """The probability that Student's t is below a value, by summing its density."""
    steps = np.linspace(0, t, 200_001)
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2))
    scale /= math.sqrt(degrees * math.pi)
    density = scale * (1 + steps**2 / degrees) ** (-(degrees + 1) / 2)
    return 0.5 + float(((density[1:] + density[:-1]) / 2).sum()) * (steps[1] - steps[0])


@pytest.mark.parametrize("degrees", range(2, MOST))
def test_the_table_of_student(degrees):
    assert below(STUDENT[degrees], degrees) == pytest.approx(1 - 0.005 / TOGETHER, abs=5e-7)


def test_what_never_varies_is_certain():
    assert (certain(0.9).low, certain(0.9).high, certain(0.9).settled) == (0.9, 0.9, True)
    found = estimate([0.9] * LEAST, 0.0)
    assert (found.low, found.high) == pytest.approx((0.9, 0.9))


def test_one_measurement_says_nothing():
    found = estimate([0.5], 0.01)
    assert (found.low, found.high) == (0.0, math.inf)


@pytest.mark.parametrize("variants", [1, 6])
@pytest.mark.parametrize("kind", NOISE)
def test_of_a_hundred_searches_for_nothing_at_most_five_claim_a_gain(kind, variants):
    rng = np.random.default_rng(7)
    assert sum(claims(NOISE[kind], rng, variants) > 0 for _ in range(100)) <= 5


@pytest.mark.parametrize("kind", ["normal", "small", "heavy tails", "skewed"])
def test_a_gain_of_a_twentieth_is_found(kind):
    rng = np.random.default_rng(7)
    assert sum(claims(NOISE[kind], rng, 1, ratio=0.95) > 0 for _ in range(50)) >= 45
