"""What every evaluator must do, as a test suite: for authors of an evaluator.

Subclass it in a test file and say how yours is made; pytest does the rest::

    class TestMine(EvaluatorConformance):
        def make(self, spec, **options):
            return Mine(spec, **options)

Its workloads are those of `gevolve.testing.toy`, on a device that they bring along.
"""

import math
from typing import Any

import pytest

from gevolve.errors import CompileError, DeviceError, EvaluationError, WorkloadError
from gevolve.evaluate.evaluator import Evaluator
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.testing.toy import NEED_ISOLATION, VERDICTS
from gevolve.workload.base import SPLITS
from gevolve.workload.locate import Location


def toy(name: str = "Toy") -> Location:
    """A workload of `gevolve.testing.toy`."""
    return Location("gevolve.testing.toy", name)


def patch(kind: str, *args: object, seed: int = 1) -> Patch:
    """A patch of one edit."""
    return Patch.parse(" ".join([kind, *map(str, args), f"#{seed:x}"]))


class EvaluatorConformance:
    """The tests; a subclass defines `make`."""

    __test__ = False

    def __init_subclass__(cls) -> None:
        """Let pytest collect subclasses, unless one says `__test__ = False` as this class does."""
        cls.__test__ = cls.__dict__.get("__test__", True)

    def make(self, spec: Location, *, workers: int = 2, **options: Any) -> Evaluator:
        """An evaluator for a workload; the options are those of `gevolve.evaluate.pool.Pool`."""
        raise NotImplementedError

    def judge(self, *kinds: str, name: str = "Toy", **options: Any) -> list[Evaluation]:
        """The evaluations of some patches, in their order; one patch needs no second worker."""
        workers = min(2, len(kinds))
        with self.make(toy(name), device="toy", workers=workers, **options) as evaluator:
            for index, kind in enumerate(kinds):
                evaluator.submit(index, Patch.parse(kind))
            results: dict[Any, Evaluation] = dict(evaluator.results())
        assert sorted(results) == list(range(len(kinds)))
        return [results[index] for index in range(len(kinds))]

    # --- the baseline

    def test_baseline(self) -> None:
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

    def test_the_empty_patch_is_the_baseline(self) -> None:
        with self.make(toy(), device="toy", workers=1) as evaluator:
            baseline = evaluator.prepare().evaluation
            evaluator.submit("empty", Patch())
            [(_, evaluation)] = evaluator.results()
        assert _essence(evaluation) == _essence(baseline)

    def test_an_artefact_is_judged_in_place_of_the_patchs_own(self) -> None:
        workload = toy().build()
        text = workload.load().apply(patch("right", 7)).text
        artefact = workload.device("toy").build(text)
        with self.make(toy(), device="toy") as evaluator:
            evaluator.submit("built", patch("right", 7))
            evaluator.submit("given", Patch(), artefact=artefact)
            found: dict[Any, Evaluation] = dict(evaluator.results())
            assert evaluator.prepare().evaluation.time != found["given"].time
        assert _essence(found["given"]) == _essence(found["built"])

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("BadReference", "differs from its own reference (case 0 (Case(x=float32[70]))"),
            ("OddReference", "shape (70,) and reference() (69,)"),
            ("RaisingReference", "reference() fails on case 0 (crash: RuntimeError: no reference"),
            ("CrashingReference", "reference() fails on case 0 (crash: SIGABRT)"),
            ("Uninitialized", "reads memory that nothing has written"),
            ("NanOutput", "gives NaN in output 0 of case 0"),
            ("BadCase", "cannot make the search cases: ValueError"),
            ("NoCase", "no search case"),
            ("BadRun", "fails on case 0 (crash: AttributeError"),
            ("NoOutput", "must be an array of numbers, not NoneType"),
            ("Absent", "has no workload Absent"),
        ],
    )
    def test_unfit_workloads_are_refused(self, name: str, words: str) -> None:
        with (
            pytest.raises(WorkloadError) as caught,
            self.make(toy(name), device="toy", workers=1) as evaluator,
        ):
            evaluator.prepare()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_errors_keep_their_kind(self) -> None:
        with (
            pytest.raises(CompileError, match="expected expression\n"),
            self.make(toy("BadProgram"), device="toy", workers=1) as evaluator,
        ):
            evaluator.prepare()
        with (
            self.make(toy(), device="abacus", workers=1) as evaluator,
            pytest.raises(DeviceError, match="abacus"),
        ):
            evaluator.prepare()

    # --- verdicts

    def test_verdicts(self) -> None:
        given = self.judge(*(f"{kind} #1" for kind in VERDICTS))
        assert dict(zip(VERDICTS, map(_word, given), strict=True)) == VERDICTS
        for evaluation in given:
            assert (evaluation.time is not None) == (evaluation.error is not None) == evaluation.ok
            assert evaluation.ok == (evaluation.detail == "")
            assert "\n" not in evaluation.detail

    def test_details_name_the_cause(self) -> None:
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

    def test_deadline(self) -> None:
        kinds = ("sleeps #1", "right 3 #1", "stops #1")
        given = self.judge(*kinds, patience=0.3)
        assert [_word(evaluation) for evaluation in given] == ["timeout", "ok", "timeout"]

    def test_tolerance(self) -> None:
        [near] = self.judge("near #1")
        assert near.verdict is Verdict.WRONG
        near, right = self.judge("near #1", "right 3 #1", tolerance=0.01)
        assert (near.verdict, near.inexact) == (Verdict.OK, True)
        assert (right.verdict, right.inexact) == (Verdict.OK, False)
        assert near.error is not None
        assert math.isclose(near.error, 0.001, rel_tol=0.1)

    def test_references(self) -> None:
        given = self.judge("right 5 #1", "wrong #1", name="Referred")
        assert [_word(evaluation) for evaluation in given] == ["ok", "wrong"]
        given = self.judge("right 5 #1", "nan #1", "wrong #1", name="NanReference")
        assert [_word(evaluation) for evaluation in given] == ["ok", "nonfinite", "wrong"]

    def test_judges_that_fail(self) -> None:
        for name, word in [("RaisingJudge", "crash"), ("NanJudge", "wrong")]:
            given = self.judge("magic #1", "right 1 #1", name=name)
            assert [_word(evaluation) for evaluation in given] == [word, "ok"]

    def test_splits_are_judged_apart(self) -> None:
        with self.make(toy(), device="toy") as evaluator:
            for split in SPLITS[:3]:
                evaluator.submit(split, patch("right", 7), split)
            results: dict[Any, Evaluation] = dict(evaluator.results())
            for split, evaluation in results.items():
                baseline = evaluator.prepare(split)
                assert baseline.evaluation.time is not None
                assert evaluation.time == baseline.evaluation.time - 7 * len(baseline.cases)

    # --- artefacts

    def test_identical_artefacts_are_judged_alike(self) -> None:
        given = self.judge(
            "right 4 #1", "skip a #2; right 4 #7", "skip a #2; right 4 #7; skip b #2"
        )
        assert [evaluation.skipped for evaluation in given] == [0, 1, 2]
        assert len({_essence(evaluation) for evaluation in given}) == 1

    def test_what_is_known_is_not_run_again(self) -> None:
        [fresh] = self.judge("right 4 #1")
        told = Evaluation(verdict=Verdict.OK, time=1.5, error=0.25, artefact=fresh.artefact)
        [known] = self.judge("skip a #1; right 4 #2", known=[("search", told)])
        assert (known.time, known.error, known.skipped) == (1.5, 0.25, 1)
        assert "run" not in known.seconds
        [other] = self.judge("right 4 #2", known=[("held-out", told)])
        assert _essence(other) == _essence(fresh)

    def test_a_missed_deadline_is_not_remembered(self) -> None:
        given = self.judge("sleeps #1", "sleeps #2", patience=0.2)
        assert [_word(evaluation) for evaluation in given] == ["timeout", "timeout"]
        assert all(evaluation.seconds["total"] > 0.1 for evaluation in given)

    @pytest.mark.parametrize("name", ["Chance", "Reused"])
    def test_devices_of_chance_are_timed_alternately(self, name: str) -> None:
        with self.make(toy(name), device="toy", workers=1) as evaluator:
            assert evaluator.prepare().evaluation.time == 1.0
            assert not evaluator.prepare().deterministic
            evaluator.submit(0, patch("right", 100))
            [(_, faster)] = evaluator.results()
        assert faster.time is not None
        assert math.isclose(faster.time, 1 - 200 / (2000 + 70 + 72), rel_tol=1e-3)

    @pytest.mark.parametrize("name", ["Chance", "Reused"])
    def test_devices_of_chance_measure_again_what_is_reported(self, name: str) -> None:
        [fresh] = self.judge("right 4 #1", name=name)
        told = Evaluation(verdict=Verdict.OK, time=1.5, error=0.0, artefact=fresh.artefact)
        [known] = self.judge("right 4 #1", name=name, known=[("search", told)])
        assert known.time == 1.5
        with self.make(toy(name), device="toy", workers=1, known=[("held-out", told)]) as evaluator:
            evaluator.submit(0, patch("right", 4), "held-out")
            [(_, again)] = evaluator.results()
        assert again.time is not None
        assert again.time < 1

    # --- children that are reused

    def test_reused_children_give_the_same_verdicts(self) -> None:
        kinds = [kind for kind in VERDICTS if kind not in NEED_ISOLATION]
        given = self.judge(*(f"{kind} #1" for kind in kinds), name="Reused")
        want = {kind: VERDICTS[kind] for kind in kinds}
        assert dict(zip(kinds, map(_word, given), strict=True)) == want

    def test_a_reused_child_outlives_what_fails_and_is_replaced_when_it_dies(self) -> None:
        kinds = ["pid", "wrong", "pid", "raises", "pid", "poisons", "pid", "segv", "pid", "sleeps"]
        with self.make(toy("Reused"), device="toy", workers=1, patience=0.5) as evaluator:
            for number, kind in enumerate([*kinds, "pid"]):
                evaluator.submit(number, patch(kind, number))
            results: dict[Any, Evaluation] = dict(evaluator.results())
        assert [_word(results[n]) for n in range(1, 10, 2)] == [
            *("wrong", "crash", "crash", "crash", "timeout"),
        ]
        pids = [results[n].fingerprint.split()[0] for n in range(0, 11, 2)]
        assert pids[0] == pids[1] == pids[2]
        assert len(set(pids)) == 4

    def test_what_others_left_behind_in_a_child_is_not_held_against_a_variant(self) -> None:
        with self.make(toy("Reused"), device="toy", workers=1) as evaluator:
            for number, kind in enumerate(["mines", "treads", "segv", "right"]):
                evaluator.submit(number, patch(kind, number))
            results: dict[Any, Evaluation] = dict(evaluator.results())
        assert [_word(results[n]) for n in range(4)] == ["ok", "ok", "crash", "ok"]

    def test_what_a_device_makes_alike_runs_once(self) -> None:
        with self.make(toy("Reused"), device="toy", workers=1) as evaluator:
            for number in range(3):
                evaluator.submit(number, patch("alike", number))
            results: dict[Any, Evaluation] = dict(evaluator.results())
        assert len({results[n].artefact for n in results}) == 3
        assert len({results[n].time for n in results}) == 1
        assert "run" in results[0].seconds
        assert "run" not in results[2].seconds

    # --- use

    def test_more_may_be_submitted_between_results(self) -> None:
        with self.make(toy(), device="toy", workers=1) as evaluator:
            evaluator.submit(0, patch("right", 0))
            seen: list[int] = []
            for key, _ in evaluator.results():
                assert isinstance(key, int)
                seen.append(key)
                if key < 5:
                    evaluator.submit(key + 1, patch("right", key + 1))
            assert seen == [0, 1, 2, 3, 4, 5]
            assert list(evaluator.results()) == []

    def test_any_hashable_is_a_key(self) -> None:
        with self.make(toy(), device="toy") as evaluator:
            for key in ("a", 1, ("b", 2), None):
                evaluator.submit(key, Patch())
            assert {key for key, _ in evaluator.results()} == {"a", 1, ("b", 2), None}

    def test_closed_is_closed(self) -> None:
        evaluator = self.make(toy(), device="toy", workers=1)
        evaluator.submit(0, patch("sleeps"))
        evaluator.close()
        evaluator.close()
        with pytest.raises(EvaluationError, match="closed"):
            evaluator.prepare()
        with pytest.raises(EvaluationError, match="closed"):
            evaluator.submit(0, Patch())

    def test_stages_are_timed(self) -> None:
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


def _essence(evaluation: Evaluation) -> tuple[object, ...]:
    return (evaluation.verdict, evaluation.time, evaluation.error, evaluation.artefact)
