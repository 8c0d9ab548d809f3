"""The run as an object: what it gives, to whom, and that settings and searches last over a resume."""

import sqlite3
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import gevolve
from gevolve import plugins
from gevolve.errors import OptionError, StoreError
from gevolve.patch import Patch
from gevolve.run.run import Run, opened
from tests.analyze import puzzle


class RandomSearch(gevolve.Search):
    """Draws one edit for each patch, and learns nothing."""

    def __init__(self, problem, settings):
        self.problem, self.settings, self.generation = problem, settings, 0

    def ask(self):
        rng = np.random.default_rng([self.problem.seed, self.generation])
        program = self.problem.program
        edits = (program.propose(program.kinds[0], rng, None) for _ in range(4))
        return list(dict.fromkeys(Patch((edit,)) for edit in edits if edit))

    def tell(self, evaluations):
        self.generation += 1

    def state(self):
        return {"generation": self.generation}

    @classmethod
    def restore(cls, problem, settings, state, judged):
        search = cls(problem, settings)
        search.generation = state["generation"]
        return search


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    gevolve.optimize(
        puzzle.Puzzle(), evals=30, seed=3, population=12, workers=1, out=folder,
        settings={"crossover": 0.5, "crossover_kind": "messy"},
    )  # fmt: skip
    return folder


def test_everything_of_a_run_in_one_place(folder):
    with gevolve.open(folder) as run:
        assert run.config.workload == "Puzzle"
        assert run.workload.name == "Puzzle"
        assert run.settings.crossover == 0.5
        assert run.settings.population == 12
        assert run.summary() == gevolve.summarize(run) == gevolve.summarize(folder)
        assert run.variant("v0").patch == Patch()
        assert not run.active
        assert run.command.startswith("gevolve run ")
        assert run.command.endswith(
            "--population 12 --set crossover=0.5 --set 'crossover_kind=\"messy\"'"
        )
    with pytest.raises(StoreError, match="no such folder"):
        gevolve.open(folder / "none")


def test_a_run_that_is_open_stays_open(folder):
    with Run.open(folder) as run:
        with opened(run) as same:
            assert same is run
        assert run.summary().evaluations == 30


def test_a_run_open_for_reading_is_not_written(folder):
    with Run.open(folder) as run, pytest.raises(StoreError, match="opened for reading only"):
        gevolve.validate(run)


def test_settings_last_over_a_resume(folder):
    gevolve.resume(folder, evals=40)
    with Run.open(folder) as run:
        assert (run.settings.crossover, run.settings.crossover_kind) == (0.5, "messy")


def test_a_wrong_setting_leaves_no_folder(tmp_path):
    with pytest.raises(OptionError, match="no setting 'crossing'"):
        gevolve.optimize(puzzle.Puzzle(), out=tmp_path / "run", settings={"crossing": 1})
    assert not (tmp_path / "run").exists()


def test_a_search_of_another_package(tmp_path, monkeypatch):
    point = EntryPoint("random", f"{__name__}:RandomSearch", "gevolve.searches")
    monkeypatch.setattr(
        plugins, "entry_points", lambda group: [point] if group == point.group else []
    )
    result = gevolve.optimize(
        puzzle.Puzzle(), evals=6, seed=1, workers=1, search="random", out=tmp_path / "run"
    )
    assert result.evaluations <= 6
    assert gevolve.resume(tmp_path / "run", evals=8).evaluations <= 8
    with Run.open(tmp_path / "run") as run:
        assert run.config.search == "random"
        assert "--search random" in run.command


def test_a_run_of_the_former_name_is_said_to_be_one(folder, tmp_path):
    file = tmp_path / "run.sqlite"
    file.write_bytes((folder / "run.sqlite").read_bytes())
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA application_id = 0x6765766F")
    connection.close()
    with pytest.raises(StoreError, match="made by gevo, the former name of gevolve"):
        Run.open(tmp_path)
