"""A whole search on a cluster gives what it gives on one machine."""

import json
import os
import signal
import subprocess
import sys

import pytest

from gevolve import open as open_run
from gevolve import optimize
from gevolve.errors import StoreError
from gevolve.optimize import resume
from gevolve.run.store import Store
from tests.evaluate.processes import wait_for
from tests.small.saxpy import SAXPY

OPTIONS = {"seed": 3, "islands": 2, "population": 4, "settings": {"sweep": 4, "exchange": 1}}


def contents(folder):
    with open_run(folder) as run:
        return [
            (row.id, str(row.patch), row.evaluation.verdict, row.evaluation.time)
            for row in run.store.evaluations()
        ]


@pytest.mark.slow
def test_the_same_run_here_and_there(tmp_path):
    alone, moved = tmp_path / "alone", tmp_path / "moved"
    whole = optimize(SAXPY, evals=30, workers=1, out=alone, **OPTIONS)
    optimize(SAXPY, evals=11, workers=2, out=moved, **OPTIONS)
    seen = []
    there = resume(
        moved, evals=30, workers=2, cluster="ray", watch=lambda p: seen.append(list(p.nodes))
    )
    assert contents(moved) == contents(alone)
    assert [one.patch for one in there.front] == [one.patch for one in whole.front]
    assert there.status == "finished"
    with open_run(moved) as run:
        assert "--set islands=2" in run.command
        [node] = run.store.get("nodes", list)
    assert node["evaluations"] > 0
    assert any(nodes and nodes[0].workers for nodes in seen)


@pytest.mark.slow
def test_ctrl_c_on_a_cluster_says_so_at_once_and_resume_goes_on_without_it(tmp_path):
    command = [sys.executable, "-m", "gevolve"]
    options = ["--cluster", "ray", "--workers", "1", "--time", "6000", "--json"]
    with subprocess.Popen(
        [*command, "run", SAXPY, *options, "--out", "r"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert wait_for(lambda: judged(tmp_path / "r") >= 5, 300)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    told = [line for line in err.splitlines() if "Stopping" in line]
    assert len(told) == 1, err
    assert "gevolve resume r" in told[0]
    assert "Traceback" not in err
    stopped = json.loads(out)
    assert (stopped["status"], stopped["evaluations"] >= 5) == ("stopped", True)
    there = resume(tmp_path / "r", evals=stopped["evaluations"] + 3, workers=1)
    assert there.status == "finished"
    assert there.evaluations == stopped["evaluations"] + 3


def judged(folder):
    try:
        with Store.open(folder, readonly=True) as store:
            return store.count()
    except StoreError:
        return 0
