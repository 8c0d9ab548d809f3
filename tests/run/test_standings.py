"""What the evaluations amount to: counts, the front, and who leaves it."""

import msgspec
import pytest

from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.run.findings import Interval
from gevolve.run.standings import Standings
from gevolve.run.summary import best_of, most_accurate
from gevolve.search import Settings
from gevolve.search.elsewhere import FAILS


def ok(time, error=0.0):
    return Evaluation(verdict=Verdict.OK, time=time, error=error)


def measured(value, low=None, high=None, runs=1):
    return Interval(value=value, low=low or value, high=high or value, runs=runs)


WRONG = Evaluation(verdict=Verdict.WRONG)


def standings():
    counted = Standings(Settings(tolerance=0.1, rounding=1e-5))
    counted.add(0, Patch(), ok(100.0, 1e-7))
    counted.add(1, Patch.parse("delete i1 #1"), ok(80.0))
    counted.add(2, Patch.parse("delete i2 #1"), ok(50.0, 0.05))
    counted.add(3, Patch.parse("delete i3 #1"), WRONG)
    counted.add(4, Patch.parse("delete i4 #1"), ok(90.0))
    return counted


def test_counts_and_front():
    counted = standings()
    assert dict(counted.verdicts) == {"ok": 3, "wrong": 1}
    assert [entry.id for entry in counted.variants()] == ["v2", "v1"]
    assert [entry.exact for entry in counted.variants()] == [False, True]
    assert [entry.ratio for entry in counted.variants()] == [0.5, 0.8]


def test_nothing_unvalidated_is_called_best():
    counted = standings()
    assert best_of(counted.measured(), exact=False) is None
    counted.validate(1, "held-out", ok(8.0))
    assert best_of(counted.measured(), exact=False) is None, "passed, but was not measured"
    counted.measure(1, measured(0.8))
    assert best_of(counted.measured(), exact=False).id == "v1"
    counted.validate(0, "held-out", ok(10.0))
    assert best_of(counted.measured(), exact=True).held_out == 0.8


def test_a_variant_that_fails_elsewhere_leaves_and_the_next_is_tried():
    counted = standings()
    assert [id_ for id_, _ in counted.unchecked("held-out")] == [2, 1]
    counted.validate(2, "held-out", ok(5.0))
    counted.validate(1, "held-out", WRONG)
    assert [entry.id for entry in counted.variants()] == ["v2", "v4"]
    assert [id_ for id_, _ in counted.unchecked("held-out")] == [4]
    counted.validate(4, "held-out", ok(9.0))
    counted.measure(4, measured(0.9))
    assert [id_ for id_, _ in counted.unchecked("large")] == [2, 4]
    counted.validate(4, "large", WRONG)
    assert best_of(counted.measured(), exact=True) is None
    assert counted.variants()[-1].id == "v0", "the unedited program is what is left"


def test_an_edit_that_fails_alone_takes_all_along_that_have_it():
    counted = standings()
    counted.add(5, Patch.parse("delete i1 #1; delete i5 #1"), ok(60.0))
    counted.add(6, Patch.parse("delete i5 #1"), ok(95.0))
    counted.add(7, Patch.parse("delete i4 #1; delete i6 #1"), ok(70.0))
    pair = Patch.parse("delete i1 #1; delete i5 #1")
    assert counted.alone(pair, "large") == [1, 6]
    counted.validate(1, "large", ok(8.0))
    assert counted.alone(pair, "large") == [6]
    counted.validate(7, "large", WRONG)
    assert [entry.id for entry in counted.variants()] == ["v2", "v5"], "a pair takes nobody along"
    counted.validate(6, "large", WRONG)
    assert [entry.id for entry in counted.variants()] == ["v2", "v1"]
    assert counted.checks.struck.descendants == 1


