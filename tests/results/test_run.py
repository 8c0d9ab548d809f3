"""`gevolve suite` from the command line: it runs, leaves out what is done, and survives being killed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from gevolve.cli import main
from gevolve.run.run import Run
from gevolve.run.store import FILE

COMMAND = [sys.executable, "-m", "gevolve", "suite"]


def suite(*words, cwd, code=0):
    done = subprocess.run([*COMMAND, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def without_clocks(text):
    """A table without what depends on the machine's load."""
    if isinstance(text, dict):
        return {k: without_clocks(v) for k, v in text.items() if k not in ("seconds", "interval")}
    return [without_clocks(one) for one in text] if isinstance(text, list) else text


def test_list_names_groups_and_workloads(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["suite", "list"])
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["papers/", "tuned/", "models/"]
    assert any(line.split()[:1] == ["hotspot"] for line in lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "stencl"), "no workload or group 'stencl'"),
        (("run", "nn", "--evals", "0"), "--evals is 0"),
        (("run", "nn", "--workers", "0"), "--workers is 0"),
        (("show", "none"), "no such folder"),
        (("compare", "none", "none"), "no such folder"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["suite", *words])
    assert stop.value.code == 2
    stderr = capsys.readouterr().err
    assert said in stderr
    assert stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_measurement_end_to_end(tmp_path, monkeypatch):
    monkeypatch.delenv("GEVOLVE_DATA", raising=False)
    run = ("run", "nn", "svm-a9a", "--evals", "5", "--device", "sim", "--out", "r", "--json")
    first = suite(*run, cwd=tmp_path, code=1)
    table = json.loads(first.stdout)
    done, missing = sorted(table["outcomes"], key=lambda one: one["workload"])
    assert (done["workload"], done["status"], done["evaluations"]) == ("papers/nn", "finished", 5)
    assert "GEVOLVE_DATA" in missing["status"]
    assert (tmp_path / "r" / "index.html").read_text().count("<script") == 2
    store = next((tmp_path / "r").rglob(f"nn/*/{FILE}"))
    before = store.stat().st_mtime_ns
    again = suite(*run, cwd=tmp_path, code=1)
    assert json.loads(again.stdout) == table
    assert store.stat().st_mtime_ns == before
    same = suite("compare", "r", "r/table.json", cwd=tmp_path)
    assert "Every run gave the same" in same.stdout
    other = ("run", "nn", "--evals", "5", "--device", "sim", "--out", "r", "--tolerance", "0.1")
    assert "choose another --out" in suite(*other, cwd=tmp_path, code=2).stderr


@pytest.mark.slow
def test_killed_and_started_again_it_gives_the_same_table(tmp_path):
    run = ("run", "nn", "--evals", "14", "--device", "sim", "--json", "--out")
    whole = json.loads(suite(*run, "whole", cwd=tmp_path).stdout)
    process = subprocess.Popen(
        [*COMMAND, *run, "parts"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    folder = tmp_path / "parts" / "sim" / "default" / "papers" / "nn" / "seed-0"
    wait_for(lambda: judged(folder) >= 3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_for(lambda: not is_active(folder))
    assert 3 <= judged(folder) < 14
    parts = json.loads(suite(*run, "parts", cwd=tmp_path).stdout)
    assert without_clocks(parts) == without_clocks(whole)


def judged(folder):
    if not (folder / FILE).exists():
        return 0
    with Run.open(folder) as run:
        return run.store.count() - 1


def is_active(folder):
    with Run.open(folder) as run:
        return run.active


def wait_for(condition, seconds=120.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)
