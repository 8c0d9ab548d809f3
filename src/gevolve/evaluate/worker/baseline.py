"""Runs the unedited program on the cases of a split, which every variant is compared with.

It runs in a child like a variant, but without limits. Then the workload's reference is computed, in
memory that no variant can read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias

import numpy as np

from gevolve.device.base import Limits, Usage
from gevolve.errors import DeviceError, WorkloadError
from gevolve.evaluate.child.main import Comparison, Problem, compute_reference
from gevolve.evaluate.child.process import FAILURES, Child, ChildEndedError, ChildFailedError
from gevolve.evaluate.child.runner import Runner, persist
from gevolve.evaluate.child.start import start
from gevolve.evaluate.child.timing import QUICK
from gevolve.evaluate.protocol import CaseRun, Header, Prepared, Ran, Timed
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import checks, judge, rounding
from gevolve.evaluate.worker.meter import Meter, either, meter, meter_alike
from gevolve.evaluate.worker.outputs import Outputs
from gevolve.system import linux
from gevolve.workload.base import Array, Split
from gevolve.workload.error import AGREES

_RETRIES = 2
"""A real device may fail for reasons of its own this many times."""
_SLOW = 1.5
"""The time of a variant this many times slower than the unedited program may be an estimate."""
_Results: TypeAlias = tuple[list[tuple[Outputs, Usage]], list[Timed], bool, int]
"""Outputs, usage and time of every case; whether it is reproducible; growth of the address space."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a variant must give for one case, and what it may use."""

    want: Mapping[str, Array]
    """The reference, by output."""
    headers: tuple[Header, ...]
    """Names, types and shapes of the outputs, as the unedited program gives them."""
    outputs: tuple[Outputs, ...]
    """Memory for the outputs of a variant: of its plain run, and of any other."""
    changed: frozenset[int]
    """Uploaded buffers that the unedited program itself writes to."""
    limits: Limits
    share: float
    """The weight of this case in the total time."""


@dataclass(frozen=True, slots=True)
class Unedited:
    """What is known of the unedited program on a split."""

    expected: list[Expected]
    checks: checks.Checks
    meter: Meter
    exact: bool
    """Whether it gives the same outputs each time, bit for bit."""
    kernels: tuple[str, ...]
    """The kernels that it launches."""
    memory: int
    """Bytes by which the address space of a variant's process may grow."""
    modelled: bool
    """Whether times are the device's model, and not of a clock."""
    doubt: str
    """Why its reference is not believed, and variants are compared with the program alone."""
    remarks: tuple[str, ...]
    """What the device says of its runs, to stand beside results."""
    lines: Mapping[str, float]
    """The time of the last case by source line, where the device knows it."""