def test_so_does_one_that_had_left_with_a_clone():
    """In whatever order the checks are read, the front is the same."""
    counted = Standings(Settings())
    counted.add(0, Patch(), ok(100.0))
    counted.add(1, Patch.parse("delete i1 #1"), msgspec.structs.replace(ok(80.0), artefact="a"))
    counted.add(2, Patch.parse("delete i2 #1"), msgspec.structs.replace(ok(80.0), artefact="a"))
    counted.add(3, Patch.parse("delete i2 #1; delete i3 #1"), ok(60.0))
    counted.validate(1, "large", WRONG)
    assert [entry.id for entry in counted.variants()] == ["v3"]
    counted.validate(2, "early large", WRONG)
    assert [entry.id for entry in counted.variants()] == ["v0"]


def test_a_gain_is_one_only_if_all_of_its_interval_is():
    counted = standings()
    counted.measure(1, measured(0.99, 0.97, 1.01, runs=16))
    assert best_of(counted.measured(), exact=True) is None
    assert [entry.validated for entry in counted.variants()] == [False, False]
    counted.measure(4, measured(0.95, 0.94, 0.96, runs=9))
    assert best_of(counted.measured(), exact=True).id == "v4"


def test_a_gain_that_a_clock_confirms_is_not_hidden_by_what_only_a_model_has_timed():
    counted = standings()
    counted.measure(1, measured(0.95, 0.92, 0.98, runs=5))  # the model says 0.8, and 0.9 of v4
    assert best_of(counted.measured(), exact=True).id == "v1"
    by_clock = Standings(Settings(tolerance=0.1, rounding=1e-5))
    for id_, (patch, time) in enumerate(
        {"": 1.0, "delete i1 #1": 0.8, "delete i4 #1": 0.9}.items()
    ):
        by_clock.add(id_, Patch.parse(patch), ok(time))
    by_clock.measure(
        1, measured(0.95, 0.92, 0.98, runs=5)
    )  # it was lucky, and v2 is the next to be tried
    assert [id_ for id_, _ in by_clock.front] == [2]
    assert [entry.id for entry in by_clock.variants()] == ["v2", "v1"], (
        "a gain is not hidden by a candidate"
    )
    assert best_of(by_clock.measured(), exact=True).id == "v1"
    by_clock.measure(2, measured(0.94, 0.92, 0.96, runs=5))
    assert [entry.id for entry in by_clock.variants()] == ["v2"]


def test_what_is_claimed_is_the_fastest_by_the_clock_whatever_the_model_says():
    counted = standings()  # the model says 0.5 of v2, 0.8 of v1 and 0.9 of v4
    counted.add(5, Patch.parse("delete i5 #1"), ok(40.0))
    counted.measure(2, measured(0.7, 0.68, 0.72, runs=7))
    counted.measure(1, measured(0.6, 0.58, 0.62, runs=7))
    counted.measure(4, measured(0.59, 0.52, 0.68, runs=3))  # by luck, as far as anybody knows
    assert [entry.id for entry in counted.measured()] == ["v1", "v4", "v2"]
    assert best_of(counted.measured(), exact=False).id == "v1"
    assert [id_ for id_, _ in counted.front] == [5], "a candidate that looks better than all"
    assert [entry.id for entry in counted.variants()] == ["v5", "v1"]
    counted.validate(1, "fresh", WRONG)
    assert best_of(counted.measured(), exact=True).id == "v4"


def test_where_times_vary_the_longer_measurement_replaces_the_lucky_one():
    counted = standings()
    counted.measure(1, measured(1.01, 1.0, 1.02, runs=5))
    assert [entry.id for entry in counted.variants()] == ["v2", "v4"]
    counted.measure(4, measured(0.93, runs=1))
    assert counted.variants()[1].ratio == 0.9, "what never varies stays as it is"


def test_what_failed_is_not_validated_however_it_was_measured():
    counted = standings()
    counted.measure(1, measured(0.8))
    counted.validate(1, "fresh", WRONG)
    assert best_of(counted.measured(), exact=False) is None
    assert [entry.id for entry in counted.variants()] == ["v2", "v4"]


def test_slower_than_the_unedited_program_is_no_best():
    counted = Standings(Settings())
    counted.add(0, Patch(), ok(100.0))
    counted.add(1, Patch.parse("delete i1 #1"), ok(100.0))
    counted.validate(1, "held-out", ok(1.0))
    assert best_of(counted.measured(), exact=True) is None


