"""The last steps of an evaluation: the smallest case once more, in other ways that must agree.

A device may know how to run a kernel so that what only happens to work comes to light: with its
threads in another order, or watched for accesses that nothing keeps apart. What the unedited program
does in such runs is learnt first. A variant may do that too, and no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gevo.device import Hazard, Limits
from gevo.evaluate import child, judge, linux, sandbox
from gevo.evaluate.vault import Vault
from gevo.evaluate.verdict import Verdict
from gevo.evaluate.wire import GarbledError, Ran

_ITS_OWN = (Verdict.MEMORY, Verdict.TIMEOUT)
"""Failures that say nothing of the order in which threads run."""


@dataclass(frozen=True, slots=True)
class Check:
    """One more way to run the smallest case, and what the unedited program does in it."""

    name: str
    exact: bool
    """Whether the unedited program's outputs are the same as ever, bit for bit."""
    hazards: tuple[Hazard, ...]
    limits: Limits


@dataclass(frozen=True, slots=True)
class Learnt:
    """The checks that the unedited program passes, and the address space that they took."""

    checks: tuple[Check, ...] = ()
    growth: int = 0


def learn(
    bench: child.Bench,
    artefact: bytes,
    outputs: Vault,
    *,
    seconds: float,
    main: int | None,
) -> Learnt:
    """See what the unedited program does in each check; one that it fails itself is left out."""
    learnt = Learnt()
    for name in bench.device.checks:
        learnt = _learn_one(learnt, name, bench, artefact, outputs, seconds, main)
    return learnt


def _learn_one(
    learnt: Learnt,
    name: str,
    bench: child.Bench,
    artefact: bytes,
    outputs: Vault,
    seconds: float,
    main: int | None,
) -> Learnt:
    run = child.Run(0, Limits(), check=name)
    before = linux.address_space()
    with sandbox.start(
        lambda channel: child.try_artefact(channel, bench, artefact, [run]),
        seconds=seconds,
        main=main,
    ) as running:
        try:
            ran = running.expect(Ran)
            judge.check_headers(ran.outputs, outputs.headers, name)
            got = Vault(ran.outputs)
            got.fill(running.fill)
        except (
            *(judge.Fault, GarbledError),
            *(sandbox.GaveUpError, sandbox.GoneError, sandbox.LateError),
        ):
            return learnt  # it relies on the usual order, and so may its variants
        growth = max(learnt.growth, linux.peak_address_space(running.pid) - before)
    exact = judge.same(outputs.arrays, got.arrays)
    try:
        if not exact:
            _check_close(got, outputs, bench, name)
    except judge.Fault:
        return learnt
    limits = child.limits_of(ran.usage)
    return Learnt((*learnt.checks, Check(name, exact, ran.usage.hazards, limits)), growth)


def judge_check(
    check: Check, ran: Ran, got: Vault, plain: Vault, bench: child.Bench, where: str
) -> None:
    """Raise `Fault` if a variant does in this check what the unedited program does not."""
    judge.check_hazards(ran.usage.hazards, check.hazards, where)
    if check.exact:
        judge.check_order(plain.arrays, got.arrays, f"{where}, threads {check.name}")
    else:
        _check_close(got, plain, bench, f"{where}, threads {check.name}")


def _check_close(got: Vault, plain: Vault, bench: child.Bench, where: str) -> None:
    """Where the order of threads may change the rounding, it may change no more than that."""
    workload = bench.workload
    error = judge.measure_error(got.arrays, plain.arrays, workload.error, where)
    if not error <= workload.rounding:
        raise judge.Fault(Verdict.RACE, f"{where}: the output differs by {error:.3g}")


def blame_order(fault: judge.Fault, check: Check) -> judge.Fault:
    """A run that fails only in this check depends on the order of threads."""
    if fault.verdict in (*_ITS_OWN, Verdict.RACE, Verdict.DIVERGENT_BARRIER, Verdict.UNINITIALISED):
        return fault
    return judge.Fault(
        Verdict.RACE, f"{fault.verdict} when threads run {check.name}: {fault.detail}"
    )


def runs_of(checks: Sequence[Check], limits: Limits) -> list[child.Run]:
    """The runs that a variant has to pass, with room for what it may use in the others."""
    return [
        child.Run(
            0, replace(check.limits, fuel=max(check.limits.fuel, limits.fuel)), check=check.name
        )
        for check in checks
    ]
