"""Judges variants on the cases of one split.

`Trial` runs the unedited program first (`baseline`), which gives the expected outputs, the limits and
the deadline. `Trial.evaluate` then takes one patch from the IR to a verdict: apply it, verify and
build the variant, run it in a child, and compare what comes out.
"""

import gc
import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.child.process import FAILURES, Child, ChildEndedError, ChildFailedError
from gevolve.evaluate.child.runner import persist
from gevolve.evaluate.protocol import Baseline, CaseRun, Prepared, Ran, Timed
from gevolve.evaluate.stopwatch import Stopwatch
from gevolve.evaluate.verdict import KILLS, Evaluation, Verdict, backoff
from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.baseline import BaselineRun
from gevolve.evaluate.worker.build import build, rehearse
from gevolve.evaluate.worker.growing import Growing, unedited_errors
from gevolve.evaluate.worker.plan import runs
from gevolve.evaluate.worker.unedited import (
    check_verdict,
    digest_of,
    follows,
    profile_of,
    runner_for,
    warnings_of,
)
from gevolve.patch import Patch
from gevolve.workload.base import Array, Split

_UNTIMED: tuple[Split, ...] = ("unseen", "varied")
"""Splits that only say whether a variant is right."""
_SETUP = 600.0
"""Seconds that the unedited program, or the reference, may take over all cases of a split that the search does not use."""


class UnwellError(Exception):
    """No process of this worker lives long enough to run anything: another worker must judge what it had to."""


