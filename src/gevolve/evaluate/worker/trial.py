"""Judges variants on the cases of one split.

`Trial` runs the unedited program first (`baseline`), which gives the expected outputs, the limits and
the deadline. `Trial.evaluate` then takes one patch from the IR to a verdict: apply it, verify and
build the variant, run it in a child, and compare what comes out.
"""

import gc
import hashlib
import math
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import msgspec

from gevolve.errors import (
    EvaluationError,
    MachineError,
    SourceError,
    WorkloadError,
    one_line,
    shortage_of,
)
from gevolve.evaluate.child.main import Comparison, Problem, rehearse_build
from gevolve.evaluate.child.process import (
    FAILURES,
    Child,
    ChildEndedError,
    ChildFailedError,
    Runner,
    persist,
    start,
)
from gevolve.evaluate.child.timing import QUICK, THOROUGH
from gevolve.evaluate.protocol import Baseline, CaseRun, Prepared, Ran, Timed
from gevolve.evaluate.stopwatch import Stopwatch
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.evaluate.worker import dependence, judge
from gevolve.evaluate.worker.baseline import BaselineRun
from gevolve.evaluate.worker.growing import Growing, unedited_errors
from gevolve.evaluate.worker.plan import runs
from gevolve.patch import Patch
from gevolve.workload.base import Array, Split

