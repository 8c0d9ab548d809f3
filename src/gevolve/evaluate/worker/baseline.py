"""What the unedited program does on the cases of a split: the measure of all variants.

It runs in a child, as if it were a variant, but without limits; then the workload's reference is
computed, where no variant can see it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import numpy as np

from gevolve.device.base import Limits, Usage
from gevolve.errors import DeviceError, WorkloadError
from gevolve.evaluate.child import linux, sandbox, tasks
from gevolve.evaluate.child.runner import Runner, Running
from gevolve.evaluate.clock import Clock
from gevolve.evaluate.protocol import GarbledError, Header, Ran, Run, Timed
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import checks, judge
from gevolve.evaluate.worker.vault import Vault
from gevolve.workload.base import Array

FAILURES = (
    *(judge.Fault, GarbledError),
    *(sandbox.GaveUpError, sandbox.GoneError, sandbox.LateError),
)
"""All that a child can do instead of what it is there for."""
_RETRIES = 2
_Ran: TypeAlias = tuple[list[tuple[Vault, Usage]], list[Timed], bool, int]


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
    share: float
    """What the time on this case counts in the whole."""


@dataclass(frozen=True, slots=True)
class Unedited:
    """All that there is to know of the unedited program on a split."""

    expected: list[Expected]
    checks: checks.Checks
    exact: bool
    """Whether it gives the same outputs each time, bit for bit."""
    kernels: tuple[str, ...]
    room: int
    """Bytes that the address space of a variant's process may grow by."""


class Study:
    """Finds out about the unedited program; `seconds` is what each step of it may take."""

    def __init__(
        self,
        bench: tasks.Bench,
        runner: Runner,
        *,
        seconds: float,
        main: int | None,
    ) -> None:
        self._bench = bench
        self._runner = runner
        self._seconds = seconds
        self._main = main

    def learn(self, artefact: bytes, *, checked: bool) -> Unedited:
        """Run it, refer to the reference, and see what it does in the device's checks."""
        results, times, exact, growth = self._run_patiently(artefact)
        found = (
            checks.learn(
                self._bench, artefact, *results[0], seconds=self._seconds, runner=self._runner
            )
            if checked
            else checks.Checks(self._bench)
        )
        self._runner.rest()
        launched = (kernel for _, usage in results for kernel in usage.kernels)
        return Unedited(
            expected=self._expect(results, times, self._refer()),
            checks=found,
            exact=exact,
            kernels=tuple(dict.fromkeys(launched)),
            room=2 * max(growth, found.growth) + (256 << 20),
        )

    def profile(self, artefact: bytes) -> dict[str, float]:
        """How often each block runs on the smallest case, by a program with a mark in each."""
        with self._runner.begin(
            artefact, [Run(0, Limits(), timed=False)], seconds=self._seconds
        ) as running:
            try:
                running.ready(Clock())
                running.go()
                marks = running.expect(Ran).usage.marks
            except FAILURES as failure:
                self._refuse("the program with a mark in every block fails", failure, 0)
        return {block: float(count) for block, count in marks.items()}

    def _run_patiently(self, artefact: bytes) -> _Ran:
        """As `_run`; a real device may fail for reasons of its own, once or twice."""
        for _ in range(0 if self._bench.device.deterministic else _RETRIES):
            try:
                return self._run(artefact)
            except WorkloadError:
                self._runner.rest()
        return self._run(artefact)

    def _run(self, artefact: bytes) -> _Ran:
        """Outputs, usage and time on every case, whether it repeats itself, how much it grew."""
        bench, results = self._bench, list[tuple[Vault, Usage]]()
        times: list[Timed] = []
        plan = [Run(case, Limits()) for case in range(len(bench.cases))]
        if not bench.device.deterministic:
            plan.append(Run(0, Limits(), timed=False))
        before = linux.address_space()
        with self._runner.begin(artefact, plan, seconds=self._seconds) as running:
            try:
                running.ready(Clock())
                for run in plan:
                    running.go()
                    ran = running.expect(Ran)
                    results.append((_receive(running, ran), ran.usage))
                    if run.timed:
                        running.go()
                        times.append(running.expect(Timed))
            except FAILURES as failure:
                self._refuse("the unedited program fails", failure, len(results))
            growth = linux.peak_address_space(running.pid) - before
        exact = True
        if len(results) > len(bench.cases):
            again, _ = results.pop()
            exact = judge.same(results[0][0].arrays, again.arrays)
        return results, times, exact, growth

    def _refer(self) -> list[Vault] | None:
        """The workload's own reference for every case, computed where no variant can see it."""
        reference = self._bench.workload.reference
        if reference is None:
            return None
        results: list[Vault] = []
        with sandbox.start(
            lambda channel: tasks.refer(channel, self._bench, reference),
            seconds=self._seconds,
            main=self._main,
        ) as running:
            try:
                for _ in self._bench.cases:
                    results.append(_receive(running, running.expect(Ran)))
                    running.go()
            except FAILURES as failure:
                self._refuse("reference() fails", failure, len(results))
        return results

    def _expect(
        self,
        results: list[tuple[Vault, Usage]],
        times: list[Timed],
        references: list[Vault] | None,
    ) -> list[Expected]:
        expected: list[Expected] = []
        whole = 1.0 if self._bench.device.deterministic else sum(one.unit for one in times)
        for case, (outputs, usage) in enumerate(results):
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
                    limits=tasks.limits_of(usage, times[case]),
                    share=times[case].unit / whole,
                )
            )
        return expected

    def _check_shapes(self, case: int, outputs: Vault, want: Vault) -> None:
        given, named = (
            {h.name: h.shape for h in outputs.headers},
            {h.name: h.shape for h in want.headers},
        )
        for name in given.keys() | named.keys():
            if given.get(name) != named.get(name):
                raise WorkloadError(
                    f"{self._bench.workload.name}: on case {case}, run() gives output {name} the"
                    f" shape {given.get(name)} and reference() {named.get(name)}; make them agree"
                )

    def _check_numbers(self, case: int, outputs: Vault) -> None:
        """A NaN that no reference asks for most likely comes from memory that nothing has written."""
        for name, array in outputs.arrays.items():
            if array.dtype.kind in "fc" and np.isnan(array).any():
                raise WorkloadError(
                    f"{self._bench.workload.name}: the unedited program gives NaN in output {name}"
                    f" of case {case}; initialise what it reads or, if that is right, define"
                    " reference()"
                )

    def _refuse(self, what: str, failure: Exception, case: int) -> NoReturn:
        if isinstance(failure, sandbox.GaveUpError) and failure.message.how == "device":
            raise DeviceError(failure.message.detail) from failure
        fault = judge.fault_of(failure, self._seconds)
        late = fault.verdict is Verdict.TIMEOUT
        remedy = "; see whether it ends at all, or make the cases smaller" if late else ""
        raise WorkloadError(
            f"{self._bench.workload.name}: {what} on case {case}"
            f" ({fault.verdict}: {fault.detail}){remedy}"
        ) from failure


def _receive(running: Running | sandbox.Child, ran: Ran) -> Vault:
    vault = Vault(ran.outputs)
    vault.fill(running.fill)
    return vault
