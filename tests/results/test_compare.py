"""What is called better or worse: never what seeds explain, always what they do not."""

import numpy as np
import pytest

from gevolve.errors import OptionError
from gevolve.results.compare import compare
from gevolve.results.table import tabulate
from tests.results.made import outcome

NAMES = [f"papers/w{n}" for n in range(12)]


def measured(rng, shift=1.0, seeds=3, noise=0.08, names=NAMES):
    """Workloads that gain differently, with noise from seed to seed."""
    return tabulate(
        [
            outcome(name, (1 + 0.1 * n) * shift * np.exp(rng.normal(0, noise)) - 1, seed)
            for n, name in enumerate(names, 3)
            for seed in range(seeds)
        ]
    )


def test_the_same_runs_are_the_same():
    table = measured(np.random.default_rng(1))
    found = compare(table, table)
    assert (found.verdict, found.ratio, found.worse) == ("same", 1.0, False)
    assert {change.verdict for change in found.changes} == {"same"}


def test_other_seeds_are_seldom_called_a_change():
    rng = np.random.default_rng(2)
    called = sum(compare(measured(rng), measured(rng)).verdict != "unclear" for _ in range(60))
    assert called <= 8  # 5 % of 60 are 3; 9 or more have a chance of 0.4 %


@pytest.mark.parametrize(("shift", "verdict"), [(0.85, "worse"), (1.2, "better")])
@pytest.mark.parametrize("seeds", [1, 3])
def test_a_real_change_is_seen(shift, verdict, seeds):
    rng = np.random.default_rng(3)
    found = compare(measured(rng, seeds=seeds), measured(rng, shift, seeds))
    assert found.verdict == verdict
    assert found.worse == (verdict == "worse")
    assert found.ratio == pytest.approx(shift, rel=0.1)


def test_one_workload_of_few_seeds_proves_nothing_and_is_pointed_at():
    before = tabulate([outcome("papers/nn", gain, n) for n, gain in enumerate((0.5, 0.52, 0.51))])
    after = tabulate([outcome("papers/nn", gain, n) for n, gain in enumerate((0.1, 0.12, 0.11))])
    found = compare(before, after)
    assert found.changes[0].verdict == "worse"
    assert found.verdict == "unclear"
    assert found.chance == pytest.approx(0.1, abs=0.01)  # 2 of the 20 ways to deal six runs


def test_what_is_too_small_to_matter_is_no_change():
    before = tabulate([outcome(name, 0.5) for name in NAMES])
    after = tabulate([outcome(name, 0.499) for name in NAMES])
    assert compare(before, after).verdict == "unclear"
    assert compare(before, after).chance < 0.01


def test_a_result_that_is_lost_is_worse():
    before = tabulate([outcome(), outcome("papers/scan")])
    after = tabulate([outcome(), outcome("papers/scan", 0, status="crashed", time=0.0)])
    found = compare(before, after)
    assert found.lost == ["papers/scan on sim:t4"]
    assert found.worse


def test_what_was_not_asked_for_is_not_lost():
    before = tabulate([outcome(), outcome("papers/scan")])
    assert not compare(before, tabulate([outcome()])).lost


def test_nothing_in_common():
    with pytest.raises(OptionError, match="no workload in common"):
        compare(tabulate([outcome()]), tabulate([outcome(device="sim:a100")]))