_UNTIMED: tuple[Split, ...] = ("unseen", "varied")
"""Splits that only say whether a variant is right."""
_MEASURED: tuple[Split, ...] = ("held-out", "fresh", "large")
"""Splits on which a clock measures what is reported."""
_SETUP = 600.0
"""Seconds that the unedited program, or the reference, may take over all cases of a split that the search does not use."""


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
        workload, device = problem.workload, problem.device
        self._deadline = device.setup if split == "search" else _SETUP
        artefact = device.build(problem.program.text)
        self._runner = _runner(problem, split, artefact, main)
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
        self._follows = self._unedited_follows() if split == "varied" else None
        rounding = self._unedited.meter.rounding
        # The strictest, until the error is known.
        self._tolerance = max(rounding, workload.bound(math.inf, 0.0))
        self._notes = [f" ({case!r})" for case in problem.cases]
        self._par, self._own = math.inf, 0.0
        unedited = self._check_unedited(hashlib.sha256(artefact).hexdigest())
        self._own = unedited.time or 0.0
        if split == "search" and unedited.time is not None:
            self._par = unedited.time
        profile = self._profile() if split == "search" else {}
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
            warnings=self._warnings(split),
            deadline=self._deadline,
            device=device.name,
            deterministic=self._repeats,
            modelled=self._unedited.modelled,
            referee=device.referee,
            program=problem.program.digest,
            digest=self._digest(),
        )

    def _warnings(self, split: Split) -> tuple[str, ...]:
        """What must be said beside results."""
        unedited = self._unedited
        if split != "search" or self._problem.workload.compares:
            doubt = (unedited.doubt,) if unedited.doubt else ()
            return *doubt, *(unedited.remarks if split == "search" else ())
        want = self._expected[0].want
        repeated = self._problem.workload.repeats(self._problem.cases[0])
        return *unedited.remarks, *dependence.warnings(
            unedited.meter, want, self._tolerance, repeated=repeated
        )

    def end_child(self) -> None:
        """End the child that runs variants; the next evaluation starts another."""
        self._runner.end()

    # --- judging ---------------------------------------------------------------------------------

    def evaluate(
        self,
        patch: Patch,
        known: Mapping[str, Evaluation],
        *,
        careful: bool = False,
        artefact: bytes | None = None,
    ) -> Evaluation:
        """Judge one patch; `known` holds earlier evaluations by artefact and by fingerprint.

        The variant is built in this process, whose compiler is warm. A compiler that crashes ends
        the process. A patch that has done so is tried in a child first (`careful`). An `artefact` is
        judged in its place if one is given.
        """
        stopwatch = Stopwatch()
        skipped, digest = 0, ""
        until = time.monotonic() + self._deadline
        with stopwatch("total"):
            try:
                if artefact is None:
                    artefact, skipped = self._build(patch, stopwatch, careful=careful)
                digest = hashlib.sha256(artefact).hexdigest()
                result = known.get(digest) or self._try(artefact, known, stopwatch, until)
                if result.verdict is Verdict.MEMORY and self._runner.reused:
                    self._runner.end()  # what ran before may have left too little
                    result = self._try(artefact, known, stopwatch, until)
            except judge.Fault as fault:
                result = Evaluation(verdict=fault.verdict, detail=fault.detail)
        return msgspec.structs.replace(
            result, artefact=digest, skipped=skipped, seconds=stopwatch.take()
        )

    def _build(self, patch: Patch, stopwatch: Stopwatch, *, careful: bool) -> tuple[bytes, int]:
        """The artefact of a patch, and how many of its edits could not be applied."""
        program, device = self._problem.program, self._problem.device
        if careful:
            self._rehearse(patch)
        with _compiler_faults(), stopwatch("apply"):
            variant = program.apply(patch)
        with _compiler_faults(), stopwatch("verify"):
            why = program.verify(variant.text)
        judge.check_valid(why)
        with _compiler_faults(), stopwatch("build"):
            return device.build(variant.text), len(variant.skipped)

    def _rehearse(self, patch: Patch) -> None:
        """Build a variant in a child, which may crash."""
        self._runner.end()
        persist(lambda: self._rehearse_once(patch))

    def _rehearse_once(self, patch: Patch) -> None:
        with start(
            lambda channel: rehearse_build(channel, self._problem, patch),
            seconds=self._deadline,
            main=self._main,
            device=self._problem.device,
        ) as child:
            try:
                child.expect(Ran)
            except ChildEndedError as ended:
                if ended.killed:
                    raise
                how = judge.fault_of(ended, self._deadline).detail
                raise judge.Fault(Verdict.COMPILE, how) from None
            except FAILURES as failure:
                raise judge.fault_of(failure, self._deadline) from None

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
                fingerprint = prepared.fingerprint
                return known.get(fingerprint) or self._follow(child, stopwatch)

        try:
            result = persist(attempt)
            if fingerprint in known:
                return result
        except (judge.Fault, *FAILURES) as failure:
            if isinstance(failure, ChildFailedError):
                stopwatch.add(failure.message.seconds)
            fault = judge.fault_of(failure, self._deadline)
            result = Evaluation(verdict=fault.verdict, detail=fault.detail)
        return msgspec.structs.replace(result, fingerprint=fingerprint)

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

    def _unedited_follows(self) -> dependence.Follows | None:
        """The unedited program's errors by case, if they are not differences from it."""
        if self._problem.workload.compares:
            return None
        errors = [
            self._unedited.meter.error(case, one.want, one.want, f"case {case}")
            for case, one in enumerate(self._expected)
        ]
        return dependence.Follows(errors, self._problem.cases)

    # --- setting up ------------------------------------------------------------------------------

    def _profile(self) -> dict[str, float]:
        """How often each block runs, and what each source line costs; on the referee if the device cannot count marks."""
        problem = self._problem
        marked = problem.program.instrumented()
        if marked == problem.program.text:
            return {}
        if problem.device.referee:
            referee = problem.workload.device(problem.device.referee)
            problem = replace(problem, device=referee)
        artefact = problem.device.build(marked)
        self._runner.end()
        runner = _runner(problem, "search", artefact, self._main)
        baseline = BaselineRun(problem, runner, seconds=self._deadline, main=self._main)
        profile = baseline.profile(artefact)
        runner.end()
        return profile | {f"line {line}": spent for line, spent in self._unedited.lines.items()}

    def _check_unedited(self, artefact: str) -> Evaluation:
        """Judge the unedited program like a variant; its error must be within the rounding."""
        unedited = self.evaluate(Patch(), {})
        about = f"{self._problem.workload.name}: the unedited program"
        if unedited.verdict is Verdict.FLAKY:
            raise WorkloadError(
                f"{about} reads memory that nothing has written ({unedited.detail}); initialise it"
            )
        if unedited.verdict in (Verdict.WRONG, Verdict.NONFINITE):
            raise WorkloadError(
                f"{about} differs from its own reference ({unedited.detail});"
                f" correct the kernel or reference(), or raise `rounding`"
            )
        if not unedited.ok:
            raise WorkloadError(f"{about} is judged {unedited.verdict}: {unedited.detail}")
        if unedited.artefact != artefact:
            raise EvaluationError(
                f"{about} gives another artefact each time it is built for"
                f" {self._problem.device.name}"
            )
        if self._repeats:
            return unedited
        return msgspec.structs.replace(unedited, time=1.0)  # times are relative to its own

    @property
    def _repeats(self) -> bool:
        """Whether times are the same each time."""
        return self._problem.device.deterministic or self._unedited.modelled

    def _digest(self) -> str:
        """A hash of all expected outputs."""
        digest = hashlib.sha256()
        for expected in self._expected:
            for name, array in expected.want.items():
                digest.update(f"{name} {array.dtype} {array.shape};".encode())
                digest.update(array.tobytes())
        return digest.hexdigest()


def _runner(problem: Problem, split: Split, unedited: bytes, main: int | None) -> Runner:
    """A runner that is quick on the search split; results must not depend on a reused process."""
    searching = split == "search"
    comparison = Comparison(
        unedited, QUICK if searching else THOROUGH, modelled=split not in _MEASURED
    )
    return Runner(problem, comparison, main, isolated=not searching)


@contextmanager
def _compiler_faults() -> Generator[None]:
    """Turn what a compiler raises into a verdict: a variant must not end the search."""
    try:
        yield
    except SourceError as error:
        raise judge.Fault(Verdict.COMPILE, str(error)) from None
    except MachineError:
        raise
    except MemoryError:
        raise judge.Fault(Verdict.MEMORY, "out of memory") from None
    except Exception as error:
        if shortage := shortage_of(error):
            raise shortage from error
        raise judge.Fault(Verdict.CRASH, one_line(error)) from error
