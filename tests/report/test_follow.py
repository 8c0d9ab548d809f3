"""What a page knows of a run, and that reading in steps comes to the same as reading at once."""

import pytest
from msgspec.structs import replace

from benchmarks.synthetic.runs import POPULATION, TIME, Maker, fastest, make, validate
from gevolve.errors import StoreError
from gevolve.evaluate.protocol import NodeStatus
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.report.html.build import logs, report
from gevolve.report.html.follow import Follower
from gevolve.report.html.history import History
from gevolve.report.html.subject import Describer, take_apart
from gevolve.report.terminal import error_words
from gevolve.run.run import Run, summarize
from gevolve.run.store import Store, format_id
from gevolve.search.individual import pareto


def text_of(patch):
    return [str(edit) for edit in patch]


def followed(folder):
    with Run.open(folder) as run:
        follower = Follower(run)
        follower.read()
        return follower, follower.summary(text_of)


def front_of(history):
    """The front that the changes of all generations lead to."""
    front = set()
    for change in history["front"]:
        came, went = change or ([], [])
        front = (front | set(came)) - set(went)
    return front


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make(tmp_path_factory.mktemp("runs") / "run", 400)


def test_agrees_with_the_summary_of_the_run(folder):
    _, data = followed(folder)
    result = summarize(folder)
    assert data["evaluations"] == result.evaluations == 400
    assert data["verdicts"] == result.verdicts
    assert [entry["id"] for entry in data["front"]] == [entry.id for entry in result.front]
    assert data["claim"]["id"] == data["best"] == result.best.id
    assert data["claim"]["interval"]["value"] == result.best.interval.value
    assert front_of(data["history"]) == {entry["id"] for entry in data["front"]}
    assert len(data["history"]["generation"]) == 1 + -(-400 // POPULATION)
    assert sum(data["verdicts"].values()) == sum(
        sum(counts.values()) for _, counts in data["generations"]
    )


def test_only_what_has_no_error_is_called_exact(folder):
    exact = summarize(folder).best_exact
    assert error_words(exact) == "exact"
    for error, words in (
        (0.04, "as unedited"),
        (0.037, "better by 0.3 points"),
        (0.05, "worse by 1.0 points"),
    ):
        one = replace(exact, error=error, unedited_error=0.04, exact=error <= 0.04)
        assert error_words(replace(one, off=0.3)) == words
    _, data = followed(folder)
    assert {entry["words"] for entry in data["front"] if entry["exact"]} == {"exact"}
    assert all(entry["words"].startswith("0.") for entry in data["front"] if not entry["exact"])


def test_struck_variants_are_on_no_front_and_no_curve(folder):
    _, data = followed(folder)
    with Store.open(folder, readonly=True) as store:
        struck = [format_id(row.id) for row in fastest(store)[:2]]
        left = fastest(store)[2].evaluation.time / TIME
    assert all(data["checks"][name]["held-out"]["verdict"] == "wrong" for name in struck)
    ever = {name for change in data["history"]["front"] if change for name in change[0]}
    assert not ever & set(struck)
    assert data["history"]["best"][-1] == pytest.approx(left, abs=1e-6)


def test_nothing_unvalidated_is_a_claim(tmp_path):
    follower, data = followed(make(tmp_path / "run", 150, validated=False))
    assert data["claim"] is None
    assert data["best"] is None
    assert data["candidate"] == follower.front[0].id
    assert data["measured"] == {}


def test_reading_in_steps_and_out_of_order_comes_to_the_same(tmp_path):
    maker = Maker()
    judged = [maker.next() for _ in range(200)]
    with maker.start(tmp_path / "once") as store:
        store.add(judged)
        validate(store)
    with maker.start(tmp_path / "steps") as store, Run.open(tmp_path / "steps") as reader:
        follower = Follower(reader)
        for start in range(0, 200, 40):
            part = judged[start : start + 40]
            for patch, _, generation in part:
                store.reserve([patch], generation)
            for n in (1, 0):  # every other verdict is late
                store.add(part[n::2])
                assert follower.read()
                assert not follower.read()
        validate(store)
        assert follower.read()
        steps, logged = follower.summary(text_of), logs(follower)
    once, data = followed(tmp_path / "once")
    assert sorted(logged["points"]["id"]) == logs(once)["points"]["id"]
    assert {**steps, "examples": {}, "stages": {}} == {**data, "examples": {}, "stages": {}}


def test_news_of_machines_are_news(tmp_path):
    folder = make(tmp_path / "run", 60)
    with Run.open(folder) as reader, Store.open(folder) as store:
        follower = Follower(reader)
        follower.read()
        assert follower.summary(text_of)["nodes"] == []
        store.set("nodes", [NodeStatus(name="one", state="working", workers=2, evaluations=60)])
        assert follower.read()
        assert not follower.read()
        assert [node["name"] for node in follower.summary(text_of)["nodes"]] == ["one"]


def test_patches_of_points_can_be_read_back(folder):
    with Run.open(folder) as run:
        follower = Follower(run)
        follower.read()
        log = logs(follower)
        for id_, patch in zip(log["points"]["id"], log["points"]["patch"], strict=True):
            text = "; ".join(log["edits"][edit] for edit in patch)
            assert Patch.parse(text) == run.store.variant(id_).patch


def test_kinds_count_every_edit_once(folder):
    follower, data = followed(folder)
    with Store.open(folder, readonly=True) as store:
        edits = {edit for row in store.evaluations() for edit in row.patch}
        best = {*store.variant(int(data["best"][1:])).patch}
    assert sum(row["tried"] for row in data["kinds"]) == len(edits) == len(follower.edits)
    assert sum(row["best"] for row in data["kinds"]) == len(best)
    for row in data["kinds"]:
        assert row["best"] <= row["front"] <= row["tried"] >= row["worked"]


def test_takes_the_minimal_patch_apart(tmp_path):
    folder = make(tmp_path / "run", 400, explained=True)
    with Run.open(folder) as run:
        follower = Follower(run)
        follower.read()
        words = Describer(run)
        subject = take_apart(follower, words)
        claim = follower.summary(words)["claim"]
    assert (subject["id"], subject["role"], claim["id"]) == ("m1", "minimal", "m1")
    assert subject["minimized"]["after"] == len(subject["patch"]) == 6
    assert subject["sentences"][0] == "removes the barrier at pathfinder.cu:20"
    (source,) = subject["source"]
    assert source["name"] == "pathfinder.cu"
    assert any(edits for run in source["runs"] for _, _, edits in run)
    touched = {edit for hunk in subject["diff"]["hunks"] for row in hunk for edit in row[4] or ()}
    assert touched <= set(range(6))


def test_a_run_that_has_not_begun(tmp_path):
    with Maker().start(tmp_path / "run"):
        pass
    _, data = followed(tmp_path / "run")
    assert data["claim"] is data["candidate"] is None
    assert report(tmp_path / "run").is_file()


def test_a_run_whose_workload_is_gone(tmp_path):
    gone = {"place": str(tmp_path / "gone.py"), "name": "Gone"}
    folder = make(tmp_path / "run", 200, location=gone)
    page = report(folder).read_text()
    assert "gone.py" in page
    assert '"obstacle":"`gevolve show --cost`' in page


def test_command_repeats_the_run(folder):
    with Run.open(folder) as run:
        assert run.command == (
            "gevolve run tuned/pathfinder --device sim:a100 --seed 7 --evals 400 --population 32"
            " --tolerance 0.05"
        )


def test_mistakes(tmp_path):
    with pytest.raises(StoreError, match="no such folder"):
        report(tmp_path / "none")
    with pytest.raises(StoreError, match="choose another --output"):
        report(make(tmp_path / "run", 30), output=tmp_path / "none" / "report.html")


def test_front_of_equals_is_the_shortest():
    points = [(0.9, 0.0, 3, 1), (0.9, 0.0, 1, 2), (0.8, 0.1, 1, 3), (0.95, 0.0, 1, 4)]
    assert pareto(points, lambda point: point) == [(0.8, 0.1, 1, 3), (0.9, 0.0, 1, 2)]


def test_history_works_out_again_only_what_changed():
    history = History(0.1)
    for generation in range(5):
        history.add(generation, (1 - generation / 10, 0.0, 1, generation))
    assert history.steps()["best"] == [1.0, 0.9, 0.8, 0.7, 0.6]
    first = history._steps[0]
    history.add(3, (0.5, 0.0, 1, 9))
    assert history.steps()["best"] == [1.0, 0.9, 0.8, 0.5, 0.5]
    assert history._steps[0] is first
    history.drop(9)
    assert history.steps()["best"] == [1.0, 0.9, 0.8, 0.7, 0.6]


@pytest.mark.slow
def test_a_long_run_makes_a_small_page(tmp_path):
    folder = make(tmp_path / "run", 8_000, explained=True)
    page = report(folder)
    assert page.stat().st_size < 3_200_000
    with Run.open(folder) as run:
        follower = Follower(run)
        follower.read()
        kept = logs(follower)
    shown = set(follower.shown)
    points = dict(zip(kept["points"]["id"], kept["points"]["patch"], strict=True))
    assert all(points[id_] is not None for id_ in shown)


def test_a_store_with_wrong_order_is_refused(tmp_path):
    with Maker().start(tmp_path / "run") as store:
        store._database._connection.execute("DELETE FROM variant")
        store.add([(Patch.parse("delete i1 #1"), Evaluation(verdict=Verdict.CRASH), 0)])
        with pytest.raises(StoreError, match="before the unedited program"):
            Follower(Run(store)).read()
