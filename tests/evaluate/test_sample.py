"""Errors on a growing sample: who is rejected early, how often wrongly, and what is run at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.evaluate.worker.sample import MANY, RATE, Sample, portions, shuffled, sketched


def looked_at(unedited, errors, bound, order=None):
    """After how many parts a variant with these errors is rejected; None if it is not."""
    sample = Sample(unedited, bound)
    for count, part in enumerate(shuffled(len(unedited)) if order is None else order, 1):
        sample.add(int(part), errors[part])
        if sample.rejected:
            return count
    return None


@given(st.integers(1, 300))
def test_every_part_is_in_one_portion_and_portions_double(count):
    lots = portions(count)
    assert sorted(part for lot in lots for part in lot) == list(range(count))
    for before, lot in zip(np.cumsum([len(lot) for lot in lots]), lots[1:], strict=False):
        assert len(lot) <= before
    seen = sketched(count)
    assert seen == lots[: len(seen)]
    assert sum(map(len, seen)) <= count // MANY


@given(st.data())
def test_what_is_within_the_bound_for_certain_is_never_rejected_for_certain(data):
    """A variant that is nowhere worse than the unedited program passes, whatever the errors are."""
    shares = st.floats(0, 1)
    unedited = data.draw(st.lists(shares, min_size=1, max_size=40))
    better = [data.draw(st.floats(0, error)) if error else 0.0 for error in unedited]
    assert looked_at(unedited, better, float(np.mean(unedited)) + 0.02) is None
    assert looked_at(unedited, unedited, float(np.mean(unedited))) is None


def test_what_is_far_too_wrong_is_known_after_a_few_parts():
    rng = np.random.default_rng(0)
    unedited = rng.binomial(10, 0.13, 100) / 10
    guessing = rng.binomial(10, 0.9, 100) / 10
    assert looked_at(unedited, guessing, unedited.mean() + 0.02) <= 8
    a_third = np.minimum(1, unedited + rng.binomial(10, 0.2, 100) / 10)
    assert 5 < looked_at(unedited, a_third, unedited.mean() + 0.02) <= 40


def test_one_of_three_trainings_that_fails_is_enough():
    assert looked_at([0.09, 0.1, 0.11], [0.9, 0.9, 0.9], 0.12) == 1
    assert looked_at([0.09, 0.1, 0.11], [0.1, 0.11, 0.12], 0.12) is None


@pytest.mark.parametrize("kind", ["pairs", "independent", "rare"])
def test_of_those_at_the_bound_hardly_any_is_rejected(kind):
    """The hardest case: the mean error over all parts is the bound itself."""
    tries, count, wrong = 1500, 100, 0
    for seed in range(tries):
        rng = np.random.default_rng([seed, 7])
        unedited = rng.binomial(10, 0.13, count) / 10
        if kind == "pairs":
            errors = np.clip(unedited + rng.choice([-0.1, 0, 0, 0.1, 0.2], count), 0, 1)
        elif kind == "independent":
            errors = rng.binomial(10, 0.15, count) / 10
        else:
            errors = np.where(rng.random(count) < 0.02, 1.0, unedited)
        found = looked_at(unedited, errors, float(errors.mean()), rng.permutation(count))
        wrong += found is not None
    # More than five would have a probability of some thousandths at this rate.
    assert tries * RATE == 1.5
    assert wrong <= 5


def test_errors_below_zero_are_no_shares_and_reject_nothing():
    assert looked_at([0.1] * 20, [-1.0] + [50.0] * 19, 0.2, range(20)) is None
