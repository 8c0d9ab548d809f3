"""The default error: no value hides another, whatever its size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gevolve.errors import WorkloadError
from gevolve.workload.error import (
    GROWTH,
    SLACK,
    relative_error,
    rough_error,
    rulers,
    rulers_alike,
    share_off,
)

FINITE = st.floats(-1e308, 1e308, allow_subnormal=True)


@given(hnp.arrays(np.float64, st.integers(1, 8), elements=FINITE), st.data())
def test_any_element_that_is_off_by_half_shows(want, data):
    at = data.draw(st.integers(0, want.size - 1))
    got = want.copy()
    got[at] = want[at] / 2 if want[at] else 1.0
    if got[at] == want[at]:  # half of the smallest number is that number
        return
    assert relative_error(got, want) >= 0.49 if want[at] else relative_error(got, want) > 0
    assert share_off(got, want) == 1 / want.size


@pytest.mark.parametrize("scale", [1e306, 1.7e308, 1e-300, 5e-324, 1.0])
def test_no_scale_is_too_large_or_too_small(scale):
    want = scale * np.array([1.0, -1.0, 0.5, 1.0])
    assert relative_error(np.ones(4), want) > 0.4 or scale == 1.0
    assert relative_error(want, want) == 0
    assert 0.9 < relative_error(-want, want) <= 2
    assert relative_error(np.zeros(4), want) == 1


def test_many_small_values_are_not_hidden_by_few_large_ones():
    want = np.concatenate([np.full(40, 1e6), np.full(60, 1.0)]).astype(np.float32)
    got = np.where(want == 1, 0, want)
    assert relative_error(got, want) == 1
    assert share_off(got, want) == 0.6
    assert rough_error(got, want) < 1e-5  # what a mean would have hidden


def test_zeros_are_measured_by_the_smallest_value():
    want = np.array([0.0, 1e-3, 1e3])
    assert relative_error(np.array([1e-6, 1e-3, 1e3]), want) == pytest.approx(1e-3)
    assert relative_error(np.array([0.5, 0, 0]), np.zeros(3)) == 0.5


def test_what_is_not_finite_must_be_the_same():
    want = np.array([np.inf, np.nan, 1.0])
    assert relative_error(want, want) == 0
    assert relative_error(np.array([np.inf, np.nan, 1.5]), want) == 0.5
    for got in (
        [1.0, np.nan, 1.0],
        [-np.inf, np.nan, 1.0],
        [np.inf, 1.0, 1.0],
        [np.inf, np.nan, np.inf],
    ):
        assert relative_error(np.array(got), want) == np.inf


def test_a_scale_that_is_not_finite_is_a_fault():
    with pytest.raises(WorkloadError, match="no finite scale"):
        relative_error(np.ones(2), np.full(2, 2.0), np.array([1.0, np.inf]))
    with pytest.raises(WorkloadError, match="no finite scale"):
        relative_error(np.ones(1, complex), np.array([1.7e308 + 1.7e308j]))


def test_whole_numbers_are_counted():
    assert relative_error(np.array([1, 2, 3, 5]), np.array([1, 2, 3, 4])) == 0.25
    assert relative_error(np.array([True]), np.array([False])) == 1
    assert share_off(np.array([100, 111]), np.array([100, 100])) == 0.5
    assert rulers([np.arange(3)], [[np.arange(3) + 1]], rounds=True) == [None]


def noisy(want, part, seeds):
    return [
        want * (1 + part * np.random.default_rng(seed).uniform(-1, 1, want.shape)) for seed in seeds
    ]


def test_rounding_is_measured_element_by_element():
    """Small values with small rounding stay small, beside large ones and those that are differences."""
    rng = np.random.default_rng(0)
    large, small = rng.uniform(1e3, 2e3, 500), rng.uniform(1e-3, 2e-3, 500)
    want = np.concatenate([large, small])
    (ruler,) = rulers([want], [noisy(want, 1e-7, (1, 2))], rounds=True)
    assert ruler.largest < 2 * SLACK * 1e-7
    assert all(ruler.excuses(other, want) for other in noisy(want, 1e-7, (3, 4, 5)))
    for at in (0, 500):  # a part that is no rounding, of a large value and of a small one
        got = want.copy()
        got[at] *= 1 + 1e-5
        assert not ruler.excuses(got, want)
        assert relative_error(got, want, ruler.scale) == pytest.approx(1e-5)


def test_differences_of_large_numbers_are_measured_by_their_rounding():
    rng = np.random.default_rng(0)
    want = rng.normal(0, 1, 2000)

    def run(seed):
        return want + 1e-7 * np.random.default_rng(seed).uniform(-1, 1, want.shape)

    (ruler,) = rulers([want], [[run(1), run(2)]], rounds=True)
    assert all(ruler.excuses(run(seed), want) for seed in (3, 4, 5))
    assert all(relative_error(run(seed), want, ruler.scale) < 1e-5 for seed in (3, 4, 5))
    assert not ruler.excuses(want + 1e-5, want)
    (alike,) = rulers_alike([want[::-1]], [(want, ruler)])
    assert alike.excuses(run(6)[::-1], want[::-1])
    assert not alike.excuses(want[::-1] + GROWTH * 1e-5, want[::-1])


def test_few_small_differences_have_the_rounding_of_larger_ones():
    """Two values that happened to change little say nothing of others of their size."""
    rng = np.random.default_rng(0)
    want = rng.normal(0, 1, 2000)
    tiny = np.argsort(np.abs(want))[:3]
    other = want + 1e-7 * rng.uniform(-1, 1, want.shape)
    other[tiny] = want[tiny]
    (ruler,) = rulers([want], [[other]], rounds=True)
    got = want.copy()
    got[tiny] += 5e-8
    assert ruler.excuses(got, want)
    got[tiny] = 0
    assert not ruler.excuses(got, want)


def test_few_values_of_a_size_keep_what_is_exact_in_them():
    """Far larger ones tell nothing of them."""
    want = np.concatenate([np.linspace(1e6, 2e6, 500), [1e-3, 1.1e-3]])
    (ruler,) = rulers([want], [noisy(want, 1e-7, (1, 2))], rounds=True)
    got = want.copy()
    got[-1] *= 1 + 1e-5
    assert not ruler.excuses(got, want)


def test_one_that_takes_another_decision_is_not_excused_from_all():
    want = np.ones(1000)
    other = noisy(want, 1e-7, (1,))[0]
    other[7] = 5.0
    (ruler,) = rulers([want], [[other]], rounds=True)
    got = want.copy()
    got[7] = 2.0
    assert not ruler.excuses(got, want)


def test_what_is_only_copied_is_not_rounded():
    want = np.linspace(1, 2, 9)
    (ruler,) = rulers([want], [[want, want]], rounds=False)
    assert ruler.largest == 0
    assert not ruler.excuses(np.nextafter(want, 3), want)
    (ruler,) = rulers(
        [want], [[want, want]], rounds=True
    )  # but it may be, and the last bit is in doubt
    assert ruler.excuses(np.nextafter(want, 3), want)
    assert not ruler.excuses(want * (1 + 1e-12), want)
