"""The device's checks: the smallest case is run again in other ways that must give the same outputs.

A device may be able to run a kernel so that hidden faults show: with its threads in another order, or
with every access watched for races. The unedited program is checked first; a variant may do what the
unedited program does, and no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gevolve.device.base import Hazard, Limits, Usage
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.child.process import (
    FAILURES,
    Child,
    ChildEndedError,
    ChildFailedError,
    Runner,
)
from gevolve.evaluate.protocol import CaseRun, Prepared, Ran
from gevolve.evaluate.stopwatch import Stopwatch
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.meter import Meter
from gevolve.evaluate.worker.outputs import Outputs
from gevolve.system import linux
from gevolve.workload.error import AGREES, rough_error

_WHERE = "case 0"
_INDEPENDENT = (
    *(Verdict.MEMORY, Verdict.TIMEOUT, Verdict.DIVERGENT_BARRIER),
    *(Verdict.UNINITIALIZED, Verdict.RACE),
)
"""Verdicts that do not mean that the outcome depends on the order of threads."""


@dataclass(frozen=True, slots=True)
class Check:
    """One of the device's checks, and what the unedited program does in it."""

    name: str
    exact: bool
    """Whether the unedited program's outputs are the same as in a plain run, bit for bit."""
    hazards: tuple[Hazard, ...]
    limits: Limits


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of a device that the unedited program passes itself."""

    problem: Problem
    by_name: Mapping[str, Check] = field(default_factory=dict[str, Check])
    growth: int = 0
    """Bytes by which they made the address space grow."""
    meter: Meter | None = None
    """How outputs are compared; known once the unedited program has passed them."""
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Checks that the unedited program does not pass itself, and why."""

    @property
    def unchecked(self) -> dict[str, str]:
        """What no variant is checked for, by check: the unedited program fails it, or has the hazard."""
        found = {
            name: f"the unedited program fails it itself ({why})"
            for name, why in self.failed.items()
        }
        for name, check in self.by_name.items():
            kinds = list(dict.fromkeys(hazard.kind for hazard in check.hazards))
            if kinds:
                first = check.hazards[0]
                found[name] = (
                    f"the unedited program itself has {len(check.hazards)} of kind"
                    f" {', '.join(kinds)} ({first.kernel}: {first.detail}), which variants may have too"
                )
        return found

    def runs(self) -> list[CaseRun]:
        """The runs that a variant has to make after the others."""
        return [
            CaseRun(0, check.limits, check=check.name, timed=False)
            for check in self.by_name.values()
        ]

    def skips(self, name: str, time: float, par: float) -> bool:
        """Whether a variant of this time need not pass a check; all must pass the first.

        A variant that is no faster than `par` is never reported, and so not worth the cost.
        """
        return time >= par and name != next(iter(self.by_name))

    def judge(
        self, name: str, child: Child, stopwatch: Stopwatch, outputs: tuple[Outputs, ...]
    ) -> None:
        """Judge one run of a variant by its plain outputs, the first of `outputs`."""
        check, (plain, got) = self.by_name[name], outputs
        try:
            ran = child.expect(Ran)
            stopwatch.add(ran.seconds)
            with stopwatch("judge"):
                judge.check_headers(ran.outputs, plain.headers, _WHERE)
                got.fill(child.fill)
                judge.check_hazards(ran.usage.hazards, check.hazards, _WHERE)
                where = f"{_WHERE}, check {check.name}"
                if check.exact:
                    judge.check_order(plain.arrays, got.arrays, where)
                else:
                    assert self.meter is not None
                    _check_close(self.meter.near(0, got.arrays, plain.arrays, where), where)
        except (judge.Fault, ChildFailedError) as failure:
            raise _blame_order(judge.fault_of(failure, 0.0), check) from None


def learn(
    problem: Problem,
    artefact: bytes,
    plain: Outputs,
    usage: Usage,
    *,
    seconds: float,
    runner: Runner,
) -> Checks:
    """Run the unedited program in each check, given its plain outputs and usage.

    A check that it fails itself is left out: it depends on the usual order of threads, and so may
    its variants.
    """
    passed: dict[str, Check] = {}
    failed: dict[str, str] = {}
    growth = 0
    usual = Limits.like(usage)
    # Threads that spin in a bad order would do so for ever.
    limits = replace(usual, fuel=16 * usual.fuel + 1_000_000)
    for name in problem.device.checks:
        before = linux.address_space()
        run = CaseRun(0, limits, check=name, timed=False)
        with runner.run(artefact, [run], seconds=seconds) as child:
            try:
                child.expect(Prepared)
                child.go()
                ran = child.expect(Ran)
                judge.check_headers(ran.outputs, plain.headers, name)
                got = Outputs(ran.outputs)
                got.fill(child.fill)
                exact = judge.same(plain.arrays, got.arrays)
                if not exact:
                    _check_close(_rough_difference(problem, got, plain), name)
                growth = max(growth, child.peak_address_space() - before)
            except (judge.Fault, *FAILURES) as failure:
                if isinstance(failure, ChildEndedError) and failure.killed:
                    raise  # which says nothing of the program
                fault = judge.fault_of(failure, seconds)
                failed[name] = f"{fault.verdict}: {fault.detail}"
                continue
        fuel = max(usual.fuel, Limits.like(ran.usage).fuel)
        passed[name] = Check(name, exact, ran.usage.hazards, replace(usual, fuel=fuel))
    return Checks(problem, passed, growth, failed=failed)


def _check_close(error: float | None, where: str) -> None:
    """The order of threads may change the rounding, and no more than that."""
    if error is not None:
        raise judge.Fault(Verdict.RACE, f"{where}: the output differs by {error:.3g}")


def _rough_difference(problem: Problem, got: Outputs, plain: Outputs) -> float | None:
    """How far two runs are apart, if by more than any rounding, which is not known yet."""
    pairs = ((array, plain.arrays[name]) for name, array in got.arrays.items())
    error = max(rough_error(*pair) for pair in pairs)
    given = problem.workload.rounding
    return None if error <= (AGREES if given is None else given) else error


def _blame_order(fault: judge.Fault, check: Check) -> judge.Fault:
    """What goes wrong only in this check depends on the order of threads."""
    if fault.verdict in _INDEPENDENT:
        return fault
    detail = f"{fault.verdict} only in the check {check.name}: {fault.detail}"
    return judge.Fault(Verdict.RACE, detail)
