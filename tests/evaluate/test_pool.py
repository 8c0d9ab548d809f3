import os
import random
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from gevolve.errors import EvaluationError, OptionError, WorkloadError
from gevolve.evaluate import pool
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.testing.evaluators import EvaluatorConformance, patch, toy
from gevolve.testing.toy import MEMORY, SLOW, VERDICTS
from tests import ROOT
from tests.evaluate.processes import all_gone, children_of, parent_of, wait_for, workers_of


class TestPool(EvaluatorConformance):
    """With two workers, so that the order of results is left to chance."""

    def make(self, spec, *, workers=2, **options):
        return Pool(spec, workers=workers, **options)


@pytest.fixture(autouse=True)
def no_orphans():
    yield
    assert all_gone(), f"left behind: {workers_of(os.getpid())}"


MANY = 10 if os.environ.get("GEVOLVE_EXPLORE") else 2
"""How many variants are judged, in hundreds."""


@pytest.mark.slow
def test_many_variants_of_which_three_in_ten_are_hostile():
    hostile = [kind for kind, word in VERDICTS.items() if word in ("crash", "memory", "fuel")]
    expected = dict(VERDICTS) | dict.fromkeys(MEMORY, "memory") | dict.fromkeys(SLOW, "timeout")
    expected["closes"] = "crash"
    bad = [*MEMORY, *SLOW, "closes"] + hostile * 2 * MANY
    assert set(bad[: 30 * MANY]) == set(bad), "all kinds are among them"
    kinds = bad[: 30 * MANY] + ["right"] * 40 * MANY + ["wrong"] * 15 * MANY
    kinds += ["neutral"] * 5 * MANY + ["strays", "escapes"] * 5 * MANY
    random.Random(1).shuffle(kinds)
    # What takes its memory bit by bit needs some seconds for that on a busy machine.
    with Pool(toy(), device="toy", workers=2, patience=6.0) as evaluator:
        deadline = evaluator.prepare().deadline
        for number, kind in enumerate(kinds):
            evaluator.submit(number, patch(kind, number))
        results = dict(evaluator.results())
    assert len(results) == 100 * MANY
    told = {n: (kinds[n], results[n].verdict.value) for n in results}
    assert {n: t for n, t in told.items() if expected[t[0]] != t[1]} == {}
    slowest = max(evaluation.seconds["total"] for evaluation in results.values())
    print(
        f"deadline {deadline:.3f} s, slowest {slowest:.3f} s", Counter(w for _, w in told.values())
    )


def test_variants_that_end_their_worker_are_tried_again_and_then_judged():
    with Pool(toy(), device="toy", workers=2) as evaluator:
        for number in range(12):
            evaluator.submit(number, patch("hunts" if number % 4 == 1 else "right", number))
        results = dict(evaluator.results())
    for number, evaluation in results.items():
        assert evaluation.verdict is (Verdict.CRASH if number % 4 == 1 else Verdict.OK)
    assert results[1].detail.startswith("PermissionError") or "SIGKILL" in results[1].detail


@pytest.mark.parametrize(
    ("name", "verdict"), [("FragileJudge", Verdict.CRASH), ("HangingJudge", Verdict.TIMEOUT)]
)
def test_judges_that_take_the_worker_down(name, verdict):
    with Pool(toy(name), device="toy", workers=2, patience=0.3) as evaluator:
        for number in range(6):
            evaluator.submit(number, patch("magic" if number == 2 else "right", number))
        results = dict(evaluator.results())
    assert [n for n, evaluation in results.items() if not evaluation.ok] == [2]
    assert results[2].verdict is verdict


def test_killed_workers_are_replaced_and_nothing_is_lost():
    rng = random.Random(2)
    with Pool(toy(), device="toy", workers=2) as evaluator:
        reference = {}
        for number in range(60):
            evaluator.submit(number, patch("right", number))
        for count, (number, evaluation) in enumerate(evaluator.results()):
            reference[number] = evaluation
            if count in (10, 25, 40):  # a different kind of process each time
                os.kill(rng.choice(workers_of(os.getpid())), 9)
    assert len(reference) == 60
    for number, evaluation in reference.items():
        assert evaluation.time == 2000 + 70 + 72 - 2 * number


