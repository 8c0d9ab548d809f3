"""Whole searches on `cuda`, through the evaluator's lasting processes, over the double of the driver."""

from pathlib import Path

import pytest

import gevolve
from gevolve.device.cuda import query
from tests.device.cuda.double import Double
from tests.evaluate.processes import all_gone

HERE = Path(__file__).parent


def search(tmp_path, monkeypatch, *, rate, evals, device="cuda:0"):
    monkeypatch.setenv("GEVOLVE_TEST_RATE", str(rate))
    monkeypatch.setenv("GEVOLVE_TEST_MARK", str(tmp_path / "mark"))
    options = gevolve.Options(device=device, evals=evals, population=24, out=tmp_path / "run")
    result = gevolve.optimize(HERE / "searched.py", options)
    assert result.evaluations == sum(result.verdicts.values()) == evals
    assert all_gone()
    # A misuse of the driver would be the detail of some evaluation.
    assert b"Misuse" not in (tmp_path / "run" / "run.sqlite").read_bytes()
    assert all(entry.validated for entry in result.front)
    return result


@pytest.mark.slow
def test_a_search_finds_what_is_faster(tmp_path, monkeypatch):
    result = search(tmp_path, monkeypatch, rate=0.0, evals=60)
    assert result.verdicts["ok"] > 3
    assert set(result.verdicts) <= {"ok", "wrong", "nonfinite", "crash", "inputs-changed", "flaky"}


@pytest.mark.slow
def test_a_search_on_all_gpus(tmp_path, monkeypatch):
    two = query.ask(Double(gpus=2))
    monkeypatch.setattr(query, "gpus", lambda: two)
    search(tmp_path, monkeypatch, rate=0.0, evals=16, device="cuda:all")
    assert sorted(path.name for path in tmp_path.glob("gpu*")) == ["gpu0", "gpu1"]


@pytest.mark.slow
def test_a_search_on_a_gpu_that_fails_now_and_then(tmp_path, monkeypatch):
    result = search(tmp_path, monkeypatch, rate=0.001, evals=60)
    assert result.verdicts["ok"] > 0


@pytest.mark.slow
def test_a_search_in_which_a_tenth_of_all_calls_fail(tmp_path, monkeypatch):
    result = search(tmp_path, monkeypatch, rate=0.1, evals=160)
    assert result.verdicts["crash"] > 80
