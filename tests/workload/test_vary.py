"""Cases in which one input is another: within what the cases show, one at a time, always the same ones."""

import numpy as np
import pytest

from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.dependence import Follows, warnings
from gevolve.suite.models.mobilenet_small import MobileNetSmall
from gevolve.suite.models.twofcnet import TwoFCNet
from gevolve.workload.base import Case
from gevolve.workload.vary import VariedCase, assumptions, varied, with_rows_permuted

RNG = np.random.default_rng(0)
CASES = [
    Case(
        x=RNG.uniform(2, 3, 50 + n),
        index=RNG.permutation(9).astype(np.int32),
        table=np.arange(4.0),
        weights={"a": np.ones(3), "b": [np.arange(5.0)]},
        count=3 + n,
        rate=0.5 * n,
        height=1,
        name="text",
    )
    for n in range(3)
]


def names(case):
    return [name for name in case if name != "name"]


def test_one_input_is_varied_at_a_time_within_what_the_cases_show():
    made = varied(CASES, names(CASES[0]))
    assert {one.what for one in made} == {"x", "index", "table", "weights", "count", "rate"}
    for one in made:
        for name in CASES[0]:
            if name != one.what:
                assert one[name] is CASES[0][name]
        assert one.x.dtype == CASES[0].x.dtype
        assert 2 <= one.x.min() <= one.x.max() <= 3
        assert set(one.index) <= set(range(9))
        assert 3 <= one.count <= 5
        assert isinstance(one.count, int)
        assert 0 <= one.rate <= 1
        assert repr(one).startswith(f"{one.what} {one.how}, Case(")
    again = varied(CASES, names(CASES[0]))
    assert [repr(one) for one in made] == [repr(one) for one in again]
    assert all(np.array_equal(a.x, b.x) for a, b in zip(made, again, strict=True))


def test_what_all_cases_share_is_named():
    assert assumptions(CASES, names(CASES[0])) == [
        "only tried with index of 9",
        "only tried with one content of table",
        "only tried with one content of weights",
        "only tried with height = 1",
    ]
    assert assumptions(CASES, ["x", "count", "rate"]) == []


def test_rows_are_permuted_together():
    images, labels = np.arange(12).reshape(6, 2), np.arange(6)
    (one,) = with_rows_permuted(Case(images=images, labels=labels, weights=np.ones(3)))
    assert not np.array_equal(one.labels, labels)
    assert np.array_equal(one.images, images[one.labels])
    assert with_rows_permuted(Case(images=images)) == []


def follows(errors, inputs, own):
    """A variant with an error on the first case, and an unedited program with these, of which all but the first vary an input."""
    cases = [Case(), *(VariedCase({}, name, "redrawn") for name in inputs)]
    found = Follows(errors, cases)
    found.begin(own)
    return found


def test_a_model_must_depend_on_what_the_unedited_one_depends_on():
    one = follows([0.1, 0.9, 0.1], ["weights", "rows"], own=0.11)
    one.check(1, 0.85, 0.02, "case 1")
    one.check(2, 0.11, 0.02, "case 2")
    with pytest.raises(judge.Fault, match="does not depend on that input"):
        one.check(1, 0.11, 0.02, "case 1 (weights redrawn)")
    with pytest.raises(judge.Fault, match=r"above 0\.12"):  # it knows the rows by their order
        one.check(2, 0.8, 0.02, "case 2")


def test_a_more_accurate_model_may_bear_better_what_spoils_little():
    one = follows([0.084, 0.9, 0.104, 0.12], ["images", "images", "bias"], own=0.04)
    one.check(2, 0.043, 0.02, "images scaled")
    with pytest.raises(judge.Fault, match="does not depend on that input"):
        one.check(1, 0.043, 0.02, "images redrawn")
    with pytest.raises(
        judge.Fault, match="does not depend on that input"
    ):  # nothing of a bias does worse
        one.check(3, 0.043, 0.02, "bias redrawn")


def test_a_training_may_bear_another_order_of_its_rows_better_but_not_worse():
    one = follows([0.097, 0.9, 0.121], ["images", "rows"], own=0.088)
    one.check(2, 0.085, 0.02, "rows permuted")
    with pytest.raises(judge.Fault, match=r"above 0\.141"):
        one.check(2, 0.2, 0.02, "rows permuted")
    # Where rows of weights are among them, it spoils all.
    one = follows([0.1, 0.9, 0.85], ["images", "rows"], own=0.1)
    with pytest.raises(judge.Fault, match="does not depend on that input"):
        one.check(2, 0.11, 0.02, "rows permuted")


class Labels:
    def __init__(self, labels):
        self.labels = labels

    def error(self, case, got, want, where):
        return float(np.mean(got["y"].argmax(1) != self.labels))


def test_a_constant_that_passes_is_a_warning():
    labels = np.array([0] * 8 + [1, 2])
    outputs = {"y": np.eye(3)[labels]}
    (said,) = warnings(Labels(labels), outputs, 0.25)
    assert "the same for every row has an error of 0.2, within the 0.25 allowed" in said
    assert warnings(Labels(labels), outputs, 0.1) == ()
    assert warnings(Labels(labels), {"y": np.eye(3)[labels], "z": np.ones(3)}, 0.25) == ()


class Starts:
    """A measure that asks whether what each start of a training gave is any good."""

    def error(self, case, got, want, where):
        return 0.1 if got["w"].std(axis=1).any() else 0.9


def test_that_starts_of_a_training_give_the_same_is_no_warning():
    outputs = {"w": np.stack([np.arange(6.0).reshape(3, 2)] * 4)}
    assert warnings(Starts(), outputs, 0.25), "taken for rows, starts may well be alike"
    assert warnings(Starts(), outputs, 0.25, repeated=True) == ()
    both = {**outputs, "b": np.ones((4, 2))}
    assert warnings(Starts(), both, 0.25, repeated=True) == ()
    assert TwoFCNet().repeats(Case())
    assert not MobileNetSmall().repeats(Case())