def test_a_variant_whose_child_is_killed_is_tried_again():
    with Pool(toy("Brief"), device="toy") as evaluator:
        evaluator.prepare()
        evaluator.submit(0, patch("right", 1))
        evaluator.submit(1, patch("right", 2))

        assert wait_for(lambda: children_of(os.getpid()))
        os.kill(children_of(os.getpid())[0], 9)
        results = dict(evaluator.results())
    assert results[0].ok
    assert results[1].ok


def test_a_variant_whose_process_is_always_killed_is_out_of_memory():
    with Pool(toy(), device="toy") as evaluator:
        evaluator.submit(0, patch("slain", 1))
        [(_, evaluation)] = evaluator.results()
    assert evaluation.verdict is Verdict.MEMORY
    assert "SIGKILL, which gevolve did not send" in evaluation.detail
    assert not evaluation.reusable


def test_a_stopped_child_is_woken():
    with Pool(toy("Brief"), device="toy", patience=0.6) as evaluator:
        evaluator.prepare()
        evaluator.submit(0, patch("right", 1))
        assert wait_for(lambda: children_of(os.getpid()))
        os.kill(children_of(os.getpid())[0], 19)
        [(_, evaluation)] = evaluator.results()
    assert evaluation.ok


def test_a_stopped_worker_is_replaced():
    with Pool(toy(), device="toy", patience=0.3) as evaluator:
        evaluator.prepare()
        [worker] = workers_of(os.getpid())
        os.kill(worker, 19)
        evaluator.submit(0, patch("right", 1))
        [(_, evaluation)] = evaluator.results()
    assert evaluation.ok


def test_an_idle_worker_may_be_killed():
    with Pool(toy(), device="toy") as evaluator:
        evaluator.prepare()
        os.kill(workers_of(os.getpid())[0], 9)
        evaluator.submit(0, patch("right", 1))
        [(_, evaluation)] = evaluator.results()
    assert evaluation.ok


def test_workers_that_never_get_ready(monkeypatch):
    monkeypatch.setattr(pool, "KILLS", 3)
    with (
        Pool(toy("DyingWorker"), device="toy", workers=2) as evaluator,
        pytest.raises(
            EvaluationError, match=r"killed before they are ready: SIGKILL, which gevolve"
        ),
    ):
        evaluator.prepare()


def test_workers_that_cannot_start(tmp_path, monkeypatch):
    (tmp_path / "msgspec.py").write_text("raise ImportError('msgspec is broken here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with (
        Pool(toy(), device="toy", workers=2) as evaluator,
        pytest.raises(EvaluationError, match="ImportError: msgspec is broken here"),
    ):
        evaluator.prepare()


def test_workers_that_disagree():
    with Pool(toy("Disagreeing"), device="toy", workers=2) as evaluator:
        evaluator.prepare()
        for number in range(50):
            evaluator.submit(number, patch("right", number))
        with pytest.raises(EvaluationError, match="two workers disagree"):
            list(evaluator.results())


def test_more_news_than_a_socket_holds():
    known = [
        ("search", Evaluation(verdict=Verdict.WRONG, detail="x" * 200, artefact=f"{n:064x}"))
        for n in range(20_000)
    ]
    with Pool(toy(), device="toy", workers=2, known=known) as evaluator:
        for number in range(8):
            evaluator.submit(number, patch("right", number))
        assert all(evaluation.ok for _, evaluation in evaluator.results())


def test_what_one_worker_learns_the_others_are_told():
    with Pool(toy(), device="toy", workers=2) as evaluator:
        for number in range(200):
            evaluator.submit(number, patch("right", number % 10, seed=number))
        results = dict(evaluator.results())
    ran = sum("run" in evaluation.seconds for evaluation in results.values())
    assert ran <= 10 * 2 + 4  # at most once in each worker, and those in reserve
    for number, evaluation in results.items():
        assert evaluation.time == 2000 + 70 + 72 - 2 * (number % 10)