class BaselineRun:
    """Runs the unedited program; each step may take `seconds`."""

    def __init__(
        self,
        problem: Problem,
        runner: Runner,
        *,
        seconds: float,
        main: int | None,
    ) -> None:
        self._problem = problem
        self._runner = runner
        self._seconds = seconds
        self._main = main

    def learn(self, artefact: bytes, split: Split) -> Unedited:
        """Run it on all cases and in the device's checks; then compute the reference."""
        results, times, exact, growth = self._run_with_retries(artefact)
        launched = (kernel for _, usage in results for kernel in usage.kernels)
        kernels = tuple(dict.fromkeys(launched))
        names, everywhere = checks.wanted(self._problem.device, split)
        found = persist(
            lambda: checks.learn(
                self._problem,
                artefact,
                results if everywhere else results[:1],
                names,
                seconds=self._seconds,
                runner=self._runner,
            )
        )
        self._problem.device.warm(artefact, kernels, tuple(found.by_name))
        references = persist(lambda: self._compute_reference(split))
        meter = persist(lambda: self._meter(results, found, split, references))
        doubt = self._doubt(results, references, meter) if split == "large" else ""
        references = None if doubt else references
        self._runner.end()
        return Unedited(
            expected=self._expect(results, times, references, meter),
            checks=found.settled(meter),
            meter=meter,
            exact=exact,
            kernels=kernels,
            memory=2 * max(growth, found.growth) + (256 << 20),
            doubt=doubt,
            modelled=all(one.modelled for one in times),
            remarks=tuple(dict.fromkeys(usage.remark for _, usage in results if usage.remark)),
            lines=times[-1].lines if times else {},
        )

    def profile(self, artefact: bytes) -> dict[str, float]:
        """How often each block runs on the smallest case; the artefact counts with a mark in each."""
        return persist(lambda: self._profile(artefact))

    def _profile(self, artefact: bytes) -> dict[str, float]:
        run = CaseRun(0, Limits(), timed=False)
        with self._runner.run(artefact, [run], seconds=self._seconds) as child:
            try:
                child.expect(Prepared)
                child.go()
                marks = child.expect(Ran).usage.marks
            except FAILURES as failure:
                self._refuse("the program with a mark in every block fails", failure, 0)
        return {block: float(count) for block, count in marks.items()}

    def _run_with_retries(self, artefact: bytes) -> _Results:
        """As `_run`, repeated if a real device fails."""
        for _ in range(0 if self._problem.device.deterministic else _RETRIES):
            try:
                return persist(lambda: self._run(artefact))
            except WorkloadError:
                self._runner.end()
        return persist(lambda: self._run(artefact))

    def _run(self, artefact: bytes) -> _Results:
        """Run it on every case, and once more on the smallest if the device is not deterministic."""
        problem, results = self._problem, list[tuple[Outputs, Usage]]()
        times: list[Timed] = []
        plan = [CaseRun(case, Limits(), itemized=True) for case in range(len(problem.cases))]
        if not problem.device.deterministic:
            plan.append(CaseRun(0, Limits(), timed=False))
        before = linux.address_space()
        with self._runner.run(artefact, plan, seconds=self._seconds) as child:
            try:
                child.expect(Prepared)
                for run in plan:
                    child.go()
                    ran = child.expect(Ran)
                    results.append((_receive(child, ran), ran.usage))
                    if run.timed:
                        child.go()
                        times.append(child.expect(Timed))
                growth = child.peak_address_space() - before
            except FAILURES as failure:
                self._refuse("the unedited program fails", failure, len(results))
        exact = True
        if len(results) > len(problem.cases):
            again, _ = results.pop()
            exact = judge.same(results[0][0].arrays, again.arrays)
        return results, times, exact, growth

    def _meter(
        self,
        results: list[tuple[Outputs, Usage]],
        found: checks.Checks,
        split: Split,
        references: list[Outputs] | None = None,
    ) -> Meter:
        """How variants are compared with it: by its own rounding, unless the workload says otherwise."""
        problem, plain = self._problem, [outputs.arrays for outputs, _ in results]
        rounded = problem.workload.rounding != 0 and rounding.rounds(problem, plain[0])
        if not rounded:
            return meter(problem, plain, [[] for _ in plain], rounds=False)
        if split == "large":
            rerounded: rounding.Rerounded = [[] for _ in plain]
            first = self._meter_of_large(plain)
        else:
            rerounded = rounding.reround(
                problem,
                results,
                seeds=(1, 2)[: 2 if split == "search" else 1],
                check=[None, *found.by_name][-1],
                seconds=self._seconds,
                runner=self._runner,
            )
            first = meter(problem, plain, rerounded, rounds=True)
        # What it gives in another order of its threads, and what its reference has otherwise, is rounding
        # as well, if it is of that size.
        orders: rounding.Rerounded = [found.others(case) for case in range(len(plain))]
        first = _widened(problem, first, plain, rerounded, orders)
        if references is None:
            return first
        wanted: rounding.Rerounded = [[one.arrays] for one in references]
        return _widened(problem, first, plain, rerounded, wanted)

    def _meter_of_large(self, plain: list[dict[str, Array]]) -> Meter:
        """How the outputs of a large case are compared: as those of the search cases."""
        problem = self._problem
        small = replace(problem, cases=problem.workload.cases("search"))
        artefact = problem.device.build(problem.program.text)
        runner = Runner(small, Comparison(artefact, QUICK), self._main, isolated=True)
        alike = BaselineRun(small, runner, seconds=self._seconds, main=self._main)
        results, _, _, _ = alike._run_with_retries(artefact)
        known = alike._meter(results, checks.Checks(small), "held-out")
        runner.end()
        return meter_alike(problem, plain, known, [outputs.arrays for outputs, _ in results])

    def _compute_reference(self, split: Split) -> list[Outputs] | None:
        """The workload's own reference for every case; None if it has none.

        On varied cases that was looked at before: variants must do there what the unedited program does.
        """
        reference = self._problem.workload.reference
        if reference is None or split == "varied":
            return None
        results: list[Outputs] = []
        with start(
            lambda channel: compute_reference(channel, self._problem, reference),
            seconds=self._seconds,
            main=self._main,
        ) as child:
            try:
                for _ in self._problem.cases:
                    results.append(_receive(child, child.expect(Ran)))
                    child.go()
            except FAILURES as failure:
                self._refuse("reference() fails", failure, len(results))
        return results

    def _expect(
        self,
        results: list[tuple[Outputs, Usage]],
        times: list[Timed],
        references: list[Outputs] | None,
        meter: Meter,
    ) -> list[Expected]:
        expected: list[Expected] = []
        certain = self._problem.device.deterministic or all(one.modelled for one in times)
        whole = 1.0 if certain else sum(one.unit for one in times)
        for case, (outputs, usage) in enumerate(results):
            want = references[case] if references else outputs
            if references:
                self._check_shapes(case, outputs, want)
                if meter.measured:
                    self._check_reference(case, outputs, want, meter)
                    want = outputs
            else:
                self._check_numbers(case, outputs)
            expected.append(
                Expected(
                    want={name: want.arrays[name] for name in outputs.arrays},
                    headers=outputs.headers,
                    outputs=(Outputs(outputs.headers), Outputs(outputs.headers)),
                    changed=frozenset(usage.changed),
                    limits=_limits(usage, times[case]),
                    share=times[case].unit / whole,
                )
            )
        return expected

    def _check_reference(self, case: int, got: Outputs, want: Outputs, meter: Meter) -> None:
        """The reference says whether the program is right; variants are then compared with the program."""
        if why := _difference(case, got, want, meter):
            raise WorkloadError(
                f"{self._problem.workload.name}: the unedited program differs from its own reference"
                f" ({why}); correct the kernel or reference(), or set `rounding`"
            )

    def _doubt(
        self,
        results: list[tuple[Outputs, Usage]],
        references: list[Outputs] | None,
        meter: Meter,
    ) -> str:
        """How the program differs from its reference on a case that comes too late to end a run for it."""
        for case, want in enumerate(references or ()):
            self._check_shapes(case, results[case][0], want)
            if why := _difference(case, results[case][0], want, meter):
                return (
                    f"On the large case the unedited program differs from its own reference ({why});"
                    " variants are compared with the program there."
                )
        return ""

    def _check_shapes(self, case: int, outputs: Outputs, want: Outputs) -> None:
        given, named = (
            {h.name: h.shape for h in outputs.headers},
            {h.name: h.shape for h in want.headers},
        )
        for name in given.keys() | named.keys():
            if given.get(name) != named.get(name):
                raise WorkloadError(
                    f"{self._problem.workload.name}: on case {case}, run() gives output {name} the"
                    f" shape {given.get(name)} and reference() {named.get(name)}; make them agree"
                )

    def _check_numbers(self, case: int, outputs: Outputs) -> None:
        """A NaN that no reference asks for most likely comes from uninitialized memory."""
        for name, array in outputs.arrays.items():
            if array.dtype.kind in "fc" and np.isnan(array).any():
                raise WorkloadError(
                    f"{self._problem.workload.name}: the unedited program gives NaN in output {name}"
                    f" of case {case}; initialise what it reads or, if that is right, define"
                    " reference()"
                )

    def _refuse(self, what: str, failure: Exception, case: int) -> NoReturn:
        if isinstance(failure, ChildEndedError) and failure.killed:
            raise failure  # which says nothing of the program
        if isinstance(failure, ChildFailedError) and failure.message.how == "device":
            raise DeviceError(failure.message.detail) from failure
        fault = judge.fault_of(failure, self._seconds)
        late = fault.verdict is Verdict.TIMEOUT
        remedy = "; see whether it ends at all, or make the cases smaller" if late else ""
        raise WorkloadError(
            f"{self._problem.workload.name}: {what} on case {case}"
            f" ({fault.verdict}: {fault.detail}){remedy}"
        ) from failure