def test_what_failed_takes_its_clones_along_but_not_the_unedited_program():
    counted = Standings(Settings(tolerance=0.1, rounding=1e-5))
    for id_, text, time, code in [
        (0, "", 100.0, "a"),
        (1, "delete i1 #1", 50.0, "b"),
        (2, "delete i1 #2", 50.0, "b"),
        (3, "delete i3 #1", 80.0, "c"),
        (4, "delete i4 #1", 90.0, ""),
    ]:
        judged = Evaluation(verdict=Verdict.OK, time=time, error=0.0, artefact=code)
        counted.add(id_, Patch.parse(text), judged)
    counted.validate(1, "held-out", WRONG)
    assert [entry.id for entry in counted.variants()] == ["v3"]
    counted.validate(3, "held-out", WRONG)
    assert [entry.id for entry in counted.variants()] == ["v4"]
    counted.validate(4, "held-out", WRONG)
    assert [entry.id for entry in counted.variants()] == ["v0"]


def test_the_least_error_must_hold_elsewhere_and_cost_no_time():
    counted = Standings(Settings(tolerance=0.2))
    counted.add(0, Patch(), ok(1.0, 0.10))
    counted.add(1, Patch.parse("delete i1 #1"), ok(0.99, 0.08))
    counted.add(2, Patch.parse("delete i2 #1"), ok(1.2, 0.05))
    for id_, ratio in ((1, 0.99), (2, 1.2)):
        counted.validate(id_, "held-out", ok(ratio, 0.07))
        counted.measure(id_, measured(ratio))
    assert most_accurate(counted.measured(), 0.10, 0.09).id == "v1"
    assert most_accurate(counted.measured(), 0.10, 0.06) is None


@pytest.mark.parametrize(("low", "value", "high", "named"), [
    (0.95, 0.98, 1.01, True), (0.98, 1.001, 1.02, True), (0.99, 1.03, 1.07, False), (1.01, 1.03, 1.05, False),
])  # fmt: skip
def test_what_a_clock_measures_as_slower_is_not_named_for_an_interval_that_reaches_1(
    low, value, high, named
):
    counted = Standings(Settings(tolerance=0.2))
    counted.add(0, Patch(), ok(1.0, 0.10))
    counted.add(1, Patch.parse("delete i1 #1"), ok(0.99, 0.08))
    counted.validate(1, "held-out", ok(0.99, 0.07))
    counted.measure(1, Interval(value=value, low=low, high=high, runs=8))
    assert (most_accurate(counted.measured(), 0.10, 0.09) is not None) is named


def test_a_time_that_cannot_be_known_is_shown_and_not_claimed():
    counted = standings()
    unsure = Evaluation(
        verdict=Verdict.OK, time=100.0, error=0.0, traced=40.0, unsure="k: a reads what b writes"
    )
    counted.add(5, Patch.parse("delete i5 #1"), unsure)
    assert [entry.id for entry in counted.variants()] == ["v2", "v1"]
    (one,) = counted.unsure()
    assert (one.id, one.ratio, one.why) == ("v5", 0.4, "k: a reads what b writes")
    counted.validate(0, "held-out", ok(10.0))
    counted.validate(1, "held-out", msgspec.structs.replace(unsure, time=10.0, traced=7.0))
    counted.measure(1, measured(0.8))
    assert [entry.id for entry in counted.variants()] == ["v2", "v4"], "it hides no other"
    assert best_of(counted.measured(), exact=True) is None
    assert [(one.id, one.ratio) for one in counted.unsure()] == [("v5", 0.4), ("v1", 0.7)]


