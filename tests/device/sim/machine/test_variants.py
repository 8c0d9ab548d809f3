"""Random variants: what is the same machine code takes the same time, and does what its PTX does."""

import pytest

from benchmarks.synthetic.both import ALIKE, CAUGHT, pairs
from benchmarks.variants import unlike_times
from gevolve.run.claim import does_less


@pytest.mark.parametrize("name", ["tuned/reduction", "papers/nn", "papers/scan"])
def test_variants_both_ways(name):
    unedited, found = pairs(name, "sim:a100", 12, seed=7)
    odd = [one for one in found if one.agreement not in {*ALIKE, CAUGHT}]
    assert not odd, [one.difference for one in odd]
    assert 2 * sum(one.agreement == "same outputs" for one in found) >= len(found)
    assert not unlike_times([unedited, *found])
    assert not does_less(unedited.machine.work, unedited.machine.work)


def test_what_executes_no_less_is_no_gain():
    assert does_less((9, 4, 1, 30), (10, 4, 1, 30))
    assert does_less((11, 4, 1, 29), (10, 4, 1, 30))
    assert not does_less((10, 4, 1, 30), (10, 4, 1, 30))
    assert not does_less((11, 4, 2, 30), (10, 4, 1, 30))
    assert does_less((), (10, 4, 1, 30))  # nobody has counted
