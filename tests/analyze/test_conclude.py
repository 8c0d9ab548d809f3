"""The end of a search: its front is checked, its best minimized, and it can go on as if it were not."""

import pytest

import gevolve
from gevolve.run.run import Run
from gevolve.run.store import Store
from tests.analyze import puzzle


def search(folder, evals):
    return gevolve.optimize(
        puzzle.Puzzle(), evals=evals, seed=3, population=12, workers=2, out=folder
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("c")


@pytest.fixture(scope="module")
def whole(folder):
    return search(folder / "whole", 120)


def test_the_headline_is_minimal_and_validated(whole):
    best = whole.best
    assert best.validated
    assert best.interval.high < 1
    assert {"idle", "waste"}.isdisjoint(best.patch.split())
    with Run.open(whole.folder) as run:
        assert best.id in {found.id for found in run.findings.minimized.values()}
        front = run.store.last_generation().front
        assert all(id_ >= 0 for id_ in front), "the search knows nothing of it"


def test_a_search_goes_on_as_if_it_had_never_been_concluded(folder, whole):
    part = search(folder / "part", 50)
    assert part.best is not None
    more = gevolve.resume(folder / "part", evals=120)
    assert (more.evaluations, more.verdicts) == (whole.evaluations, whole.verdicts)
    assert more.best.patch == whole.best.patch
    assert [entry.patch for entry in more.front] == [entry.patch for entry in whole.front]
    with Store.open(whole.folder, readonly=True) as one, Store.open(more.folder) as other:
        assert [(row.id, row.patch) for row in one.evaluations()] == [
            (row.id, row.patch) for row in other.evaluations()
        ]


def test_a_large_case_whose_reference_is_wrong_costs_no_result(tmp_path):
    result = gevolve.optimize(
        puzzle.Misjudged(), evals=30, seed=3, population=12, workers=2, out=tmp_path / "r"
    )
    assert result.best.validated
    assert result.best.large == pytest.approx(result.best.interval.value, abs=0.01)
    assert any("differs from its own reference" in line for line in result.caveats.lines)
