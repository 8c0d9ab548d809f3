"""What counts as rounding of a program that has a reference: what that has otherwise, too."""

import numpy as np
import pytest

from gevolve.errors import WorkloadError
from gevolve.evaluate.pool import Pool
from tests.evaluate import sums


@pytest.mark.parametrize("name", ["Exact", "OtherOrder"])
def test_a_reference_that_rounds_otherwise_is_agreed_with(name):
    with Pool(getattr(sums, name)(), device="sim") as evaluator:
        for split in ("search", "held-out", "unseen"):
            baseline = evaluator.prepare(split)
            assert baseline.evaluation.ok
            assert 0 < baseline.rounding < 1e-3


def test_so_is_one_of_large_cases_where_small_ones_are_differences():
    """More elements come closer to zero than any of the small cases that their rounding is known from."""
    with Pool(sums.Differences(), device="sim") as evaluator:
        assert evaluator.prepare("large").evaluation.ok


def test_a_reference_that_is_wrong_is_not():
    with (
        Pool(sums.Wrong(), device="sim") as evaluator,
        pytest.raises(WorkloadError, match="differs"),
    ):
        evaluator.prepare("search")


def test_the_reference_is_nothing_that_a_variant_is_excused_by():
    """It widens what is rounding by no more than it differs itself."""
    with Pool(sums.OtherOrder(), device="sim") as evaluator:
        wide = evaluator.prepare("search").rounding
    with Pool(sums.Exact(), device="sim") as evaluator:
        narrow = evaluator.prepare("search").rounding
    assert np.log10(wide / narrow) < 1


def test_what_another_order_of_threads_gives_is_rounding():
    workload = sums.Added()
    with Pool(workload, device="sim") as evaluator:
        rounding = evaluator.prepare("search").rounding
    for case in workload.cases("search"):
        x = case.x.reshape(-1, 8)
        one, other = (np.cumsum(rows, 0, dtype=np.float32)[-1] for rows in (x, x[::-1]))
        apart = np.abs(one - other) / np.abs(one)
        assert 0 < 4 * apart.max() <= rounding
