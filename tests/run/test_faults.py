import pytest

from benchmarks.faults import disturb


@pytest.mark.slow
def test_a_run_that_faults_happen_to_ends_with_the_same_store(tmp_path):
    """`python -m benchmarks faults` does 200 of them."""
    done = disturb(tmp_path, count=8, evals=40, seed=3)
    assert 1 <= done.seen.total() <= 8
