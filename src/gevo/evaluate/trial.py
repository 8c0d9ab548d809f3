"""A workload on one split, ready to judge variants: cases, expected outputs, limits, deadline.

Setting it up runs the unedited program in a child, as if it were a variant; what comes out is the
measure of all the others.
"""

import gc
import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import msgspec
import numpy as np

from gevo.device import Limits, Usage
from gevo.errors import EvaluationError, WorkloadError
from gevo.evaluate import build, checks, child, judge, linux, sandbox
from gevo.evaluate.clock import Clock
from gevo.evaluate.vault import Vault
from gevo.evaluate.verdict import Evaluation, Verdict
from gevo.evaluate.wire import Baseline, GarbledError, Header, Ran, Timed
from gevo.patch import Patch
from gevo.workload import Array, Split

_SETUP = {"search": 60.0, "held-out": 600.0, "large": 600.0}
"""Seconds that the unedited program, or the reference, may take over all cases of a split."""
_FAILURES = (
    judge.Fault,
    GarbledError,
    sandbox.GaveUpError,
    sandbox.GoneError,
    sandbox.LateError,
)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a variant must give for one case, and what it may use."""

    want: Mapping[str, Array]
    """The reference, by output."""
    headers: tuple[Header, ...]
    """Names, types and shapes of the outputs, as the unedited program gives them."""
    rooms: tuple[Vault, ...]
    """Where the outputs of a variant are put: one for each run of the case."""
    changed: frozenset[int]
    """Uploaded buffers that the unedited program itself writes to."""
    limits: Limits


class Trial:
    """Judges variants on one split."""

    def __init__(
        self,
        bench: child.Bench,
        split: Split,
        *,
        tolerance: float | None,
        patience: float,
        main: int | None = None,
    ) -> None:
        self._bench = bench
        self._main = main
        self._name = bench.workload.name
        self._deadline = _SETUP[split]
        runs, artefact = self._run_unedited(checked=split != "large")
        self._expected = self._expect(runs, self._refer())
        self._plan = self._runs()
        del runs
        gc.collect()
        gc.freeze()  # so that no collection in a child walks, and so copies, what it inherits
        self._tolerance = bench.workload.rounding
        self._notes = [f" ({case!r})" for case in bench.cases]
        self._par = math.inf
        unedited = self._check_unedited(artefact)
        if split == "search" and unedited.time is not None:
            self._par = unedited.time
        profile = self._profile() if split == "search" else {}
        # The second time around, when whatever a device prepares once has been prepared.
        self._deadline = max(patience, 30 * unedited.seconds["total"])
        self._notes = [""] * len(bench.cases)
        self._tolerance = max(self._tolerance, tolerance or 0.0)
        self.baseline = Baseline(
            split=split,
            evaluation=unedited,
            profile=profile,
            cases=tuple(map(repr, bench.cases)),
            tolerance=self._tolerance,
            deadline=self._deadline,
            device=bench.device.name,
            deterministic=bench.device.deterministic,
            program=bench.program.digest,
            digest=self._digest(),
        )

    # --- judging ---------------------------------------------------------------------------------

    def evaluate(
        self, patch: Patch, known: Mapping[str, Evaluation], *, careful: bool = False
    ) -> Evaluation:
        """Judge one patch; `known` holds the evaluations of artefacts seen before.

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
                result = known.get(digest) or self._try(artefact, clock, began + self._deadline)
            except judge.Fault as fault:
                result = Evaluation(verdict=fault.verdict, detail=fault.detail)
        return msgspec.structs.replace(
            result, artefact=digest, skipped=skipped, seconds=clock.take()
        )

    def _rehearse(self, patch: Patch) -> None:
        """Let a child build a variant, to see whether it lives to tell."""
        with sandbox.start(
            lambda channel: child.try_build(channel, self._bench, patch, self._kernels),
            seconds=self._deadline,
            main=self._main,
        ) as running:
            try:
                running.expect(Ran)
            except sandbox.GoneError as gone:
                how = judge.fault_of(gone, self._deadline).detail
                raise judge.Fault(Verdict.COMPILE, how) from None
            except _FAILURES as failure:
                raise judge.fault_of(failure, self._deadline) from None

    def _try(self, artefact: bytes, clock: Clock, until: float) -> Evaluation:
        """Run an artefact in a child, and judge what comes out."""
        build.warm(self._bench, artefact, self._kernels, clock)
        running = sandbox.start(
            lambda channel: child.try_artefact(channel, self._bench, artefact, self._plan),
            seconds=until - time.monotonic(),
            room=self._room,
            main=self._main,
        )
        try:
            return self._hear(running, clock)
        except _FAILURES as failure:
            if isinstance(failure, sandbox.GaveUpError):
                clock.add(failure.message.seconds)
            raise judge.fault_of(failure, self._deadline) from None
        finally:
            with clock("end"):
                running.end()

    def _hear(self, running: sandbox.Child, clock: Clock) -> Evaluation:
        """Follow a child through the plan; any fault ends it."""
        times: dict[int, float] = {}
        worst = 0.0
        for number, (case, _, poison, check) in enumerate(self._plan):
            if check and self._checks.spares(check, sum(times.values()), self._par):
                break
            if number:
                running.go()
            if check:
                self._checks.hear(check, running, clock, self._expected[0].rooms)
                continue
            ran = running.expect(Ran)
            clock.add(ran.seconds)
            with clock("judge"):
                worst = max(worst, self._judge(running, ran, case, poison))
            running.go()
            timed = running.expect(Timed)
            clock.add(timed.seconds)
            judge.check_time(timed.time)
            # The slower of two runs, so that lucky content of empty memory wins nothing.
            times[case] = max(times.get(case, 0.0), timed.time)
        return Evaluation(verdict=Verdict.OK, time=sum(times.values()), error=worst)

    def _judge(self, running: sandbox.Child, ran: Ran, case: int, poison: int) -> float:
        """The error of one run; raises `Fault` for all that is worse than an error."""
        expected = self._expected[case]
        where = f"case {case}{self._notes[case]}"
        judge.check_headers(ran.outputs, expected.headers, where)
        got = expected.rooms[poison]
        got.fill(running.fill)
        error = 0.0
        if poison:
            judge.check_same(expected.rooms[0].arrays, got.arrays, where)
        else:
            measure = self._bench.workload.error
            error = judge.measure_error(got.arrays, expected.want, measure, where)
        judge.check_inputs(ran.usage.changed, expected.changed, where)
        judge.check_error(error, self._tolerance, where)
        return error

    # --- setting up ------------------------------------------------------------------------------

    def _run_unedited(self, *, checked: bool) -> tuple[list[tuple[Vault, Usage]], str]:
        """The outputs and usage of the unedited program on every case, without limits."""
        runs = [child.Run(case, Limits()) for case in range(len(self._bench.cases))]
        artefact = self._artefact(self._bench.program.text)
        before = linux.address_space()
        results: list[tuple[Vault, Usage]] = []
        with sandbox.start(
            lambda channel: child.try_artefact(channel, self._bench, artefact, runs),
            seconds=self._deadline,
            main=self._main,
        ) as running:
            try:
                for case in range(len(runs)):
                    if case:
                        running.go()
                    ran = running.expect(Ran)
                    results.append((_receive(running, ran), ran.usage))
                    running.go()
                    running.expect(Timed)
            except _FAILURES as failure:
                self._refuse("the unedited program fails", failure, len(results))
            growth = linux.peak_address_space(running.pid) - before
        self._checks = (
            checks.learn(
                self._bench, artefact, *results[0], seconds=self._deadline, main=self._main
            )
            if checked
            else checks.Checks(self._bench)
        )
        self._room = 2 * max(growth, self._checks.growth) + (256 << 20)
        launched = (kernel for _, usage in results for kernel in usage.kernels)
        self._kernels = tuple(dict.fromkeys(launched))
        return results, hashlib.sha256(artefact).hexdigest()

    def _artefact(self, text: str) -> bytes:
        """The artefact of the unedited program; what is wrong with it is the user's to know."""
        artefact = self._bench.device.build(text)
        self._bench.device.prepare(artefact, ())
        return artefact

    def _refer(self) -> list[Vault] | None:
        """The workload's own reference for every case, computed where no variant can see it."""
        reference = self._bench.workload.reference
        if reference is None:
            return None
        results: list[Vault] = []
        with sandbox.start(
            lambda channel: child.refer(channel, self._bench, reference),
            seconds=self._deadline,
            main=self._main,
        ) as running:
            try:
                for _ in self._bench.cases:
                    results.append(_receive(running, running.expect(Ran)))
                    running.go()
            except _FAILURES as failure:
                self._refuse("reference() fails", failure, len(results))
        return results

    def _expect(
        self, runs: list[tuple[Vault, Usage]], references: list[Vault] | None
    ) -> list[Expected]:
        expected: list[Expected] = []
        for case, (outputs, usage) in enumerate(runs):
            want = references[case] if references else outputs
            if references:
                self._check_shapes(case, outputs, want)
            else:
                self._check_numbers(case, outputs)
            expected.append(
                Expected(
                    want={name: want.arrays[name] for name in outputs.arrays},
                    headers=outputs.headers,
                    rooms=tuple(Vault(outputs.headers) for _ in range(1 if case else 2)),
                    changed=frozenset(usage.changed),
                    limits=child.limits_of(usage),
                )
            )
        return expected

    def _runs(self) -> list[child.Run]:
        """The runs of an evaluation: the smallest case and that with another poison, the rest, checks."""
        plain = [child.Run(case, one.limits) for case, one in enumerate(self._expected)]
        again = plain[0]._replace(poison=1)
        return [plain[0], again, *plain[1:], *self._checks.runs()]

    def _check_shapes(self, case: int, outputs: Vault, want: Vault) -> None:
        given, named = (
            {h.name: h.shape for h in outputs.headers},
            {h.name: h.shape for h in want.headers},
        )
        for name in given.keys() | named.keys():
            if given.get(name) != named.get(name):
                raise WorkloadError(
                    f"{self._name}: on case {case}, run() gives output {name} the shape"
                    f" {given.get(name)} and reference() {named.get(name)}; make them agree"
                )

    def _check_numbers(self, case: int, outputs: Vault) -> None:
        """A NaN that no reference asks for most likely comes from memory that nothing has written."""
        for name, array in outputs.arrays.items():
            if array.dtype.kind in "fc" and np.isnan(array).any():
                raise WorkloadError(
                    f"{self._name}: the unedited program gives NaN in output {name} of case {case};"
                    " initialise what it reads or, if that is right, define reference()"
                )

    def _check_unedited(self, artefact: str) -> Evaluation:
        """Judge the unedited program as any variant: it must be within its own rounding."""
        unedited = self.evaluate(Patch(), {})
        about = f"{self._name}: the unedited program"
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
        return unedited

    def _profile(self) -> dict[str, float]:
        """How often each block runs on the smallest case."""
        artefact = self._artefact(self._bench.program.marked())
        with sandbox.start(
            lambda channel: child.try_artefact(
                channel, self._bench, artefact, [child.Run(0, Limits())]
            ),
            seconds=self._deadline,
            main=self._main,
        ) as running:
            try:
                marks = running.expect(Ran).usage.marks
            except _FAILURES as failure:
                self._refuse("the program with a mark in every block fails", failure, 0)
        return {block: float(count) for block, count in marks.items()}

    def _refuse(self, what: str, failure: Exception, case: int) -> NoReturn:
        fault = judge.fault_of(failure, self._deadline)
        late = fault.verdict is Verdict.TIMEOUT
        remedy = "; see whether it ends at all, or make the cases smaller" if late else ""
        raise WorkloadError(
            f"{self._name}: {what} on case {case} ({fault.verdict}: {fault.detail}){remedy}"
        ) from failure

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for expected in self._expected:
            for name, array in expected.want.items():
                digest.update(f"{name} {array.dtype} {array.shape};".encode())
                digest.update(array.tobytes())
        return digest.hexdigest()


def _receive(running: sandbox.Child, ran: Ran) -> Vault:
    vault = Vault(ran.outputs)
    vault.fill(running.fill)
    return vault
