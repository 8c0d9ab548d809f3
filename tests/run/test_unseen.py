"""Every new best is tried on unseen cases while the search goes on; what fails is struck with its lineage."""

import json

import pytest

import gevolve
from gevolve.patch import Patch
from gevolve.report.terminal import struck
from gevolve.run.run import Run
from gevolve.run.unseen import names_now
from tests.run.overfit import Honest, Narrow, Near, Outgrown, Overfit, Swollen


def search(folder, workload=None, **options):
    options = {"evals": 48, "population": 8, "seed": 1, "workers": 1} | options
    return gevolve.optimize(workload or Overfit(), out=folder, **options)


@pytest.fixture(scope="module")
def by_two(tmp_path_factory):
    """A search by two workers."""
    return search(tmp_path_factory.mktemp("unseen") / "two", workers=2)


def contents(folder):
    """All that a run's store says of variants, generations and checks, but for how long things took."""
    with Run.open(folder) as run:
        rows = [
            (r.id, str(r.patch), r.generation, r.evaluation.verdict)
            for r in run.store.evaluations()
        ]
        checks = run.store.all_validations()
        return (
            rows,
            {id_: {s: e.verdict for s, e in one.items()} for id_, one in checks.items()},
            [(g.number, g.state, g.front) for g in run.store.generations()],
        )


def test_an_overfitted_lineage_is_struck_and_an_honest_gain_is_found(by_two):
    result = by_two
    assert result.best is not None
    assert "crib" not in result.best.patch
    assert result.struck.failed > 0
    assert result.struck.failed < result.struck.tried
    assert result.struck.why.keys() == {"wrong on unseen cases"}  # none was left to fail at the end
    said = struck(result.struck)
    assert f"{result.struck.failed} of {result.struck.tried} candidates failed" in said
    assert "wrong on unseen cases" in said
    assert "case " in said
    assert json.loads(result.json())["struck"]["failed"] == result.struck.failed
    with Run.open(result.folder) as run:
        state = run.store.last_generation().state
    kept, gone = (
        [set(Patch.parse(text)) for text in state[key]] for key in ("population", "struck")
    )
    assert gone
    assert not any(one <= other for one in gone for other in kept), (
        "nothing builds on what was struck"
    )


def test_so_is_one_that_only_varied_cases_show(tmp_path):
    result = search(tmp_path / "run", Narrow())
    assert result.best is not None
    assert "crib" not in result.best.patch
    assert result.struck.why.keys() == {"wrong on early varied cases"}
    single = [text for text in _struck(tmp_path / "run") if len(Patch.parse(text)) == 1]
    assert single, "the edit itself was found, and what is left of its lineage lives"


def test_so_is_one_that_only_the_large_case_shows(tmp_path):
    """It is looked at after eight generations, so that the rest of the search builds on something else."""
    result = search(tmp_path / "run", Outgrown(), evals=96)
    assert result.best is not None
    assert "crib" not in result.best.patch
    assert result.struck.why["wrong on early large cases"] > 0
    gone = [set(Patch.parse(text)) for text in _struck(tmp_path / "run")]
    assert any(len(one) == 1 and "crib" in str(*one) for one in gone), "the edit itself was found"


def test_so_is_one_that_is_slower_on_the_large_case(tmp_path):
    result = search(tmp_path / "run", Swollen(), evals=96)
    assert result.best is not None
    assert "crib" not in result.best.patch
    assert result.best.large < 1
    assert result.struck.why["slower on early large cases"] > 0
    assert "of the unedited program's time on the large case" in result.struck.example
    gone = [set(Patch.parse(text)) for text in _struck(tmp_path / "run")]
    assert any(len(one) == 1 and "crib" in str(*one) for one in gone), "the edit itself was found"


def test_what_is_exact_only_where_the_search_looks_is_never_called_exact(tmp_path):
    """A tolerance forgives it elsewhere, so nothing fails."""
    result = search(tmp_path / "run", Near())
    assert result.struck.failed == 0
    assert result.best is not None
    assert "crib" in result.best.patch
    assert not result.best.exact
    assert result.best.error == pytest.approx(1e-3)
    assert result.best_exact is not None
    assert "crib" not in result.best_exact.patch
    assert result.best_exact.ratio > result.best.ratio
    with Run.open(tmp_path / "run") as run:
        assert run.store.last_generation().state["inexact"]
    search(tmp_path / "parts", Near(), evals=21, workers=2)
    gevolve.resume(tmp_path / "parts", evals=48)
    one, parts = contents(tmp_path / "run"), contents(tmp_path / "parts")
    assert one[0] == parts[0]
    assert one[2] == parts[2]


def test_the_large_case_is_looked_at_seldom():
    def due(count, splits=("held-out", "large")):
        return "early large" in names_now(splits, count, compares=True)

    assert [count for count in range(600) if due(count)] == [8, 16, 32, 64, 128, 256, 512]
    assert not due(8, ("held-out",))
    assert "early large" in names_now(("large",), 9, compares=True, failed={"early large"})
    assert "early large" not in names_now((), 9, compares=True, failed={"early large"})
    assert names_now(("large",), 1, compares=False) == ["unseen"]


def _struck(folder):
    with Run.open(folder) as run:
        return run.store.last_generation().state["struck"]


def test_with_any_number_of_workers_and_after_an_interruption_it_is_the_same_run(by_two, tmp_path):
    search(tmp_path / "one")
    assert contents(tmp_path / "one") == contents(by_two.folder)
    search(tmp_path / "parts", evals=21)
    gevolve.resume(tmp_path / "parts", evals=48)
    one, parts = contents(tmp_path / "one"), contents(tmp_path / "parts")
    assert one[0] == parts[0]
    assert one[2] == parts[2]


def test_an_honest_search_loses_nothing(tmp_path):
    result = search(tmp_path / "run", Honest(), evals=60)
    assert result.best is not None
    assert (result.struck.failed, result.struck.descendants) == (0, 0)
