"""The last steps of an evaluation: the smallest case once more, in other ways that must agree.

A device may know how to run a kernel so that what only happens to work comes to light: with its
threads in another order, or watched for accesses that nothing keeps apart. What the unedited program
does in such runs is learnt first. A variant may do that too, and no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gevolve.device.base import Hazard, Limits, Usage
from gevolve.evaluate.child import linux, sandbox, tasks
from gevolve.evaluate.child.runner import Runner, Running
from gevolve.evaluate.clock import Clock
from gevolve.evaluate.protocol import GarbledError, Ran, Run
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import judge
from gevolve.evaluate.worker.vault import Vault

_WHERE = "case 0"
_ORDERLY = (Verdict.MEMORY, Verdict.TIMEOUT, Verdict.DIVERGENT_BARRIER, Verdict.UNINITIALISED)
"""Verdicts that stay what they are when only a check brings them up."""
_FAILURES = (
    *(judge.Fault, GarbledError),
    *(sandbox.GaveUpError, sandbox.GoneError, sandbox.LateError),
)


@dataclass(frozen=True, slots=True)
class Check:
    """One more way to run the smallest case, and what the unedited program does in it."""

    name: str
    exact: bool
    """Whether the unedited program's outputs are the same as ever, bit for bit."""
    hazards: tuple[Hazard, ...]
    limits: Limits


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of a device that the unedited program passes itself."""

    bench: tasks.Bench
    named: Mapping[str, Check] = field(default_factory=dict[str, Check])
    growth: int = 0
    """The address space that they took."""

    def runs(self) -> list[Run]:
        """What a variant has to do, after all else."""
        return [
            Run(0, check.limits, check=check.name, timed=False) for check in self.named.values()
        ]

    def spares(self, name: str, time: float, par: float) -> bool:
        """Whether a variant of this time need not pass a check: all but the first are for the fast.

        What is no faster than `par` is not worth reporting, and so not worth the cost.
        """
        return time >= par and name != next(iter(self.named))

    def hear(self, name: str, running: Running, clock: Clock, rooms: tuple[Vault, ...]) -> None:
        """Judge one run of a variant by its plain outputs, which are in the first of the rooms."""
        check, (plain, got) = self.named[name], rooms
        try:
            ran = running.expect(Ran)
            clock.add(ran.seconds)
            with clock("judge"):
                judge.check_headers(ran.outputs, plain.headers, _WHERE)
                got.fill(running.fill)
                self._judge(check, ran.usage, got, plain)
        except (judge.Fault, sandbox.GaveUpError) as failure:
            raise _blame_order(judge.fault_of(failure, 0.0), check) from None

    def _judge(self, check: Check, usage: Usage, got: Vault, plain: Vault) -> None:
        judge.check_hazards(usage.hazards, check.hazards, _WHERE)
        where = f"{_WHERE}, check {check.name}"
        if check.exact:
            judge.check_order(plain.arrays, got.arrays, where)
        else:
            _check_close(self.bench, got, plain, where)


def learn(
    bench: tasks.Bench,
    artefact: bytes,
    plain: Vault,
    usage: Usage,
    *,
    seconds: float,
    runner: Runner,
) -> Checks:
    """See what the unedited program does in each check, given its plain outputs and usage.

    A check that it fails itself is left out: it relies on the usual order, and so may its variants.
    """
    named: dict[str, Check] = {}
    growth = 0
    usual = tasks.limits_of(usage)
    # Threads that spin in a bad order would do so for ever.
    limits = replace(usual, fuel=16 * usual.fuel + 1_000_000)
    for name in bench.device.checks:
        before = linux.address_space()
        run = Run(0, limits, check=name, timed=False)
        with runner.begin(artefact, [run], seconds=seconds) as running:
            try:
                running.ready(Clock())
                running.go()
                ran = running.expect(Ran)
                judge.check_headers(ran.outputs, plain.headers, name)
                got = Vault(ran.outputs)
                got.fill(running.fill)
                exact = judge.same(plain.arrays, got.arrays)
                if not exact:
                    _check_close(bench, got, plain, name)
            except _FAILURES:
                continue
            growth = max(growth, linux.peak_address_space(running.pid) - before)
        fuel = max(usual.fuel, tasks.limits_of(ran.usage).fuel)
        named[name] = Check(name, exact, ran.usage.hazards, replace(usual, fuel=fuel))
    return Checks(bench, named, growth)


def _check_close(bench: tasks.Bench, got: Vault, plain: Vault, where: str) -> None:
    """Where the order of threads may change the rounding, it may change no more than that."""
    error = judge.error_of(bench, 0, got.arrays, plain.arrays, where)
    if not error <= bench.workload.rounding:
        raise judge.Fault(Verdict.RACE, f"{where}: the output differs by {error:.3g}")


def _blame_order(fault: judge.Fault, check: Check) -> judge.Fault:
    """What goes wrong only in this check depends on the order of threads."""
    if fault.verdict in (*_ORDERLY, Verdict.RACE):
        return fault
    detail = f"{fault.verdict} only in the check {check.name}: {fault.detail}"
    return judge.Fault(Verdict.RACE, detail)
