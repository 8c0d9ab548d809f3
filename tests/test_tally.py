"""What the evaluations amount to: counts, the front, and who leaves it."""

from gevo.evaluate.verdict import Evaluation, Verdict
from gevo.patch import Patch
from gevo.search import Settings
from gevo.tally import Tally, best_of


def ok(time, error=0.0):
    return Evaluation(verdict=Verdict.OK, time=time, error=error)


WRONG = Evaluation(verdict=Verdict.WRONG)


def tally():
    counted = Tally(Settings(tolerance=0.1, rounding=1e-5))
    counted.add(0, Patch(), ok(100.0, 1e-7))
    counted.add(1, Patch.parse("delete i1 #1"), ok(80.0))
    counted.add(2, Patch.parse("delete i2 #1"), ok(50.0, 0.05))
    counted.add(3, Patch.parse("delete i3 #1"), WRONG)
    counted.add(4, Patch.parse("delete i4 #1"), ok(90.0))
    return counted


def test_counts_and_front():
    counted = tally()
    assert dict(counted.verdicts) == {"ok": 3, "wrong": 1}
    assert [entry.id for entry in counted.entries()] == ["v2", "v1"]
    assert [entry.exact for entry in counted.entries()] == [False, True]
    assert [entry.ratio for entry in counted.entries()] == [0.5, 0.8]


def test_nothing_unvalidated_is_called_best():
    counted = tally()
    assert best_of(counted.entries(), exact=False) is None
    counted.validate(1, "held-out", ok(8.0))
    assert best_of(counted.entries(), exact=False).id == "v1"
    counted.validate(0, "held-out", ok(10.0))
    assert best_of(counted.entries(), exact=True).held_out == 0.8


def test_a_variant_that_fails_elsewhere_leaves_and_the_next_is_tried():
    counted = tally()
    assert [id_ for id_, _ in counted.unchecked("held-out")] == [2, 1]
    counted.validate(2, "held-out", ok(5.0))
    counted.validate(1, "held-out", WRONG)
    assert [entry.id for entry in counted.entries()] == ["v2", "v4"]
    assert [id_ for id_, _ in counted.unchecked("held-out")] == [4]
    counted.validate(4, "held-out", ok(9.0))
    assert [id_ for id_, _ in counted.unchecked("large")] == [2, 4]
    counted.validate(4, "large", WRONG)
    assert best_of(counted.entries(), exact=True) is None
    assert counted.entries()[-1].id == "v0", "the unedited program is what is left"


def test_slower_than_the_unedited_program_is_no_best():
    counted = Tally(Settings())
    counted.add(0, Patch(), ok(100.0))
    counted.add(1, Patch.parse("delete i1 #1"), ok(100.0))
    counted.validate(1, "held-out", ok(1.0))
    assert best_of(counted.entries(), exact=True) is None
