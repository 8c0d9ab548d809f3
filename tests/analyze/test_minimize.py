"""Minimal patches: the whole gain with nothing in it that does not pay, whatever happens on the way."""

import signal
import subprocess
import sys
import time

import msgspec
import pytest

import gevolve
from gevolve.analyze.minimize import LOSS, Bar, minimize_variant
from gevolve.analyze.session import opened
from gevolve.errors import StoreError
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.run.store import Store, parse_id
from tests import ROOT
from tests.analyze.runs import edits, make


def minimal(folder, variant="v1", **options):
    found = gevolve.minimize(folder, variant, **options)
    with Store.open(folder, readonly=True) as store:
        return found, store.variant(parse_id(found.id)).patch


def kinds(patch):
    return [str(edit).rpartition(" ")[0] for edit in patch]


def test_one_that_pays_among_fifty_that_do_not(tmp_path):
    lines = ["idle"] * 51
    lines[33] = "save 200"
    found, patch = minimal(make(tmp_path / "r", edits(*lines)))
    assert kinds(patch) == ["save 200"]
    assert (found.before, found.after, found.source) == (51, 1, "v1")
    assert found.ratio_after == found.ratio_before == pytest.approx(0.8)
    assert found.evaluations <= 20


def test_edits_that_need_each_other_stay_together(tmp_path):
    lines = ["lock a", "idle", "idle", "save 30", "idle", "key a", "key b", "idle"]
    _, patch = minimal(make(tmp_path / "r", edits(*lines)))
    assert kinds(patch) == ["lock a", "save 30", "key a"]


def test_what_costs_goes_and_what_was_skipped_needs_no_trial(tmp_path):
    folder = make(tmp_path / "r", edits(*["skip"] * 40, "save 50", *["skip"] * 40))
    found, patch = minimal(folder)
    assert kinds(patch) == ["save 50"]
    assert found.evaluations <= 3
    folder = make(tmp_path / "s", edits("save 300", "waste 40", "save 10", "waste 5"))
    found, patch = minimal(folder)
    assert kinds(patch) == ["save 300"] or kinds(patch) == ["save 300", "save 10"]
    assert found.ratio_after < found.ratio_before


def test_at_a_limit_the_shortest_so_far_is_kept_and_asking_again_goes_on(tmp_path):
    lines = [*["idle"] * 20, "save 100", *["idle"] * 20, "save 50", *["idle"] * 20, "save 30"]
    folder = make(tmp_path / "r", edits(*lines))
    with opened(folder, workers=1) as session:
        session.limit = 12
        found = minimize_variant(session, session.run.variant("v1"))
        assert found is not None
        assert not found.complete
        assert 3 < found.after < len(lines)
        assert found.ratio_after == pytest.approx(found.ratio_before)
        assert minimize_variant(session, session.run.variant(found.id)) == found
    again, patch = minimal(folder)
    assert (again.source, again.complete) == ("v1", True)
    assert kinds(patch) == ["save 100", "save 50", "save 30"]
    assert gevolve.minimize(folder, found.id).id == again.id


def test_small_losses_do_not_add_up(tmp_path):
    """A hundred edits that each save less than a hundredth of the whole: none may be left out twice."""
    folder = make(tmp_path / "r", edits(*["save 4"] * 100))
    found, _ = minimal(folder)
    gain = 1 / found.ratio_before - 1
    assert 1 / found.ratio_after - 1 >= (1 - LOSS) * gain


def test_twins_one_of_them_is_enough(tmp_path):
    _, patch = minimal(make(tmp_path / "r", edits("twin 80", "save 20", "twin 80")))
    assert sorted(kinds(patch)) == ["save 20", "twin 80"]


@pytest.mark.slow
def test_the_same_with_any_number_of_workers_and_a_second_time(tmp_path):
    lines = ["idle", "lock a", "save 9", "idle", "twin 70", "key a", "twin 60", "save 90"] * 2
    found = [
        minimal(make(tmp_path / f"r{workers}", edits(*lines)), workers=workers)
        for workers in (1, 3)
    ]
    assert found[0] == found[1]
    assert minimal(tmp_path / "r1") == found[0]


def test_a_variant_that_fails_cannot_be_minimized(tmp_path):
    folder = make(tmp_path / "r", edits("lock a"))
    with pytest.raises(StoreError, match="v1 is judged wrong; name a variant that is ok"):
        gevolve.minimize(folder, "v1")
    with pytest.raises(StoreError, match="no variant is faster and validated"):
        gevolve.minimize(folder)


def test_the_minimal_patch_is_validated_and_becomes_the_headline(tmp_path):
    folder = make(tmp_path / "r", edits("save 100", "idle", "idle"))
    assert gevolve.summarize(folder).best is None
    gevolve.validate(folder)
    assert gevolve.summarize(folder).best.id == "v1"
    found = gevolve.minimize(folder)
    best = gevolve.summarize(folder).best
    assert (best.id, best.edits, best.validated) == (found.id, 1, True)
    assert best.interval.high < 1
    assert best.held_out == best.large == pytest.approx(0.9)
    assert [entry.id for entry in gevolve.summarize(folder).front] == [found.id]


def test_a_minimal_patch_that_fails_elsewhere_is_not_the_headline(tmp_path):
    """The idle edit is not idle at all: without it, the artefact is one that knows its cases by rote."""
    folder = make(tmp_path / "r", edits("save 100", "idle"), edits("save 100", "rote"))
    gevolve.validate(folder)
    with Store.open(folder) as store:  # as if the search had never seen the shorter one
        row = store.variant(2)
        store.set("minimized", {"v1": {
            "source": "v1", "id": "v2", "before": 2, "after": 2, "ratio_before": 0.9,
            "ratio_after": 0.9, "evaluations": 3,
        }})  # fmt: skip
    assert row.evaluation.ok
    gevolve.validate(folder, "v2")
    assert gevolve.summarize(folder).best.id == "v1"


SCRIPT = """
import sys, gevolve
gevolve.minimize(sys.argv[1], "v1", workers=1, say=lambda line: print(line, flush=True))
"""


@pytest.mark.slow
def test_killed_and_asked_again_it_goes_on(tmp_path):
    lines = ["idle", "save 3", "lock a", "idle", "waste 2", "key a", "idle", "save 50"] * 4
    whole, patch = minimal(make(tmp_path / "whole", edits(*lines)))
    folder = make(tmp_path / "cut", edits(*lines))
    for rounds in (3, 5):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE, text=True,
            cwd=ROOT,
        )  # fmt: skip
        for _ in range(rounds):
            process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    with Store.open(folder, readonly=True) as store:
        before = store.find(Patch.parse(edits(*lines)))
        assert before is not None
    assert minimal(folder) == (whole, patch)


def test_what_executes_no_less_is_not_as_good_as_what_does():
    unedited, source = (
        Evaluation(verdict=Verdict.OK, time=time, error=0.0, work=work)
        for time, work in ((100.0, (10, 4)), (90.0, (9, 5)))
    )
    bar = Bar(source, unedited, 0.0)
    assert bar.cleared_by(source)
    assert not bar.cleared_by(msgspec.structs.replace(source, work=(10, 4)))
    assert Bar(unedited, unedited, 0.0).cleared_by(unedited)
