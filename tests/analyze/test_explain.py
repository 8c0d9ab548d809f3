"""A patch taken apart: which edits matter to each other, and what each is good for."""

import json

import pytest

import gevolve
from gevolve.analyze.relations import groups, relate
from gevolve.cli import main
from gevolve.run.findings import Effect
from tests.analyze.runs import edits, make


def effect(ratio):
    return Effect(verdict="ok" if ratio else "wrong", ratio=ratio)


@pytest.mark.parametrize(
    ("one", "other", "both", "relation"),
    [
        (0.9, 0.8, 0.72, "independent"),
        (0.9, 0.8, 0.722, "independent"),
        (0.9, 0.8, 0.6, "together"),
        (1.0, 1.0, 0.6, "together"),
        (0.9, 0.8, 0.8, "overlap"),
        (0.9, 0.8, None, "clash"),
        (0.9, None, 0.7, "together"),
        (None, None, 0.7, "together"),
        (0.9, None, None, "independent"),
    ],
)
def test_how_two_edits_get_on(one, other, both, relation):
    pair = relate(0, 1, [effect(one), effect(other)], effect(both), margin=0.01)
    assert pair.relation == relation


def test_an_edit_that_needs_two_others_is_put_to_those_that_are_needed():
    alone = [effect(0.9), effect(None), effect(None), effect(None)]
    without = [effect(0.95), effect(None), effect(None), effect(None)]
    assert groups(4, [], alone, without) == [[0], [1, 2, 3]]


def test_edits_that_do_nothing_without_several_others_and_are_missed_alike_are_one_part():
    alone = [effect(1.0), effect(0.999), effect(1.0), effect(0.9), effect(1.0)]
    without = [effect(0.8), effect(0.801), effect(0.8), effect(0.75), effect(0.7)]
    assert groups(5, [], alone, without, 0.65) == [[0, 1, 2], [3], [4]]
    # One that is not missed is no part of it.
    without[2] = effect(0.65)
    assert groups(5, [], alone, without, 0.65) == [[0, 1], [2], [3], [4]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    lines = ("save 100", "lock a", "idle", "key a", "twin 60", "twin 70")
    folder = make(tmp_path_factory.mktemp("e") / "r", edits(*lines))
    gevolve.validate(folder)
    return folder


def test_groups_of_edits_that_belong_together(folder):
    found = gevolve.explain(folder)
    assert found.id == gevolve.minimize(folder).id
    edit = {story.edit.split(" #")[0]: n for n, story in enumerate(found.edits)}
    assert sorted(edit) == ["key a", "lock a", "save 100", "twin 70"]
    assert found.groups == [[edit["save 100"]], sorted((edit["lock a"], edit["key a"])), [edit["twin 70"]]]  # fmt: skip
    lock, key, save = (found.edits[edit[name]] for name in ("lock a", "key a", "save 100"))
    assert (lock.alone.verdict, lock.alone.ratio) == ("wrong", None)
    assert key.alone.ratio == 1.0
    assert lock.without.ratio == pytest.approx(0.83)
    assert key.without.ratio is None
    assert (save.alone.ratio, save.without.ratio) == pytest.approx((0.9, 0.83))
    assert (save.theme, save.sentence, save.line) == ("saved", "does save", "puzzle.cu:1")
    assert gevolve.explain(folder) == found, "it is kept"


def test_twins_overlap_in_a_patch_that_has_both(folder):
    found = gevolve.explain(folder, "v1")
    (pair,) = (p for p in found.pairs if (p.first, p.second) == (4, 5))
    assert pair.relation == "overlap"
    assert pair.expected == pytest.approx(0.94 * 0.93)
    assert pair.effect.ratio == pytest.approx(0.93)
    assert [4, 5] in found.groups


def test_pairs_of_a_long_patch_are_those_that_are_missed_most(tmp_path):
    folder = make(tmp_path / "r", edits(*(f"save {n}" for n in range(1, 21))))
    found = gevolve.explain(folder, "v1")
    assert len(found.pairs) == 66
    assert {p.first for p in found.pairs} | {p.second for p in found.pairs} == set(range(8, 20))


def test_the_command_line(folder, capsys):
    with pytest.raises(SystemExit):
        main(["explain", str(folder)])
    text = capsys.readouterr().out
    assert "4 edits, in 3 parts\n" in text
    assert "only work together" in text
    with pytest.raises(SystemExit):
        main(["explain", str(folder), "--json"])
    assert json.loads(capsys.readouterr().out)["groups"]
    with pytest.raises(SystemExit):
        main(["minimize", str(folder)])
    assert "6 edits → 4 edits" in capsys.readouterr().out
