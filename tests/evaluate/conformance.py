"""What any evaluator must do; subclass it and say how to make yours.

class TestMine(EvaluatorConformance):
    def make(self, spec, **options): return Mine(spec, **options)
"""

import math

import pytest

from gevolve.errors import CompileError, DeviceError, EvaluationError, WorkloadError
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.workload.locate import Spec

TOY = __file__.replace("conformance.py", "toy.py")

VERDICTS = {
    "right": "ok",
    "neutral": "ok",
    "prints": "ok",
    "strays": "ok",
    "escapes": "ok",
    "invalid": "invalid",
    "uncompilable": "compile",
    "build-abort": "compile",
    "unrunnable": "compile",
    "confuses": "crash",
    "bewilders": "crash",
    "wrong": "wrong",
    "wrong-on-large": "wrong",
    "shape": "wrong",
    "dtype": "wrong",
    "more": "wrong",
    "huge": "wrong",
    "nan": "nonfinite",
    "inf": "nonfinite",
    "writes": "inputs-changed",
    "poisoned": "flaky",
    "burns": "fuel",
    "hoards": "memory",
    "gulps": "memory",
    "nothing": "crash",
    "no-time": "crash",
    "traps": "crash",
    "raises": "crash",
    "exits": "crash",
    "leaves": "crash",
    "segv": "crash",
    "aborts": "crash",
    "fpe": "crash",
    "overflow": "crash",
    "scribble": "crash",
    "stamps": "crash",
    "garbles": "crash",
    "shouts": "crash",
    "lies": "crash",
    "nests": "crash",
    "floods": "crash",
    "magic": "wrong",
}
"""The verdict on each kind of edit of the toy program."""
BOUND_TO_FORKS = ("scribble", "stamps", "strays", "escapes")
"""Kinds that ruin their process or leave others behind, which nothing but its end makes good."""
MEMORY = ("allocates", "nibbles")
"""Kinds that take a while to reach the limit on memory."""
SLOW = ("loops", "loops-in-c", "sleeps", "ignores", "stops", "threads", "strays-and-sleeps")
SLOW += ("chatters", "drips")
"""Kinds that only the deadline ends."""


def toy(name: str = "Toy") -> Spec:
    return Spec(TOY, name)


def patch(kind: str, *args: object, seed: int = 1) -> Patch:
    return Patch.parse(" ".join([kind, *map(str, args), f"#{seed:x}"]))