class Trial:
    """A workload on one split, ready to judge variants."""

    def __init__(
        self,
        problem: Problem,
        split: Split,
        *,
        tolerance: float | None,
        patience: float,
        main: int | None = None,
        assumptions: Sequence[str] = (),
    ) -> None:
        self._problem = problem
        self._main = main
        self._asked: list[str] = []
        workload, device = problem.workload, problem.device
        self._deadline = device.setup if split == "search" else _SETUP
        artefact = self._plain = device.build(problem.program.text)
        self._runner = runner_for(problem, split, artefact, main)
        baseline = BaselineRun(problem, self._runner, seconds=self._deadline, main=main)
        self._unedited = baseline.learn(artefact, split)
        self._expected = self._unedited.expected
        self._plan = runs(problem, split, self._unedited)
        parted = any(run.parts for run in self._plan)
        self._by_part = unedited_errors(problem, self._unedited) if parted else []
        if split in _UNTIMED:
            self._plan = [msgspec.structs.replace(run, timed=False) for run in self._plan]
        gc.collect()
        gc.freeze()  # so that no collection in a child walks, and so copies, what it inherits
        self._allowed = workload.tolerance if tolerance is None else tolerance
        self._follows = follows(problem, self._unedited) if split == "varied" else None
        rounding = self._unedited.meter.rounding
        # The strictest, until the error is known.
        self._tolerance = max(rounding, workload.bound(math.inf, 0.0))
        self._notes = [f" ({case!r})" for case in problem.cases]
        self._par, self._own = math.inf, 0.0
        unedited = self.evaluate(Patch(), {})
        check_verdict(problem, unedited, artefact)
        repeats = device.deterministic or self._unedited.modelled
        if not repeats:
            unedited = msgspec.structs.replace(unedited, time=1.0)  # times are relative to its own
        self._own = unedited.time or 0.0
        if split == "search" and unedited.time is not None:
            self._par = unedited.time
        profile: dict[str, float] = {}
        if split == "search":
            profile = profile_of(problem, self._unedited, self._runner, self._deadline, main)
        # Measured in the second run, when whatever a device prepares once has been prepared.
        patient = 30 if device.deterministic else 5
        self._deadline = max(patience, patient * unedited.seconds["total"])
        if split == "search":  # elsewhere a failure is rare, and its detail describes the input
            self._notes = [""] * len(problem.cases)
        self._tolerance = max(rounding, workload.bound(unedited.error or 0.0, self._allowed))
        self.baseline = Baseline(
            split=split,
            evaluation=unedited,
            profile=profile,
            cases=tuple(map(repr, problem.cases)),
            tolerance=self._tolerance,
            rounding=rounding,
            unchecked=self._unedited.checks.unchecked if split == "search" else {},
            assumptions=tuple(assumptions),
            warnings=warnings_of(problem, self._unedited, split, self._tolerance),
            deadline=self._deadline,
            device=device.name,
            deterministic=repeats,
            modelled=self._unedited.modelled,
            referee=device.referee,
            program=problem.program.digest,
            digest=digest_of(self._expected),
        )

    def end_child(self) -> None:
        """End the child that runs variants; the next evaluation starts another."""
        self._runner.end()

    def evaluate(
        self,
        patch: Patch,
        known: Mapping[str, Evaluation],
        *,
        careful: bool = False,
        artefact: bytes | None = None,
    ) -> Evaluation:
        """Judge one patch; `known` holds earlier evaluations by artefact and by fingerprint.

        A `careful` worker builds the variant in a child first. An `artefact` is judged in the place of
        the patch's own if one is given.
        """
        stopwatch = Stopwatch()
        skipped, digest = 0, ""
        until = time.monotonic() + self._deadline
        with stopwatch("total"):
            try:
                if artefact is None and careful:
                    self._runner.end()
                    rehearse(self._problem, patch, self._deadline, self._main)
                if artefact is None:
                    artefact, skipped = build(self._problem, patch, stopwatch)
                digest = hashlib.sha256(artefact).hexdigest()
                result = known.get(digest) or self._try(artefact, known, stopwatch, until)
                if result.verdict is Verdict.MEMORY and self._runner.reused:
                    self._runner.end()  # what ran before may have left too little
                    result = self._try(artefact, known, stopwatch, until)
            except judge.Fault as fault:
                result = Evaluation(verdict=fault.verdict, detail=fault.detail)
        if self._asked:  # when no child waits, whose time it would take
            self._problem.device.learn(self._asked)
            self._asked.clear()
        return msgspec.structs.replace(
            result, artefact=digest, skipped=skipped, seconds=stopwatch.take()
        )

    def _try(
        self, artefact: bytes, known: Mapping[str, Evaluation], stopwatch: Stopwatch, until: float
    ) -> Evaluation:
        """Run an artefact in a child, and judge what comes out."""
        fingerprint = ""
        seconds = until - time.monotonic()

        def attempt() -> Evaluation:
            nonlocal fingerprint
            with self._runner.run(
                artefact,
                self._plan,
                kernels=self._unedited.kernels,
                seconds=seconds,
                memory=self._unedited.memory,
                stopwatch=stopwatch,
            ) as child:
                prepared = child.expect(Prepared)
                stopwatch.add(prepared.seconds)
                self._asked += prepared.asked
                fingerprint = prepared.fingerprint
                return known.get(fingerprint) or self._follow(child, stopwatch)

        try:
            result = self._again(attempt)
            if fingerprint in known:
                return result
        except (judge.Fault, *FAILURES) as failure:
            if isinstance(failure, ChildFailedError):
                stopwatch.add(failure.message.seconds)
            fault = judge.fault_of(failure, self._deadline)
            result = Evaluation(verdict=fault.verdict, detail=fault.detail)
        return msgspec.structs.replace(result, fingerprint=fingerprint)

    def _again(self, attempt: Callable[[], Evaluation]) -> Evaluation:
        """Do what may end a child, and do it again if something else may have ended it.

        That is what others have left behind that ran there before; or the machine, where the unedited program's child
        ends as well: for minutes, at times, and whatever runs.
        """
        times = 0
        while True:
            try:
                return persist(attempt)
            except ChildEndedError as ended:
                if self._runner.reused:
                    self._runner.end()
                    continue
                if ended.killed or self._unedited_runs():
                    raise
            times += 1
            if times == KILLS:
                raise UnwellError(f"the unedited program's process ends too, {KILLS} times")
            time.sleep(backoff(times))

    def _unedited_runs(self) -> bool:
        """Whether a child that runs the unedited program as a variant is run, on one case, lives to tell."""
        run = msgspec.structs.replace(self._plan[0], timed=False)
        try:
            with self._runner.run(
                self._plain, [run], seconds=self._deadline, memory=self._unedited.memory
            ) as child:
                child.expect(Prepared)
                child.go()
                child.expect(Ran)
        except ChildEndedError as ended:
            return ended.killed
        except FAILURES:
            return True
        finally:
            self._runner.end()
        return True

    def _follow(self, child: Child, stopwatch: Stopwatch) -> Evaluation:
        """Lead a child through the plan; the first fault ends it."""
        times: dict[int, float] = {}
        gaps: dict[int, float] = {}
        work: dict[int, tuple[float, ...]] = {}
        worst = off = spread = 0.0
        checks, doubts, unsure = self._unedited.checks, set[str](), ""
        grown: dict[tuple[int, bool], Growing] = {}
        for run in self._plan:
            if run.check:
                if checks.skips(run.check, self._total(times), self._par, doubts, run.case):
                    child.skip()
                    continue
                child.go()
                outputs = self._expected[run.case].outputs
                seen = checks.judge(run, child, stopwatch, outputs, self._where(run.case))
                doubts.update(seen.doubts)
                unsure = unsure or seen.unsure
                continue
            child.go()
            ran = child.expect(Ran)
            stopwatch.add(ran.seconds)
            with stopwatch("judge"):
                error, share = self._judge(child, ran, run, grown)
                worst, off = max(worst, error), max(off, share)
            if run.timed:
                child.go()
                timed = child.expect(Timed)
                stopwatch.add(timed.seconds)
                judge.check_time(timed.time)
                # The slower of two runs, so that lucky content of empty memory wins nothing.
                times[run.case] = max(times.get(run.case, 0.0), timed.time)
                gaps[run.case] = ran.usage.gaps
                work[run.case] = timed.work
                spread = max(spread, timed.spread)
        time = self._total(times)
        return Evaluation(
            verdict=Verdict.OK,
            time=(max(time, self._own) if unsure else time) if times else None,
            error=worst,
            inexact=self._problem.workload.compares and worst > self._unedited.meter.rounding,
            off=off,
            spread=spread,
            gaps=sum(gaps.values()),
            work=tuple(map(sum, zip(*work.values(), strict=True))) if all(work.values()) else (),
            unsure=unsure,
            traced=time if unsure else 0.0,
        )

    def _total(self, times: Mapping[int, float]) -> float:
        """The time of all cases."""
        return sum(value * self._expected[case].share for case, value in times.items())

    def _where(self, case: int) -> str:
        return f"case {case}{self._notes[case]}"

    def _judge(
        self, child: Child, ran: Ran, run: CaseRun, grown: dict[tuple[int, bool], Growing]
    ) -> tuple[float, float]:
        """The error of one run, and the share of elements that are off; raises `Fault` for worse."""
        case, off = run.case, 0.0
        expected = self._expected[case]
        where = self._where(case)
        got = expected.outputs[min(run.poison, 1)]
        if run.parts:
            parts = grown.setdefault(
                (case, run.sketch),
                Growing(self._problem, case, self._by_part[case], self._tolerance),
            )
            parts.take(child, ran, run.parts, got, expected.want, where)
            found = parts.error
            if found is None or run.sketch:  # there is more of it to run
                return 0.0, 0.0
            error = self._unedited.meter.excused(found, got.arrays, expected.want)
        else:
            judge.check_headers(ran.outputs, expected.headers, where)
            got.fill(child.fill)
            error = self._compare(run, got.arrays, where)
        judge.check_inputs(ran.usage.changed, expected.changed, where)
        if case and self._follows and not run.poison:
            self._follows.check(case, error, self._allowed, where)
            return 0.0, 0.0
        judge.check_error(error, self._tolerance, where)
        if self._follows and not run.poison:
            self._follows.begin(error)
        if error > self._unedited.meter.rounding:
            off = judge.share_off(got.arrays, expected.want)
        return error, off

    def _compare(self, run: CaseRun, got: Mapping[str, Array], where: str) -> float:
        """The error of a whole case; what another poison gives must be what the first gave."""
        expected, meter = self._expected[run.case], self._unedited.meter
        first = expected.outputs[0].arrays
        if not run.poison:
            return meter.error(run.case, got, expected.want, where)
        if self._unedited.exact:
            judge.check_same(first, got, where)
        else:
            judge.check_near(meter.near(run.case, got, first, where), where)
        return 0.0
