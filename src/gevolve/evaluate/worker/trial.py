"""A workload on one split, ready to judge variants: cases, expected outputs, limits, deadline."""

import gc
import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from gevolve.errors import EvaluationError, WorkloadError
from gevolve.evaluate.child import sandbox, tasks
from gevolve.evaluate.child.runner import Forks, Lasting, Runner, Running
from gevolve.evaluate.child.turns import QUICK, THOROUGH
from gevolve.evaluate.clock import Clock
from gevolve.evaluate.protocol import Baseline, Ran, Run, Timed
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.evaluate.worker import build, judge
from gevolve.evaluate.worker.baseline import FAILURES, Study
from gevolve.patch import Patch
from gevolve.workload.base import Split

_SETUP = {"search": 60.0, "held-out": 600.0, "large": 600.0, "fresh": 600.0}
"""Seconds that the unedited program, or the reference, may take over all cases of a split."""


class Trial:
    """Judges variants on one split."""

    def __init__(
        self,
        bench: tasks.Bench,
        split: Split,
        *,
        tolerance: float | None,
        patience: float,
        main: int | None = None,
    ) -> None:
        self._bench = bench
        self._main = main
        workload, device = bench.workload, bench.device
        self._deadline = _SETUP[split]
        artefact = self._artefact(bench.program.text)
        self._runner = _runner(bench, split, artefact, main)
        study = Study(bench, self._runner, seconds=self._deadline, main=main)
        self._unedited = study.learn(artefact, checked=split != "large")
        self._expected = self._unedited.expected
        self._plan = self._runs()
        gc.collect()
        gc.freeze()  # so that no collection in a child walks, and so copies, what it inherits
        self._tolerance = workload.bound(math.inf, 0.0)  # as strict as it can be without knowing
        self._notes = [f" ({case!r})" for case in bench.cases]
        self._par = math.inf
        unedited = self._check_unedited(hashlib.sha256(artefact).hexdigest())
        if split == "search" and unedited.time is not None:
            self._par = unedited.time
        profile = self._profile() if split == "search" else {}
        # The second time around, when whatever a device prepares once has been prepared.
        patient = 30 if device.deterministic else 5
        self._deadline = max(patience, patient * unedited.seconds["total"])
        if split == "search":  # elsewhere a failure is news, and says on which input
            self._notes = [""] * len(bench.cases)
        allowed = workload.tolerance if tolerance is None else tolerance
        self._tolerance = workload.bound(unedited.error or 0.0, allowed)
        self.baseline = Baseline(
            split=split,
            evaluation=unedited,
            profile=profile,
            cases=tuple(map(repr, bench.cases)),
            tolerance=self._tolerance,
            deadline=self._deadline,
            device=device.name,
            deterministic=device.deterministic,
            referee=device.referee,
            program=bench.program.digest,
            digest=self._digest(),
        )

    def rest(self) -> None:
        """Give back what only judging needs; it comes back by itself."""
        self._runner.rest()

    # --- judging ---------------------------------------------------------------------------------

    def evaluate(
        self, patch: Patch, known: Mapping[str, Evaluation], *, careful: bool = False
    ) -> Evaluation:
        """Judge one patch; `known` holds the evaluations of what ran before, by identity.

        What is built here could take this process down. If it did so before, be `careful`: let a
        child try first.
        """
        clock = Clock()
        skipped, digest = 0, ""
        began = time.monotonic()
        with clock("total"):
            try:
                if careful:
                    self._rehearse(patch)
                variant = build.materialise(self._bench, patch, clock)
                skipped = len(variant.skipped)
                artefact = build.build(self._bench, variant.text, clock)
                digest = hashlib.sha256(artefact).hexdigest()
                until = began + self._deadline
                result = known.get(digest) or self._try(artefact, known, clock, until)
                if result.verdict is Verdict.MEMORY and self._runner.worn:
                    self._runner.rest()  # what ran before may have left too little
                    result = self._try(artefact, known, clock, until)
            except judge.Fault as fault:
                result = Evaluation(verdict=fault.verdict, detail=fault.detail)
        return msgspec.structs.replace(
            result, artefact=digest, skipped=skipped, seconds=clock.take()
        )

    def _rehearse(self, patch: Patch) -> None:
        """Let a child build a variant, to see whether it lives to tell."""
        self._runner.rest()
        with sandbox.start(
            lambda channel: tasks.try_build(channel, self._bench, patch, self._unedited.kernels),
            seconds=self._deadline,
            main=self._main,
        ) as running:
            try:
                running.expect(Ran)
            except sandbox.GoneError as gone:
                how = judge.fault_of(gone, self._deadline).detail
                raise judge.Fault(Verdict.COMPILE, how) from None
            except FAILURES as failure:
                raise judge.fault_of(failure, self._deadline) from None

    def _try(
        self, artefact: bytes, known: Mapping[str, Evaluation], clock: Clock, until: float
    ) -> Evaluation:
        """Run an artefact in a child, and judge what comes out."""
        if self._bench.device.isolated:
            build.warm(self._bench, artefact, self._unedited.kernels, clock)
        running = self._runner.begin(
            artefact,
            self._plan,
            kernels=self._unedited.kernels,
            seconds=until - time.monotonic(),
            room=self._unedited.room,
        )
        fingerprint = ""
        try:
            fingerprint = running.ready(clock)
            if fingerprint in known:
                return known[fingerprint]
            result = self._hear(running, clock)
        except FAILURES as failure:
            if isinstance(failure, sandbox.GaveUpError):
                clock.add(failure.message.seconds)
            fault = judge.fault_of(failure, self._deadline)
            result = Evaluation(verdict=fault.verdict, detail=fault.detail)
        finally:
            with clock("end"):
                running.end()
        return msgspec.structs.replace(result, fingerprint=fingerprint)

    def _hear(self, running: Running, clock: Clock) -> Evaluation:
        """Follow a child through the plan; any fault ends it."""
        times: dict[int, float] = {}
        worst = spread = 0.0
        for run in self._plan:
            if run.check and self._spared(run.check, times):
                break
            running.go()
            if run.check:
                self._unedited.checks.hear(run.check, running, clock, self._expected[0].rooms)
                continue
            ran = running.expect(Ran)
            clock.add(ran.seconds)
            with clock("judge"):
                worst = max(worst, self._judge(running, ran, run))
            if run.timed:
                running.go()
                timed = running.expect(Timed)
                clock.add(timed.seconds)
                judge.check_time(timed.time)
                # The slower of two runs, so that lucky content of empty memory wins nothing.
                times[run.case] = max(times.get(run.case, 0.0), timed.time)
                spread = max(spread, timed.spread)
        return Evaluation(verdict=Verdict.OK, time=self._whole(times), error=worst, spread=spread)

    def _spared(self, check: str, times: Mapping[int, float]) -> bool:
        return self._unedited.checks.spares(check, self._whole(times), self._par)

    def _whole(self, times: Mapping[int, float]) -> float:
        """The time of all cases."""
        return sum(value * self._expected[case].share for case, value in times.items())

    def _judge(self, running: Running, ran: Ran, run: Run) -> float:
        """The error of one run; raises `Fault` for all that is worse than an error."""
        case = run.case
        expected = self._expected[case]
        where = f"case {case}{self._notes[case]}"
        judge.check_headers(ran.outputs, expected.headers, where)
        got = expected.rooms[run.poison]
        got.fill(running.fill)
        error = 0.0
        if not run.poison:
            error = judge.error_of(self._bench, case, got.arrays, expected.want, where)
        elif self._unedited.exact:
            judge.check_same(expected.rooms[0].arrays, got.arrays, where)
        else:
            judge.check_near(self._bench, case, expected.rooms[0].arrays, got.arrays, where)
        judge.check_inputs(ran.usage.changed, expected.changed, where)
        judge.check_error(error, self._tolerance, where)
        return error

    # --- setting up ------------------------------------------------------------------------------

    def _artefact(self, text: str) -> bytes:
        """The artefact of an unedited program; what is wrong with it is the user's to know."""
        artefact = self._bench.device.build(text)
        if self._bench.device.isolated:
            self._bench.device.prepare(artefact, ())
        return artefact

    def _profile(self) -> dict[str, float]:
        """How often each block runs; on the referee if the device itself cannot count marks."""
        bench = self._bench
        marked = bench.program.instrumented()
        if marked == bench.program.text:
            return {}
        if bench.device.referee:
            bench = replace(bench, device=bench.workload.device(bench.device.referee))
        artefact = bench.device.build(marked)
        self._runner.rest()
        runner = _runner(bench, "search", artefact, self._main)
        profile = Study(bench, runner, seconds=self._deadline, main=self._main).profile(artefact)
        runner.rest()
        return profile

    def _runs(self) -> list[Run]:
        """The runs of an evaluation: the smallest case and that with another poison, the rest, checks."""
        plain = [Run(case, one.limits) for case, one in enumerate(self._expected)]
        again = Run(0, plain[0].limits, poison=1, timed=self._bench.device.deterministic)
        return [plain[0], again, *plain[1:], *self._unedited.checks.runs()]

    def _check_unedited(self, artefact: str) -> Evaluation:
        """Judge the unedited program as any variant: it must be within its own rounding."""
        unedited = self.evaluate(Patch(), {})
        about = f"{self._bench.workload.name}: the unedited program"
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
                f"{about} gives another artefact each time it is built for {self._bench.device.name}"
            )
        if self._bench.device.deterministic:
            return unedited
        return msgspec.structs.replace(unedited, time=1.0)  # times are relative to its own

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for expected in self._expected:
            for name, array in expected.want.items():
                digest.update(f"{name} {array.dtype} {array.shape};".encode())
                digest.update(array.tobytes())
        return digest.hexdigest()


def _runner(bench: tasks.Bench, split: Split, unedited: bytes, main: int | None) -> Runner:
    against = tasks.Against(unedited, QUICK if split == "search" else THOROUGH)
    if bench.device.isolated:
        return Forks(bench, against, main)
    # What is reported must not depend on the luck of one process.
    return Lasting(bench, against, main, fresh=split != "search")