def test_what_executes_no_less_hides_no_gain_and_is_named():
    counted = Standings(Settings(tolerance=0.1, rounding=1e-5))

    def worked(time, *work):
        return msgspec.structs.replace(ok(time), work=work)

    counted.add(0, Patch(), worked(100.0, 10, 4, 1, 30))
    counted.add(1, Patch.parse("delete i1 #1"), worked(80.0, 12, 4, 1, 30))
    assert [entry.id for entry in counted.variants()] == ["v0"]
    counted.add(2, Patch.parse("delete i2 #1"), worked(90.0, 9, 4, 1, 30))
    assert [entry.id for entry in counted.variants()] == ["v2"]
    (one,) = counted.unsure()
    assert (one.id, one.ratio) == ("v1", 0.8)
    assert "executes no fewer" in one.why
    # The same work in other blocks may well be faster.
    counted.add(3, Patch.parse("parameter block 64 #1"), worked(70.0, 10, 4, 1, 30))
    assert [entry.id for entry in counted.variants()] == ["v3"]


def test_suspected_is_what_has_the_fewest_edits_that_passed_nowhere():
    """A best of four edits fails: two were in a best that passed, the others were added to it alone."""
    counted = Standings(Settings())
    counted.add(0, Patch(), ok(100.0))
    texts = ["delete i1 #1; delete i2 #1"]
    texts += [f"{texts[0]}; delete i{n} #1" for n in (3, 4)]
    texts += [f"{texts[1]}; delete i4 #1"]
    for id_, text in enumerate(texts, 1):
        counted.add(id_, Patch.parse(text), ok(90.0 - id_))
    counted.validate(1, "unseen", ok(89.0))
    assert counted.suspects("unseen") == []
    counted.validate(4, "unseen", WRONG)
    assert [id_ for id_, _ in counted.suspects("unseen")] == [2]
    counted.validate(2, "unseen", ok(88.0))
    assert [id_ for id_, _ in counted.suspects("unseen")] == [3]
    counted.validate(3, "unseen", WRONG)
    assert counted.suspects("unseen") == []
    assert (Patch.parse(texts[2]), FAILS) in counted.checks.faulty


def inexact(time, error):
    return Evaluation(verdict=Verdict.OK, time=time, error=error, inexact=True)


def test_what_is_not_exact_elsewhere_is_not_called_exact():
    counted = standings()
    assert [(one.id, one.exact) for one in counted.variants()] == [("v2", False), ("v1", True)]
    counted.validate(1, "held-out", inexact(80.0, 1e-3))
    assert [(one.id, one.exact) for one in counted.variants()] == [
        ("v2", False),
        ("v1", False),
        ("v4", True),
    ]
    assert counted.variants()[1].error == 1e-3
    assert counted.checks.inexact_on(1) == "held-out"
    assert counted.checks.struck.failed == 0
    # Nor is what builds on an edit that is not exact alone, and came later.
    counted.add(5, Patch.parse("delete i1 #1; delete i4 #1"), ok(70.0))
    assert [one.id for one in counted.variants() if one.exact] == ["v4"]
    assert {one.id: one.error for one in counted.variants()}["v5"] == 1e-3
    assert counted.checks.faulty == [(Patch.parse("delete i1 #1"), 1e-3)]


def test_what_had_an_error_on_the_search_cases_is_as_it_was():
    counted = standings()
    before = counted.variants()
    counted.validate(2, "unseen", inexact(50.0, 0.06))
    assert [(one.id, one.ratio) for one in before] == [
        (one.id, one.ratio) for one in counted.variants()
    ]
    assert counted.checks.faulty == []


def test_suspected_of_an_error_elsewhere_is_what_was_exact_and_is_smallest():
    counted = Standings(Settings(tolerance=0.1))
    counted.add(0, Patch(), ok(100.0))
    texts = ["delete i1 #1", "delete i2 #1", "delete i1 #1; delete i2 #1"]
    for id_, text in enumerate(texts, 1):
        counted.add(id_, Patch.parse(text), ok(90.0 - 10 * id_))
    assert counted.untried("unseen") == [(3, Patch.parse(texts[2]))]
    counted.validate(3, "unseen", inexact(60.0, 1e-3))
    assert [id_ for id_, _ in counted.suspects("unseen")] == [1]
    counted.validate(1, "unseen", inexact(80.0, 1e-3))
    assert counted.suspects("unseen") == []
    assert [id_ for id_, _ in counted.untried("unseen")] == [2]
    assert [one.exact for one in counted.variants()] == [False, True]
