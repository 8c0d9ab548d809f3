"""On kernels of the suite: the minimal patch has the whole gain, and removing any edit loses some."""

import pytest

import gevolve
from gevolve.analyze.minimize import LOSS
from gevolve.analyze.session import opened
from gevolve.patch import Patch
from tests.analyze import small


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Nn", "Scan"])
def test_the_whole_gain_and_nothing_else(name, tmp_path):
    workload = getattr(small, name)()
    result = gevolve.optimize(workload, evals=40, seed=1, tolerance=0.01, out=tmp_path / "r")
    found = gevolve.minimize(tmp_path / "r", result.front[0].id)  # faster than our build at least
    gain, kept = 1 / found.ratio_before - 1, 1 / found.ratio_after - 1
    assert kept >= (1 - LOSS) * gain > 0
    with opened(tmp_path / "r") as session:
        row = session.run.variant(found.id)
        edits = row.patch.edits
        fewer = [Patch(edits[:n] + edits[n + 1 :]) for n in range(len(edits))]
        judged = [one.evaluation for one in session.judge(fewer)]
    assert all(not one.ok or one.time > row.evaluation.time for one in judged)
    explained = gevolve.explain(tmp_path / "r", found.id)
    assert len(explained.edits) == found.after
    assert all(story.sentence for story in explained.edits)
    assert any(story.changes for story in explained.edits)
    assert sorted(n for group in explained.groups for n in group) == list(range(found.after))