def test_nothing_reaches_the_terminal(capfd):
    with Pool(toy(), device="toy") as evaluator:
        for kind in ("prints", "aborts", "build-abort", "raises", "exits", "segv"):
            evaluator.submit(kind, patch(kind))
        assert len(list(evaluator.results())) == 6
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["strays-and-sleeps", "ignores", "loops-in-c"])
def test_all_go_when_the_main_process_is_killed(kind):
    script = textwrap.dedent(f"""
        from gevolve.testing.evaluators import patch, toy
        from gevolve.evaluate.pool import Pool
        evaluator = Pool(toy(), device="toy", workers=2, patience=60)
        evaluator.prepare()
        for number in range(4):
            evaluator.submit(number, patch({kind!r}, number))
        print("ready", flush=True)
        list(evaluator.results())
    """)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == "ready\n"
        busy = 2 + 2 * (1 if kind != "strays-and-sleeps" else 5)
        assert wait_for(lambda: len(workers_of(main.pid)) >= busy)
        main.kill()
    assert all_gone(main.pid), f"left behind: {workers_of(main.pid)}"


def test_all_go_when_everything_is_stopped_and_the_main_process_killed():
    script = textwrap.dedent("""
        from gevolve.testing.evaluators import patch, toy
        from gevolve.evaluate.pool import Pool
        evaluator = Pool(toy(), device="toy", patience=60)
        evaluator.prepare()
        evaluator.submit(0, patch("sleeps", 0))
        print("ready", flush=True)
        list(evaluator.results())
    """)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == "ready\n"
        assert wait_for(lambda: children_of(main.pid))
        os.kill(main.pid, 19)  # so that it wakes nobody
        [worker] = set(workers_of(main.pid)) - set(children_of(main.pid))
        guard = parent_of(worker)
        for pid in (guard, *workers_of(main.pid)):
            os.kill(pid, 19)
        main.kill()
    assert all_gone(main.pid), f"left behind: {workers_of(main.pid)}"
    assert wait_for(lambda: not Path(f"/proc/{guard}").exists())


def test_an_interrupt_reaches_the_main_process_only():
    script = textwrap.dedent("""
        import sys
        from gevolve.testing.evaluators import patch, toy
        from gevolve.evaluate.pool import Pool
        with Pool(toy("Brief"), device="toy", workers=2) as evaluator:
            evaluator.prepare()
            for number in range(1000):
                evaluator.submit(number, patch("right", number))
            try:
                print("ready", flush=True)
                list(evaluator.results())
            except KeyboardInterrupt:
                sys.exit(7)
    """)
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
        start_new_session=True,
    ) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == "ready\n"
        os.killpg(main.pid, signal.SIGINT)
        assert main.wait(120) == 7
    assert all_gone(main.pid)


def test_a_file_that_searches_when_imported_is_refused(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(
        "from gevolve.evaluate.pool import Pool\n"
        "from gevolve.testing.toy import Toy\n"
        "class Mine(Toy): pass\n"
        "Pool(Mine(), device='toy')\n"
    )
    script = f"""
from gevolve.evaluate.pool import Pool
from gevolve.workload.locate import Location
with Pool(Location({str(file)!r}, "Mine"), device="toy") as evaluator:
    evaluator.prepare()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, cwd=ROOT, text=True, check=False
    )
    assert "WorkloadError: the workload's file starts a search when it is imported" in done.stderr


def test_no_worker_is_no_evaluator():
    with pytest.raises(OptionError, match="0 workers"):
        Pool(toy(), device="toy", workers=0)


def test_a_workload_that_is_in_no_file():
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec(
        "from gevolve.workload.kernel import KernelWorkload\nclass Mine(KernelWorkload): pass",
        namespace,
    )
    with pytest.raises(WorkloadError, match="Python file"):
        Pool(namespace["Mine"]())  # type: ignore[operator]


def test_patches_arrive_as_they_were_sent():
    with Pool(toy(), device="toy") as evaluator:
        evaluator.submit("a", Patch.parse("right 1 #1; skip x y #ff; right 2 #2"))
        [(_, evaluation)] = evaluator.results()
    assert (evaluation.skipped, evaluation.time) == (1, 2142 - 2 * 3)
