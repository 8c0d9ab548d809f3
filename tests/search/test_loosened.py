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


def texts(alive, failed=()):
    judged = {frozenset(one.patch) for one in alive} | {frozenset(Patch.parse(p)) for p in failed}
    return [str(patch) for patch in loosened(alive, judged, BOUND, LUCK)]


@given(st.permutations(JUDGED))
def test_what_saves_most_for_its_error_is_added_to_the_best_exact_variant(judged):
    best = "unroll i1 4 #1; hoist i2 loop #1"
    found = texts(judged)
    assert found[0] == f"omit i3 0 term #1; {best}"  # the fastest of all, and the best exact one
    # No two of one place, and no more error than may well be lost.
    assert found[1] == f"shorten i4 8 scaled #1; omit i3 1 term #1; {best}"
    assert found[2] == f"omit i3 1 term #1; {best}"
    assert not any("i7" in text for text in found)  # it takes longer
    assert found[-2] == f"nearby i5 i6 #1; {best}"
    assert [text for text in found if "i8" in text] == found[-1:]  # it saves next to nothing
    assert found[-1] == f"omit i8 0 term #1; {best}"


def test_half_as_many_if_all_that_fit_fail_together():
    more = [
        one(text, 0.8, 1e-4)
        for text in (
            "fastmath b0 all #1",
            "quotient i20 #1",
            "quotient i21 #1",
            "omit i22 0 term #1",
        )
    ]
    whole = texts([*JUDGED, *more])[1]
    after = texts([*JUDGED, *more], failed=[whole])
    halves = [len(Patch.parse(text)) for text in after[1:4]]
    assert halves[:2] == [len(Patch.parse(whole)), 2 + (len(Patch.parse(whole)) - 2) // 2]
    assert texts([*JUDGED, *more])[2] != after[2]


def test_goes_on_from_the_fastest_when_that_has_all_exact_edits():
    best = "unroll i1 4 #1; hoist i2 loop #1"
    more = [*JUDGED, one(f"omit i3 0 term #1; {best}", 0.4, 0.004)]
    assert f"nearby i5 i6 #1; omit i3 0 term #1; {best}" in texts(more)


@given(st.permutations((("all", 0.8, 1e-5), ("ordered", 0.85, 1e-5), ("flush", 0.9, 1e-6))))
def test_of_one_kind_and_place_none_that_saves_less_for_as_much(forms):
    judged = [JUDGED[0], JUDGED[3], *(one(f"fastmath b0 {how} #1", *cost) for how, *cost in forms)]
    found = texts(judged)
    assert not any("ordered" in text for text in found)
    assert found[0] == "fastmath b0 all #1; hoist i2 loop #1"
    assert "fastmath b0 flush #1; hoist i2 loop #1" in found  # it loses less


def test_no_second_one_of_a_kind_beside_the_first():
    best = "hoist i2 loop #1"
    judged = [
        *(JUDGED[0], JUDGED[3]),
        one("omit i3 0 term #1", 0.6, 0.004),
        one("omit i3 1 term #1", 0.9, 0.0001),
        one("nearby i5 i6 #1", 0.99, 0.009),
        one(f"omit i3 0 term #1; {best}", 0.5, 0.004),
    ]
    found = texts(judged)
    assert f"nearby i5 i6 #1; omit i3 0 term #1; {best}" in found
    assert not any("i3 0" in text and "i3 1" in text for text in found)


IDLE = [
    one("", 1.0),
    one("quotient i3 #1", 1.0, 1e-6),
    one("quotient i4 #1", 1.001, 1e-6),
    one("omit i5 0 term #1", 1.1, 1e-6),
]


@given(st.permutations([*IDLE, one("float i1 all #1", 0.5)]))
def test_what_saved_nothing_is_tried_anew_on_a_best_that_is_much_faster(alive):
    assert texts(alive) == ["quotient i3 #1; quotient i4 #1; float i1 all #1"]


@pytest.mark.parametrize("time", [0.39, 0.41])
def test_and_again_when_the_best_is_much_faster_than_then(time):
    """Whatever became of it then."""
    together = "quotient i3 #1; quotient i4 #1; float i1 all #1"
    best = "float i1 all #1; unroll i9 4 #1"
    found = texts([*IDLE, one("float i1 all #1", 0.5), one(best, time)], failed=[together])
    assert found == ([f"quotient i3 #1; quotient i4 #1; {best}"] if time < 0.4 else [])


def test_not_on_a_best_that_is_little_faster():
    assert texts([*IDLE, one("hoist i2 loop #1", 0.9)]) == []


@pytest.mark.parametrize("judged", [JUDGED[:1], JUDGED[:4]])
def test_nothing_without_a_lossy_gain(judged):
    assert texts(judged) == []
