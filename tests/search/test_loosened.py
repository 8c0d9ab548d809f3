"""What a tolerance buys: exact and lossy edits joined, the best bets first, whatever the order of what was judged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.search.individual import Individual
from gevolve.search.loosened import loosened

BOUND, LUCK = 0.01, 0.001


def one(text, time, error=0.0):
    evaluation = Evaluation(verdict=Verdict.OK, time=time, error=error)
    return Individual(Patch.parse(text), evaluation, time, error)


JUDGED = [
    one("", 1.0),
    one("unroll i1 4 #1", 0.8),
    one("unroll i1 4 #1; hoist i2 loop #1", 0.7),
    one("hoist i2 loop #1", 0.9),
    one("omit i3 0 term #1", 0.6, 0.004),
    one("omit i3 1 term #1", 0.9, 0.0001),
    one("shorten i4 8 scaled #1", 0.9, 0.004),
    one("nearby i5 i6 #1", 0.99, 0.009),
    one("omit i7 0 term #1", 1.1, 0.003),
    one("omit i8 0 term #1", 0.999, 1e-6),
]


def texts(judged):
    return [str(patch) for patch in loosened(judged, BOUND, LUCK)]


@given(st.permutations(JUDGED))
def test_what_saves_most_for_its_error_is_added_to_the_best_exact_variant(judged):
    best = "unroll i1 4 #1; hoist i2 loop #1"
    found = texts(judged)
    assert found[0] == f"omit i3 0 term #1; {best}"  # the fastest of all, and the best exact one
    # No two of one place, and no more error than may well be lost: then half as many.
    assert found[1] == f"shorten i4 8 scaled #1; omit i3 1 term #1; {best}"
    assert found[2] == f"omit i3 1 term #1; {best}"
    assert not any("i7" in text or "i8" in text for text in found)  # they save next to nothing
    assert found[-1] == f"nearby i5 i6 #1; {best}"


def test_goes_on_from_the_fastest_when_that_has_all_exact_edits():
    best = "unroll i1 4 #1; hoist i2 loop #1"
    more = [*JUDGED, one(f"omit i3 0 term #1; {best}", 0.4, 0.004)]
    assert f"nearby i5 i6 #1; omit i3 0 term #1; {best}" in texts(more)


@pytest.mark.parametrize("judged", [JUDGED[:1], JUDGED[:4]])
def test_nothing_without_a_lossy_gain(judged):
    assert texts(judged) == []
