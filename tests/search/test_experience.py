"""What is learnt of single edits, and where new ones come from."""

import random

import numpy as np
import pytest

from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Edit, Patch
from gevolve.search.experience import Experience, outcome
from gevolve.search.individual import Individual
from gevolve.search.local import neighbor


def edit(kind, *args):
    return Edit(kind, tuple(args), 1)


A, B, C, D = (
    edit("copy", "i1", "i2"),
    edit("copy", "i3", "i2"),
    edit("drop", "i4"),
    edit("drop", "i5"),
)


def experience(*judged):
    one = Experience()
    one.add((frozenset(edits), what) for edits, what in judged)
    return one


def test_the_only_edit_that_never_passed_is_to_blame():
    one = experience(({A, B}, "failed"), ({A}, "passed"), ({C, D}, "failed"))
    assert one.chance(A) == 1
    assert one.chance(B) == 0
    assert 0 < one.chance(C) < 1  # it may have been the other


def test_what_passes_later_is_not_to_blame_any_more():
    one = experience(({A, B}, "failed"), ({A}, "passed"))
    one.add([(frozenset({B}), "passed"), (frozenset({A, B, C}), "failed")])
    assert one.known == sorted([A, B])
    assert one.chance(C) == 0


def test_idle_edits_are_not_drawn_again():
    one = experience(({A}, "idle"), ({A, B}, "idle"), ({B}, "passed"))
    assert one.known == [B]
    assert one.chance(A) == 0


def test_new_edits_are_like_others_of_their_kind_and_at_their_places():
    bad = [({edit("swap", f"i{n}")}, "failed") for n in range(9)]
    good = [({edit("relax", f"i{n}")}, "passed") for n in range(9)]
    one = experience(*bad, *good)
    assert one.chance(edit("relax", "x")) > 0.7
    assert one.chance(edit("swap", "x")) < 0.3
    place = experience(*[({edit("op", "i7", f"v{n}")}, "failed") for n in range(6)], *good)
    assert place.chance(edit("other", "i7")) < place.chance(edit("other", "i6"))


def test_the_order_does_not_matter():
    rng = random.Random(3)
    edits = [edit(kind, f"i{n}") for kind in ("a", "b") for n in range(6)]
    judged = [
        (frozenset(rng.sample(edits, rng.randint(1, 3))), rng.choice(["passed", "failed", "idle"]))
        for _ in range(30)
    ]
    whole = Experience()
    whole.add(judged)
    pieces = Experience()
    rng.shuffle(judged)
    for one in judged:
        pieces.add([one])
    assert [whole.chance(e) for e in edits] == [pieces.chance(e) for e in edits]
    assert whole.known == pieces.known


def test_outcomes():
    def one(artefact, fingerprint=""):
        evaluation = Evaluation(
            verdict=Verdict.OK, time=1.0, error=0.0, artefact=artefact, fingerprint=fingerprint
        )
        return Individual(Patch(), evaluation, 1.0, 0.0)

    unedited = one("x", "f")
    assert outcome(None, unedited) == "failed"
    assert outcome(one("x"), unedited) == "idle"
    assert outcome(one("y", "f"), unedited) == "idle"
    assert outcome(one("y", "g"), unedited) == "passed"
    assert outcome(one(""), one("")) == "passed"  # nobody knows


@pytest.mark.parametrize("seed", range(40))
def test_neighbours_differ_by_little_and_are_never_empty(seed):
    rng = np.random.default_rng(seed)
    patch = Patch(tuple(edit("e", f"i{n}") for n in range(1 + seed % 12)))
    new, kinds = neighbor(patch, {patch[0]}, 12, lambda: (C,), rng)
    assert len(new) >= 1
    assert len(new) <= 12
    assert len(new) >= len(patch) // 2
    assert ({*new} - {*patch} == {C}) == (kinds == ("drop",))
