"""A whole search on a cluster gives what it gives on one machine."""

import pytest

from gevolve import open as open_run
from gevolve import optimize
from gevolve.optimize import resume

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
    whole = optimize("tuned/reduction", evals=30, workers=1, out=alone, **OPTIONS)
    optimize("tuned/reduction", evals=11, workers=2, out=moved, **OPTIONS)
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