class EvaluatorConformance:
    def make(self, spec, *, workers=2, **options):
        raise NotImplementedError

    def judge(self, *kinds: str, name: str = "Toy", **options) -> list[Evaluation]:
        with self.make(toy(name), device="toy", **options) as evaluator:
            for index, kind in enumerate(kinds):
                evaluator.submit(index, Patch.parse(kind))
            results = dict(evaluator.results())
        assert sorted(results) == list(range(len(kinds)))
        return [results[index] for index in range(len(kinds))]

    # --- the baseline

    def test_baseline(self):
        with self.make(toy(), device="toy") as evaluator:
            search = evaluator.prepare()
            held_out = evaluator.prepare("held-out")
            assert evaluator.prepare() == search
        assert search.evaluation.ok
        assert search.evaluation.error == 0
        assert search.profile == {"b0": 1.0, "b1": 70.0}
        assert search.cases == ("Case(x=float32[70])", "Case(x=float32[72])")
        assert search.evaluation.time == 2000 + 70 + 72
        assert search.deterministic
        assert (held_out.split, held_out.profile) == ("held-out", {})
        assert held_out.program == search.program

    def test_the_empty_patch_is_the_baseline(self):
        with self.make(toy(), device="toy") as evaluator:
            baseline = evaluator.prepare().evaluation
            evaluator.submit("empty", Patch())
            [(_, evaluation)] = evaluator.results()
        assert _essence(evaluation) == _essence(baseline)

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("BadReference", "differs from its own reference (case 0 (Case(x=float32[70]))"),
            ("OddReference", "shape (70,) and reference() (69,)"),
            ("RaisingReference", "reference() fails on case 0 (crash: RuntimeError: no reference"),
            ("CrashingReference", "reference() fails on case 0 (crash: SIGABRT)"),
            ("Uninitialised", "reads memory that nothing has written"),
            ("NanOutput", "gives NaN in output 0 of case 0"),
            ("BadCase", "cannot make the search cases: ValueError"),
            ("NoCase", "no search case"),
            ("BadRun", "fails on case 0 (crash: AttributeError"),
            ("NoOutput", "must be an array of numbers, not NoneType"),
            ("Absent", "has no workload Absent"),
        ],
    )
    def test_unfit_workloads_are_refused(self, name, words):
        with (
            pytest.raises(WorkloadError) as caught,
            self.make(toy(name), device="toy", workers=1) as evaluator,
        ):
            evaluator.prepare()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_errors_keep_their_kind(self):
        with (
            pytest.raises(CompileError, match="expected expression\n"),
            self.make(toy("BadProgram"), device="toy") as evaluator,
        ):
            evaluator.prepare()
        with (
            self.make(toy(), device="abacus") as evaluator,
            pytest.raises(DeviceError, match="abacus"),
        ):
            evaluator.prepare()

    # --- verdicts

    def test_verdicts(self):
        given = self.judge(*(f"{kind} #1" for kind in VERDICTS))
        assert dict(zip(VERDICTS, map(_word, given), strict=True)) == VERDICTS
        for evaluation in given:
            assert (evaluation.time is not None) == (evaluation.error is not None) == evaluation.ok
            assert evaluation.ok == (evaluation.detail == "")
            assert "\n" not in evaluation.detail

    def test_details_name_the_cause(self):
        given = self.judge(
            "segv #1", "build-abort #1", "raises #1", "nan #1", "shape #1", "dtype #1"
        )
        details = [evaluation.detail for evaluation in given]
        assert details[0] == "SIGSEGV"
        assert details[1] == "SIGABRT: LLVM ERROR: Cannot select: t7"
        assert details[2].startswith("ValueError: no such (toy.py:")
        assert details[3] == "case 0: output 0 is nan at [3] where the reference is finite"
        assert details[4] == "case 0: output 0 is <f4[69], not <f4[70]"
        assert details[5] == "case 0: output 0 is <f8[70], not <f4[70]"

    def test_deadline(self):
        kinds = ("sleeps #1", "right 3 #1", "stops #1")
        given = self.judge(*kinds, patience=0.3)
        assert [_word(evaluation) for evaluation in given] == ["timeout", "ok", "timeout"]

    def test_tolerance(self):
        [near] = self.judge("near #1")
        assert near.verdict is Verdict.WRONG
        [near] = self.judge("near #1", tolerance=0.01)
        assert near.ok
        assert near.error is not None
        assert math.isclose(near.error, 0.001, rel_tol=0.1)

    def test_references(self):
        given = self.judge("right 5 #1", "wrong #1", name="Referred")
        assert [_word(evaluation) for evaluation in given] == ["ok", "wrong"]
        given = self.judge("right 5 #1", "nan #1", "wrong #1", name="NanReference")
        assert [_word(evaluation) for evaluation in given] == ["ok", "nonfinite", "wrong"]

    def test_judges_that_fail(self):
        for name, word in [("RaisingJudge", "crash"), ("NanJudge", "wrong")]:
            given = self.judge("magic #1", "right 1 #1", name=name)
            assert [_word(evaluation) for evaluation in given] == [word, "ok"]

    def test_splits_are_judged_apart(self):
        with self.make(toy(), device="toy") as evaluator:
            for split in ("search", "held-out", "large"):
                evaluator.submit(split, patch("right", 7), split)
            times = {key: evaluation.time for key, evaluation in evaluator.results()}
            for split, time in times.items():
                baseline = evaluator.prepare(split)
                assert time == baseline.evaluation.time - 7 * len(baseline.cases)

    # --- artefacts

    def test_identical_artefacts_are_judged_alike(self):
        given = self.judge(
            "right 4 #1", "skip a #2; right 4 #7", "skip a #2; right 4 #7; skip b #2"
        )
        assert [evaluation.skipped for evaluation in given] == [0, 1, 2]
        assert len({_essence(evaluation) for evaluation in given}) == 1

    def test_what_is_known_is_not_run_again(self):
        [fresh] = self.judge("right 4 #1")
        told = Evaluation(verdict=Verdict.OK, time=1.5, error=0.25, artefact=fresh.artefact)
        [known] = self.judge("skip a #1; right 4 #2", known=[("search", told)])
        assert (known.time, known.error, known.skipped) == (1.5, 0.25, 1)
        assert "run" not in known.seconds
        [other] = self.judge("right 4 #2", known=[("held-out", told)])
        assert _essence(other) == _essence(fresh)

    def test_a_missed_deadline_is_not_remembered(self):
        given = self.judge("sleeps #1", "sleeps #2", patience=0.2)
        assert [_word(evaluation) for evaluation in given] == ["timeout", "timeout"]
        assert all(evaluation.seconds["total"] > 0.1 for evaluation in given)

    @pytest.mark.parametrize("name", ["Chance", "Lasting"])
    def test_devices_of_chance_measure_in_turns(self, name):
        with self.make(toy(name), device="toy") as evaluator:
            assert evaluator.prepare().evaluation.time == 1.0
            assert not evaluator.prepare().deterministic
            evaluator.submit(0, patch("right", 100))
            [(_, faster)] = evaluator.results()
        assert faster.ok
        assert math.isclose(faster.time, 1 - 200 / (2000 + 70 + 72), rel_tol=1e-3)

    @pytest.mark.parametrize("name", ["Chance", "Lasting"])
    def test_devices_of_chance_measure_again_what_is_reported(self, name):
        [fresh] = self.judge("right 4 #1", name=name)
        told = Evaluation(verdict=Verdict.OK, time=1.5, error=0.0, artefact=fresh.artefact)
        [known] = self.judge("right 4 #1", name=name, known=[("search", told)])
        assert known.time == 1.5
        with self.make(toy(name), device="toy", known=[("held-out", told)]) as evaluator:
            evaluator.submit(0, patch("right", 4), "held-out")
            [(_, again)] = evaluator.results()
        assert again.time < 1

    # --- children that last

    def test_children_that_last_give_the_same_verdicts(self):
        kinds = [kind for kind in VERDICTS if kind not in BOUND_TO_FORKS]
        given = self.judge(*(f"{kind} #1" for kind in kinds), name="Lasting")
        want = {kind: VERDICTS[kind] for kind in kinds}
        assert dict(zip(kinds, map(_word, given), strict=True)) == want

    def test_a_lasting_child_outlives_what_fails_and_is_replaced_when_it_dies(self):
        kinds = ["pid", "wrong", "pid", "raises", "pid", "poisons", "pid", "segv", "pid", "sleeps"]
        with self.make(toy("Lasting"), device="toy", workers=1, patience=0.5) as evaluator:
            for number, kind in enumerate([*kinds, "pid"]):
                evaluator.submit(number, patch(kind, number))
            results = dict(evaluator.results())
        assert [_word(results[n]) for n in range(1, 10, 2)] == [
            *("wrong", "crash", "crash", "crash", "timeout"),
        ]
        pids = [results[n].fingerprint.split()[0] for n in range(0, 11, 2)]
        assert pids[0] == pids[1] == pids[2]
        assert len(set(pids)) == 4

    def test_what_a_device_makes_alike_runs_once(self):
        with self.make(toy("Lasting"), device="toy", workers=1) as evaluator:
            for number in range(3):
                evaluator.submit(number, patch("alike", number))
            results = dict(evaluator.results())
        assert len({results[n].artefact for n in results}) == 3
        assert len({results[n].time for n in results}) == 1
        assert "run" in results[0].seconds
        assert "run" not in results[2].seconds

    # --- use

    def test_more_may_be_submitted_between_results(self):
        with self.make(toy(), device="toy") as evaluator:
            evaluator.submit(0, patch("right", 0))
            seen = []
            for key, _ in evaluator.results():
                seen.append(key)
                if key < 5:
                    evaluator.submit(key + 1, patch("right", key + 1))
            assert seen == [0, 1, 2, 3, 4, 5]
            assert list(evaluator.results()) == []

    def test_any_hashable_is_a_key(self):
        with self.make(toy(), device="toy") as evaluator:
            for key in ("a", 1, ("b", 2), None):
                evaluator.submit(key, Patch())
            assert {key for key, _ in evaluator.results()} == {"a", 1, ("b", 2), None}

    def test_closed_is_closed(self):
        evaluator = self.make(toy(), device="toy")
        evaluator.submit(0, patch("sleeps"))
        evaluator.close()
        evaluator.close()
        with pytest.raises(EvaluationError, match="closed"):
            evaluator.prepare()
        with pytest.raises(EvaluationError, match="closed"):
            evaluator.submit(0, Patch())

    def test_stages_are_timed(self):
        [evaluation] = self.judge("right 9 #1")
        stages = evaluation.seconds
        assert stages.keys() == {
            *(
                "fork",
                "apply",
                "verify",
                "build",
                "compile",
                "open",
                "run",
                "judge",
                "end",
                "total",
            ),
        }
        assert all(value >= 0 for value in stages.values())


def _word(evaluation: Evaluation) -> str:
    return evaluation.verdict.value


def _essence(evaluation: Evaluation):
    return (evaluation.verdict, evaluation.time, evaluation.error, evaluation.artefact)
