"""The device's checks: a case is run again in other ways that must give the same outputs.

A device may be able to run a kernel so that hidden faults show: with its threads in another order, or
with every access watched for races. The unedited program is checked first; a variant may do what the
unedited program does, and no more. During a search that is done on the smallest case; what is reported is
checked on every case.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gevolve.device.base import Device, Hazard, Limits, Usage
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.child.process import FAILURES, Child, ChildEndedError, ChildFailedError
from gevolve.evaluate.child.runner import Runner
from gevolve.evaluate.protocol import CaseRun, Prepared, Ran
from gevolve.evaluate.stopwatch import Stopwatch
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.meter import Meter
from gevolve.evaluate.worker.outputs import Outputs
from gevolve.system import linux
from gevolve.workload.base import Array, Split
from gevolve.workload.error import AGREES, rough_error

REPORTED: tuple[Split, ...] = ("held-out", "fresh")
"""Splits on which what will be reported is checked in full, on every case."""

_INDEPENDENT = (
    *(Verdict.MEMORY, Verdict.TIMEOUT, Verdict.DIVERGENT_BARRIER),
    *(Verdict.UNINITIALIZED, Verdict.RACE, Verdict.STALE),
)
"""Verdicts that do not mean that the outcome depends on the order of threads."""


@dataclass(frozen=True, slots=True)
class Check:
    """One of the device's checks on one case, and what the unedited program does in it."""

    name: str
    exact: bool
    """Whether the unedited program's outputs are the same as in a plain run, bit for bit."""
    hazards: tuple[Hazard, ...]
    limits: Limits
    other: Mapping[str, Array] | None = None
    """The unedited program's outputs in it, if they are not."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a check saw of a variant that passed it."""

    doubts: tuple[str, ...] = ()
    """Other checks that it calls for."""
    unsure: str = ""
    """Why its time is not to be relied on, if it is not."""


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of a device that the unedited program passes itself, by case."""

    problem: Problem
    cases: tuple[Mapping[str, Check], ...] = ()
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

    @property
    def by_name(self) -> Mapping[str, Check]:
        """Those of the smallest case."""
        return self.cases[0] if self.cases else {}

    def others(self, case: int) -> list[Mapping[str, Array]]:
        """What the unedited program gives on a case with its threads in other orders, where that differs."""
        checks = [check for one in self.cases[case : case + 1] for check in one.values()]
        return [check.other for check in checks if check.other is not None]

    def settled(self, meter: Meter) -> "Checks":
        """The same with how outputs are compared, and without those that were only needed to find that out."""
        cases = [
            {name: replace(check, other=None) for name, check in one.items()} for one in self.cases
        ]
        return replace(self, cases=tuple(cases), meter=meter)

    def runs(self, case: int, *, first: bool) -> list[CaseRun]:
        """The runs that a variant has to make on a case: those that all have to make, or the others."""
        device = self.problem.device
        return [
            CaseRun(case, check.limits, check=name, timed=False)
            for checks in self.cases[case : case + 1]
            for name, check in checks.items()
            if (name == device.checks[0] or name in device.on_doubt) is first
        ]

    def skips(
        self, name: str, time: float, par: float, doubts: Collection[str] = (), case: int = 0
    ) -> bool:
        """Whether a variant of this time need not pass a check; all must pass the first.

        A variant that is no faster than `par` is never reported, and so not worth the cost. What is
        made only on doubt is made if nothing could tell whether there is any.
        """
        first = self.problem.device.checks[0]
        if name in self.problem.device.on_doubt:
            return first in self.cases[case] and name not in doubts
        return time >= par and name != first

    def judge(
        self,
        run: CaseRun,
        child: Child,
        stopwatch: Stopwatch,
        outputs: tuple[Outputs, ...],
        where: str,
    ) -> Seen:
        """Judge one run of a variant by its plain outputs, the first of `outputs`."""
        assert run.check is not None
        check, (plain, got) = self.cases[run.case][run.check], outputs
        try:
            ran = child.expect(Ran)
            stopwatch.add(ran.seconds)
            with stopwatch("judge"):
                judge.check_headers(ran.outputs, plain.headers, where)
                got.fill(child.fill)
                judge.check_hazards(ran.usage.hazards, check.hazards, where)
                here = f"{where}, check {check.name}"
                if check.exact and check.name not in self.problem.device.rough:
                    judge.check_order(plain.arrays, got.arrays, here)
                else:
                    assert self.meter is not None
                    _check_close(self.meter.near(run.case, got.arrays, plain.arrays, here), here)
        except (judge.Fault, ChildFailedError) as failure:
            raise _blame_order(judge.fault_of(failure, 0.0), check) from None
        unsure = judge.unsure(ran.usage.hazards, check.hazards)
        return Seen(ran.usage.doubts, unsure)


def wanted(device: Device, split: Split) -> tuple[tuple[str, ...], bool]:
    """The checks that are made on a split, and whether on all of its cases or on the smallest."""
    if split == "large":  # too large to run it in every order
        return tuple(
            n for n in device.checks if n == device.checks[0] or n in device.on_doubt
        ), True
    return device.checks, split in REPORTED


def learn(
    problem: Problem,
    artefact: bytes,
    plain: Sequence[tuple[Outputs, Usage]],
    names: Iterable[str],
    *,
    seconds: float,
    runner: Runner,
) -> Checks:
    """Run the unedited program in some checks, given its plain outputs and usage on each case.

    A check that it fails itself is left out: it depends on the usual order of threads, and so may
    its variants.
    """
    left = [
        CaseRun(case, _patient(usage), check=name, timed=False)
        for case, (_, usage) in enumerate(plain)
        for name in names
    ]
    cases: list[dict[str, Check]] = [{} for _ in plain]
    failed: dict[str, str] = {}
    growth = 0
    while left:  # one that fails ends what its child was asked for
        before, asked = linux.address_space(), len(left)
        name = ""
        with runner.run(artefact, list(left), seconds=seconds) as child:
            try:
                child.expect(Prepared)
                while left:
                    run = left.pop(0)
                    name = run.check or ""
                    cases[run.case][name] = _learn(problem, child, run, *plain[run.case])
                    growth = max(growth, child.peak_address_space() - before)
            except (judge.Fault, *FAILURES) as failure:
                if isinstance(failure, ChildEndedError) and failure.killed:
                    raise  # which says nothing of the program
                fault = judge.fault_of(failure, seconds)
                failed.setdefault(name, f"{fault.verdict}: {fault.detail}")
        if len(left) == asked:  # it cannot even be prepared
            break
    return Checks(problem, tuple(map(_alike(cases), cases)), growth, failed=failed)


def _alike(
    cases: Sequence[Mapping[str, Check]],
) -> Callable[[Mapping[str, Check]], Mapping[str, Check]]:
    """What changes the rounding on one case may do so on any, though there it happened not to."""
    rounds = {name for checks in cases for name, check in checks.items() if not check.exact}
    return lambda checks: {
        name: replace(check, exact=check.exact and name not in rounds)
        for name, check in checks.items()
    }


def _patient(usage: Usage) -> Limits:
    usual = Limits.like(usage)
    # Threads that spin in a bad order would do so for ever.
    return replace(usual, fuel=16 * usual.fuel + 1_000_000)


def _learn(problem: Problem, child: Child, run: CaseRun, plain: Outputs, usage: Usage) -> Check:
    """What the unedited program does in one check on one case."""
    assert run.check is not None
    child.go()
    ran = child.expect(Ran)
    judge.check_headers(ran.outputs, plain.headers, run.check)
    got = Outputs(ran.outputs)
    got.fill(child.fill)
    exact = judge.same(plain.arrays, got.arrays)
    if not exact:
        _check_close(_rough_difference(problem, got, plain), run.check)
    usual = Limits.like(usage)
    fuel = max(usual.fuel, Limits.like(ran.usage).fuel)
    other = None if exact else got.arrays
    return Check(run.check, exact, ran.usage.hazards, replace(usual, fuel=fuel), other)


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
