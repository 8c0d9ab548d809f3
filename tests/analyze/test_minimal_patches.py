"""On kernels of the suite: the minimal patch has the whole gain, and removing any edit loses some."""

import pytest

import gevo
from gevo.analyze.minimize import LOSS
from gevo.analyze.session import opened
from gevo.patch import Patch
from gevo.store import parse_id


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pathfinder", "reduction"])
def test_the_whole_gain_and_nothing_else(name, tmp_path):
    gevo.optimize(name, evals=300, seed=1, tolerance=0.01, out=tmp_path / "r")
    found = gevo.minimize(tmp_path / "r")
    gain, kept = 1 / found.ratio_before - 1, 1 / found.ratio_after - 1
    assert kept >= (1 - LOSS) * gain > 0
    with opened(tmp_path / "r") as session:
        row = session.store.variant(parse_id(found.id))
        edits = row.patch.edits
        fewer = [Patch(edits[:n] + edits[n + 1 :]) for n in range(len(edits))]
        judged = [one.evaluation for one in session.judge(fewer)]
    assert all(not one.ok or one.time > row.evaluation.time for one in judged)
    explained = gevo.explain(tmp_path / "r")
    assert len(explained.edits) == found.after
    assert all(story.sentence for story in explained.edits)
    assert any(story.changes for story in explained.edits)
    assert sorted(n for group in explained.groups for n in group) == list(range(found.after))
