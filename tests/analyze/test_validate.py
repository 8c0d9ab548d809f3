"""What is called a gain has passed on inputs that nobody has seen; what has not is named and struck."""

import io
import json
from types import SimpleNamespace

import msgspec
import pytest
from rich.console import Console

import gevolve
from gevolve.analyze import validate
from gevolve.analyze.validate import _distinct
from gevolve.cli import main
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.report.analysis import validation
from gevolve.report.live import panel
from gevolve.report.terminal import summary
from gevolve.run.claim import at_size
from gevolve.run.findings import Findings, Interval
from gevolve.run.loop import Progress
from gevolve.run.standings import Standings
from gevolve.run.store import Store
from gevolve.search import Settings
from tests.analyze.runs import edits, make

BY_ROTE = edits("save 300", "rote")
OUTGROWN = edits("save 250", "outgrown")
HONEST = edits("save 100")


def by_id(found):
    return {one.id: one for one in found}


def shown(renderable):
    console = Console(width=200, file=io.StringIO())
    console.print(renderable)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with two cheats on its front and an honest variant behind them."""
    return make(tmp_path_factory.mktemp("v") / "r", BY_ROTE, OUTGROWN, HONEST, edits("save 50"))


def test_a_failure_names_the_input_and_the_next_is_tried(folder):
    found = by_id(gevolve.validate(folder))
    assert set(found) == {"v1", "v2", "v3"}, "what stands behind an honest variant is not tried"
    assert found["v1"].failed == "fresh"
    assert found["v1"].why.startswith("wrong: case ")
    assert "Case(x=float64[" in found["v1"].why
    assert found["v2"].failed == "large"
    assert (found["v3"].failed, found["v3"].passed) == (
        "",
        ["fresh", "held-out", "large", "varied"],
    )
    assert found["v3"].gain
    result = gevolve.summarize(folder)
    assert [entry.id for entry in result.front] == ["v3"]
    assert result.best.interval.value == pytest.approx(0.9)
    text = shown(validation(list(found.values())))
    assert "v1 fails on fresh cases: wrong: case " in text
    assert "1 of 3 passed, 1 with a gain." in text


def test_the_edit_to_blame_takes_all_along_that_have_it(tmp_path):
    cheats = [f"save {200 + n} #1; outgrown #2" for n in range(12)]
    folder = make(tmp_path / "r", "outgrown #2", *cheats, HONEST)
    found = by_id(gevolve.validate(folder))
    assert len(found) == 2, "the first cheat, and what is left when its edit is known"
    assert found["v13"].failed == "large"
    assert gevolve.summarize(folder).best.id == "v14"


def test_what_is_slower_on_the_large_case_is_no_gain(tmp_path):
    """A gain on small cases that is a loss at size is struck, with all that has the edit to blame."""
    slow = [f"save {200 + n} #1; bloat 500 #2" for n in range(12)]
    folder = make(tmp_path / "r", "bloat 500 #2", *slow, "save 150 #1; bloat 160 #2", HONEST)
    found = by_id(gevolve.validate(folder))
    assert len(found) == 2, "the fastest, and what is left when its edit is known"
    assert found["v13"].failed == "large"
    assert found["v13"].why == (
        "slower: it takes 1.29 of the unedited program's time on the large case"
    )
    result = gevolve.summarize(folder)
    assert result.best.id == "v14"
    assert result.best.large == pytest.approx(1.01), "so much longer is not worth striking"
    assert "bloat" in result.best.patch


@pytest.mark.parametrize(("saved", "added", "spread", "word"), [
    (100, 119, 0.0, "ok"),
    (100, 121, 0.0, "slower"),
    (100, 121, 0.01, "ok"),
    (100, 135, 0.01, "slower"),
])  # fmt: skip
def test_how_much_longer_the_large_case_may_take(saved, added, spread, word):
    unedited = Evaluation(verdict=Verdict.OK, time=1000.0, error=0.0)
    mine = Evaluation(
        verdict=Verdict.OK, time=1000.0 - saved + added, error=0.0, spread=spread, artefact="a"
    )
    assert at_size(mine, unedited).verdict == word
    assert at_size(mine, unedited).identity == "a"


def test_what_was_not_tried_on_the_large_case_is_no_gain(tmp_path, monkeypatch):
    """However few may be tried, the best of those that were is tried there too."""
    monkeypatch.setattr(validate, "CANDIDATES", 2)
    cheats = [edits(f"save {200 + n}", f"outgrown {n}") for n in (1, 2, 3)]
    folder = make(tmp_path / "r", *cheats, HONEST)
    found = gevolve.validate(folder)
    assert [one.failed for one in found] == ["large", "large"]
    assert gevolve.summarize(folder).best is None


def test_each_call_draws_inputs_that_were_never_used(folder):
    seen = set()
    for _ in range(3):
        gevolve.validate(folder, "v1")
        with Store.open(folder, readonly=True) as store:
            seen.add(store.validations(1)["fresh"].detail)
    assert len(seen) == 3
    assert gevolve.summarize(folder).best.id == "v3"


def test_what_failed_once_stays_struck_though_other_inputs_pass(tmp_path):
    folder = make(tmp_path / "r", HONEST)
    gevolve.validate(folder)
    with Store.open(folder) as store:
        failed = msgspec.structs.replace(
            store.validations(1)["fresh"], verdict=gevolve.Verdict.RACE, time=None, error=None
        )
        store.add_validation(1, "fresh", failed)
    assert by_id(gevolve.validate(folder, "v1"))["v1"].failed == "fresh"
    assert gevolve.summarize(folder).best is None


def test_a_variant_that_is_right_but_no_faster_elsewhere_is_no_gain(tmp_path):
    folder = make(tmp_path / "r", edits("idle"), edits("waste 5"))
    assert gevolve.validate(folder) == []
    (found,) = gevolve.validate(folder, "v2")
    assert not found.failed
    assert not found.gain
    assert gevolve.summarize(folder).best is None


def command(*arguments):
    """What a command line exits with."""
    with pytest.raises(SystemExit) as caught:
        main([*map(str, arguments)])
    return caught.value.code


CLAIMS = ("faster", "gain", "improve", "speedup", "best")


def claims(text):
    """Words that say that something is better, other than that nothing is."""
    text = text.lower().replace("no gain", "").replace("0 with a gain", "")
    for denial in ('"best":null', '"best_exact":null', '"gain":false'):
        text = text.replace(denial, "")
    return [word for word in CLAIMS if word in text]


def test_no_view_praises_what_is_not_validated_or_failed(tmp_path, capsys):
    folder = make(tmp_path / "r", BY_ROTE)
    for _ in range(2):
        result = gevolve.summarize(folder)
        live = Progress("Puzzle", "puzzle", 1, (100, 60.0), "searching", front=result.front)
        for more in ([], ["--json"], ["--variant", "v1"]):
            assert command("show", folder, *more) == 0
        views = [capsys.readouterr().out, shown(summary(result)), shown(panel(live)), result.json()]
        assert [claims(view) for view in views] == [[]] * len(views)
        assert result.best is result.best_exact is None
        assert command("export", folder, "--format", "patch") == 2
        assert "no variant is faster and validated" in capsys.readouterr().err
        gevolve.validate(folder)
    assert [entry.id for entry in gevolve.summarize(folder).front] == ["v0"]


def test_the_command_line(folder, capsys):
    assert command("validate", folder, "--variant", "v3") == 0
    assert "1 of 1 passed, 1 with a gain." in capsys.readouterr().out
    assert command("validate", folder, "--json") == 0
    assert "v3" in {one["id"] for one in json.loads(capsys.readouterr().out)}
    assert command("validate", folder, "--variant", "v99") == 2
    assert "no variant v99" in capsys.readouterr().err


def test_where_times_vary_it_is_measured_until_it_is_sure(tmp_path):
    folder = make(tmp_path / "r", edits("save 200"), edits("idle"), device="noisy")
    (found,) = gevolve.validate(folder, "v1")
    assert found.interval.runs >= 5
    assert found.interval.low < 0.8 < found.interval.high or found.interval.value == pytest.approx(
        0.8, rel=0.05
    )
    assert found.gain
    (idle,) = gevolve.validate(folder, "v2")
    assert not idle.gain
    assert idle.interval.low < 1
    assert gevolve.summarize(folder).best.id == "v1"


def test_what_takes_the_place_of_the_fastest_is_measured_before_slower_ones(tmp_path):
    """Time may run out: a clock measures two at a time, and those worth most first."""
    by_rote = edits("save 500", "blur 9", "rote")
    its_heir = edits("save 450", "blur 9")
    others = [edits(f"save {100 * n}", f"blur {2 * n}") for n in (1, 2, 3)]
    folder = make(tmp_path / "r", by_rote, its_heir, *others, device="noisy", tolerance=0.02)
    found = by_id(gevolve.validate(folder))
    assert found["v1"].failed == "fresh"
    with Store.open(folder, readonly=True) as store:
        measured = list(Findings(store).intervals)
    assert set(measured[:2]) == {"v2", "v3"}, "the fastest that passes, and the most accurate"
    assert set(measured) == {"v2", "v3", "v4", "v5"}
    assert gevolve.summarize(folder).best.id == "v2"


def test_a_device_that_is_blind_to_some_faults_has_a_referee(tmp_path):
    lines = (edits("save 300", "lock a"), edits("save 200", "lock b", "key b"))
    folder = make(tmp_path / "r", *lines, device="blind")
    found = by_id(gevolve.validate(folder))
    assert (found["v1"].failed, found["v1"].why[:5]) == ("puzzle", "wrong")
    assert sorted(found["v2"].passed) == ["fresh", "held-out", "large", "puzzle", "varied"]
    assert gevolve.summarize(folder).best.id == "v2"


def test_of_modelled_times_that_are_close_only_the_most_accurate_is_measured():
    standings = Standings(Settings(tolerance=1.0, rounding=0.0))
    times = [(100.0, 0.1), (50.0, 0.5), (50.5, 0.4), (50.9, 0.3), (51.5, 0.25), (90.0, 0.2)]
    for number, (time, error) in enumerate(times):
        patch = Patch.parse(f"delete o{number} #1") if number else Patch()
        standings.add(number, patch, Evaluation(verdict=Verdict.OK, time=time, error=error))

    def chosen(modelled):
        evaluator = SimpleNamespace(prepare=lambda _: SimpleNamespace(modelled=modelled))
        return _distinct(SimpleNamespace(standings=standings, evaluator=evaluator))

    assert chosen(modelled=False) == [1, 2, 3, 4, 5]
    assert chosen(modelled=True) == [3, 4, 5]
    standings.measure(5, Interval(value=0.51, low=0.5, high=0.52, runs=9))  # that is the clock's
    assert chosen(modelled=True) == [3, 5]


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ({}, ""),
        ({"a": 0.5}, "a"),
        ({"a": 0.5, "b": 0.7, "c": 0.9, "d": 1.0, "e": 1.1, "f": 1.2}, "adbfce"),
        ({"a": 1.1, "b": 1.2, "c": 1.3}, "acb"),  # a front of nothing but slower ones
    ],
)
def test_the_fastest_and_the_most_accurate_that_is_no_slower_are_checked_first(front, expected):
    assert validate._by_worth([*front], lambda name: front[name] <= 1) == list(expected)


def test_of_times_that_a_clock_cannot_tell_apart_none_hides_what_is_no_slower():
    front = [(0.5, 1), (0.505, 2), (0.8, 3), (0.995, 4), (1.0, 5), (1.003, 6), (1.01, 7)]
    assert validate._told_apart(front, 1.0) == [2, 3, 5, 7]
