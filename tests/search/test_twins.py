"""Children that are likely to be like their parents, and partners of edits."""

import math

import numpy as np

from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import PLAIN, Edit, Patch
from gevolve.search.individual import Individual
from gevolve.search.proposals import Proposals
from gevolve.search.settings import Settings
from gevolve.search.twins import Twins


def edit(number):
    return Edit("e", (f"i{number}",), PLAIN)


def variant(time, *numbers, error=0.0):
    evaluation = Evaluation(verdict=Verdict.OK, time=time, error=error)
    return Individual(Patch(tuple(map(edit, numbers))), evaluation, time, error)


def edits(*numbers):
    return frozenset(map(edit, numbers))


def test_what_differs_by_idle_edits_alone_is_expected_to_be_a_twin():
    twins = Twins()
    parent = variant(9, 1)
    for one in (variant(10), parent, variant(9, 1, 2), variant(9, 1, 3), variant(8, 1, 4)):
        twins.add(one)
    twins.add(None)
    assert twins.idle(parent) == edits(2, 3)
    assert twins.expected(edits(1, 2, 3), [parent])
    assert not twins.expected(edits(1, 2, 4), [parent])  # 4 does something
    assert not twins.expected(edits(1, 5), [parent])  # nobody knows
    assert not twins.expected(edits(2), [parent])  # without 1 it is another
    assert twins.expected(edits(1, 2), [variant(10), parent])


def test_another_error_is_another_variant():
    twins = Twins()
    parent = variant(9, 1)
    twins.add(parent)
    twins.add(variant(9, 1, 2, error=0.1))
    assert not twins.expected(edits(1, 2), [parent])


def test_edits_are_as_far_apart_as_their_nearest_ids():
    one = Edit("copy", ("i3", "i17"), 5)
    assert one.distance(Edit("drop", ("i20",), 1)) == 3
    assert one.distance(Edit("drop", ("b3", "i4", "all"), 1)) == 1
    assert one.distance(Edit("registers", ("b0", "32"), 1)) == math.inf


def test_edits_for_neighbours_come_alone_or_with_one_that_is_near_and_never_idle():
    proposals = Proposals(None, None, ("e",), Settings(proven=1.0))  # pyright: ignore[reportArgumentType]
    known = [edit(10 * n) for n in range(40)]
    proposals.experience.add((frozenset({one}), "passed") for one in known)
    idle, rng = {*known[::2]}, np.random.default_rng(1)
    drawn = [proposals.draw_near([known[1]], idle, rng) for _ in range(300)]
    assert {len(one) for one in drawn} == {1, 2}
    assert not idle & {e for one in drawn for e in one}
    assert max(one[0].distance(one[1]) for one in drawn if len(one) == 2) <= 120
    assert len({one[0] for one in drawn}) == 20
