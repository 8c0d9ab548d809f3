"""What does not hold is said wherever a result is shown."""

import io
import json

import pytest
from rich.console import Console

import gevolve
from gevolve.export.manifest import _evidence
from gevolve.report.html.facts import facts
from gevolve.report.terminal import details, summary
from gevolve.run.caveats import Caveats
from gevolve.run.run import Run
from gevolve.run.store import Store
from tests.analyze import runs
from tests.analyze.runs import edits, make

CAVEATS = Caveats(
    unchecked={"hazards": "the unedited program fails it itself (race: a.cu:3)"},
    assumptions=("only tried with height = 1",),
    warnings=("A constant is within the tolerance.",),
)
SAID = (
    "The check hazards does not hold: the unedited program fails it itself (race: a.cu:3).",
    "A constant is within the tolerance.",
    "Results hold for what was tried: only tried with height = 1.",
)


@pytest.fixture(scope="module", autouse=True)
def _evaluators_are_closed():
    yield
    runs.close()


def printed(view):
    stream = io.StringIO()
    Console(file=stream, width=400).print(view)
    return stream.getvalue()


def test_every_view_says_what_does_not_hold(tmp_path):
    folder = make(tmp_path / "run", edits("save 100"), workers=1)
    with Store.open(folder) as store:
        store.set("caveats", CAVEATS)
        store.set("cases", ["Case()"])
    with Run.open(folder) as run:
        found = run.summary()
        assert found.caveats == CAVEATS
        assert json.loads(found.json())["caveats"]["assumptions"] == ["only tried with height = 1"]
        evidence = _evidence(run, run.store.variant(1))
        views = (
            printed(summary(found)),
            printed(details(gevolve.inspect(run, "v1"))),
            " ".join(facts(run)["caveats"]),
            evidence.statement,
        )
    for view in views:
        for line in SAID:
            assert line in view
    assert evidence.caveats == CAVEATS


def test_a_run_without_any_says_nothing(tmp_path):
    folder = make(tmp_path / "run", edits("save 100"), workers=1)
    with Run.open(folder) as run:
        assert run.summary().caveats.lines == []
        assert "does not hold" not in printed(summary(run.summary()))