def _widened(
    problem: Problem,
    known: Meter,
    plain: list[dict[str, Array]],
    rerounded: rounding.Rerounded,
    others: rounding.Rerounded,
) -> Meter:
    """A meter that calls rounding what other runs have otherwise, by case, if all of it is of that size."""
    pairs = [(case, got) for case, runs in enumerate(others) for got in runs]
    if not pairs or not all(known.is_near(case, got, plain[case]) for case, got in pairs):
        return known
    together = [[*some, *more] for some, more in zip(rerounded, others, strict=True)]
    return either(known, meter(problem, plain, together, rounds=True))


def _difference(case: int, got: Outputs, want: Outputs, meter: Meter) -> str:
    """How outputs differ from the reference by more than rounding; empty if they do not."""
    where = f"case {case}"
    try:
        error = meter.error(case, got.arrays, want.arrays, where)
        judge.check_error(error, max(meter.rounding, AGREES), where)
    except judge.Fault as fault:
        return fault.detail
    return ""


def _limits(usage: Usage, timed: Timed) -> Limits:
    """What a variant may use, and from which time on an estimate of it will do."""
    limits = Limits.like(usage)
    if not timed.estimate:
        return limits
    return replace(limits, enough=_SLOW * timed.time, scale=timed.time / timed.estimate)


def _receive(child: Child, ran: Ran) -> Outputs:
    outputs = Outputs(ran.outputs)
    outputs.fill(child.fill)
    return outputs
