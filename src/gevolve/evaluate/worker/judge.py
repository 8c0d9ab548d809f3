"""Decides verdicts: pure functions from outputs and failures to a `Fault`, or to none."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from gevolve.device.base import UNSURE, Hazard
from gevolve.errors import one_line
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.child.process import ChildEndedError, ChildFailedError, DeadlineError
from gevolve.evaluate.protocol import Header
from gevolve.evaluate.verdict import Verdict, killed_often, signal_name
from gevolve.workload.base import Array
from gevolve.workload.error import share_off as share_off_in

_HOW = {
    "compile": Verdict.COMPILE,
    "fuel": Verdict.FUEL,
    "memory": Verdict.MEMORY,
    "crash": Verdict.CRASH,
    "timeout": Verdict.TIMEOUT,
    "raised": Verdict.CRASH,
    "divergent-barrier": Verdict.DIVERGENT_BARRIER,
    "race": Verdict.RACE,
    "stale": Verdict.STALE,
}
_HAZARDS = (Verdict.DIVERGENT_BARRIER, Verdict.RACE, Verdict.STALE, Verdict.UNINITIALIZED)
"""Verdicts for hazards, the most informative first."""
_LONGEST = 300


class Fault(Exception):  # noqa: N818  (a verdict on a variant, not a mistake of the caller)
    """What is wrong with a variant: a verdict other than `ok`, and one line of detail."""

    def __init__(self, verdict: Verdict, detail: str) -> None:
        detail = " ".join(detail.split())
        super().__init__(detail if len(detail) <= _LONGEST else detail[: _LONGEST - 1] + "…")
        self.verdict = verdict

    @property
    def detail(self) -> str:
        return str(self)


def fault_of(error: Exception, seconds: float) -> Fault:
    """The verdict on a variant whose child failed, ended, was late or sent garbage."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, ChildFailedError):
        return Fault(_HOW.get(error.message.how, Verdict.CRASH), error.message.detail)
    if isinstance(error, DeadlineError):
        return Fault(Verdict.TIMEOUT, f"not done after {seconds:.3g} s")
    if isinstance(error, ChildEndedError) and error.killed:
        return Fault(Verdict.MEMORY, killed_often("its process"))
    if isinstance(error, ChildEndedError):
        return Fault(Verdict.CRASH, _ending(error))
    return Fault(Verdict.CRASH, f"spoiled its channel: {error}")


def _ending(gone: ChildEndedError) -> str:
    if gone.status is None:
        how = "closed its channel"
    elif gone.status < 0:
        how = signal_name(-gone.status)
    else:
        how = f"exited with status {gone.status} before it was done"
    return f"{how}: {gone.tail}" if gone.tail else how


def check_valid(why: str | None) -> None:
    """The IR's own verifier must accept a variant; `why` is its complaint."""
    if why is not None:
        raise Fault(Verdict.INVALID, why)


def check_time(time: float) -> None:
    """A time that is not a finite number comes from a device whose memory was corrupted."""
    if not (math.isfinite(time) and time >= 0):
        raise Fault(Verdict.CRASH, f"its time is {time}")


def check_headers(got: Sequence[Header], want: Sequence[Header], where: str) -> None:
    """The outputs must have the names, types and shapes of the unedited program's."""
    if list(got) == list(want):
        return
    for g, w in zip(got, want, strict=False):
        if g != w:
            raise Fault(Verdict.WRONG, f"{where}: output {g.name} is {_show(g)}, not {_show(w)}")
    raise Fault(Verdict.WRONG, f"{where}: {len(got)} outputs, not {len(want)}")


def _show(header: Header) -> str:
    return f"{header.dtype}{list(header.shape[:8])}"


def check_inputs(changed: Iterable[int], allowed: Iterable[int], where: str) -> None:
    """A variant must not write to inputs that the unedited program does not write to."""
    extra = sorted(set(changed) - set(allowed))
    if extra:
        raise Fault(Verdict.INPUTS_CHANGED, f"{where}: it wrote to uploaded buffer {extra[0]}")


def check_same(first: Mapping[str, Array], second: Mapping[str, Array], where: str) -> None:
    """Two runs that differ only in the poison of empty memory must agree bit for bit."""
    for name, differ in _differences(first, second):
        raise Fault(
            Verdict.FLAKY,
            f"{where}: {differ} bytes of output {name} depend on uninitialised memory, on where"
            " buffers lie, or on chance",
        )


def check_order(first: Mapping[str, Array], second: Mapping[str, Array], where: str) -> None:
    """Two runs that differ only in the order of threads must agree bit for bit."""
    for name, differ in _differences(first, second):
        raise Fault(Verdict.RACE, f"{where}: {differ} bytes of output {name} change with the order")


def same(first: Mapping[str, Array], second: Mapping[str, Array]) -> bool:
    """Whether two runs gave the same outputs, bit for bit."""
    return not any(_differences(first, second))


def _differences(
    first: Mapping[str, Array], second: Mapping[str, Array]
) -> Iterator[tuple[str, int]]:
    """The outputs that differ, and in how many bytes."""
    for name, array in first.items():
        differ = int(np.count_nonzero(_bits(array) != _bits(second[name])))
        if differ:
            yield name, differ


def check_hazards(found: Iterable[Hazard], known: Iterable[Hazard], where: str) -> None:
    """A hazard that the unedited program does not have at the same place is a fault."""
    fresh = _fresh(found, known)
    for verdict in _HAZARDS:
        for hazard in fresh:
            if hazard.kind == verdict.value:
                raise Fault(verdict, f"{where}: {hazard.kernel}: {hazard.detail}")


def unsure(found: Iterable[Hazard], known: Iterable[Hazard]) -> str:
    """Why a time cannot be relied on, though that of the unedited program can; "" if it can."""
    fresh = (hazard for hazard in _fresh(found, known) if hazard.kind == UNSURE)
    return next((f"{hazard.kernel}: {hazard.detail}" for hazard in fresh), "")


def _fresh(found: Iterable[Hazard], known: Iterable[Hazard]) -> list[Hazard]:
    allowed = list(known)
    return [hazard for hazard in found if not any(_alike(hazard, one) for one in allowed)]


def _alike(a: Hazard, b: Hazard) -> bool:
    """Whether two hazards may be the same one; an unknown place matches any."""
    if (a.kind, a.kernel, len(a.where)) != (b.kind, b.kernel, len(b.where)):
        return False
    return _matches(a.where, b.where) or _matches(a.where, (b.where[0], *b.where[:0:-1]))


def _matches(a: Sequence[str], b: Sequence[str]) -> bool:
    return all(
        x == y or (("?" in (x[-1:], y[-1:])) and x.split()[0] == y.split()[0])
        for x, y in zip(a, b, strict=True)
    )


def _bits(array: Array) -> Array:
    """The bytes of an array, with one representation for all NaNs."""
    if array.dtype.kind in "fc" and np.isnan(array).any():
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def measure_error(
    got: Mapping[str, Array],
    want: Mapping[str, Array],
    measure: Callable[[Mapping[str, Array], Mapping[str, Array]], float],
    where: str,
) -> float:
    """The error of the outputs of a case, after non-finite outputs were rejected."""
    return measure_errors(got, want, lambda g, w: [measure(g, w)], where)[0]


def measure_errors(
    got: Mapping[str, Array],
    want: Mapping[str, Array],
    measure: Callable[[Mapping[str, Array], Mapping[str, Array]], Sequence[float]],
    where: str,
) -> list[float]:
    """The errors of the parts of a case, after non-finite outputs were rejected."""
    pairs = {
        name: _finite(array, want[name], f"{where}: output {name}") for name, array in got.items()
    }
    try:
        errors = measure(
            {n: pair[0] for n, pair in pairs.items()}, {n: p[1] for n, p in pairs.items()}
        )
        return [float(error) for error in errors]
    except Exception as raised:
        raise Fault(Verdict.CRASH, f"{where}: error() raised {one_line(raised)}") from raised


def share_off(got: Mapping[str, Array], want: Mapping[str, Array]) -> float:
    """The share of all elements that differ by more than a tenth."""
    size = sum(array.size for array in want.values())
    return sum(share_off_in(got[name], want[name]) * want[name].size for name in got) / max(1, size)


def error_of(
    problem: Problem, case: int, got: Mapping[str, Array], want: Mapping[str, Array], where: str
) -> float:
    """The error of the outputs of a case, as the workload measures it."""
    return measure_error(
        got, want, lambda g, w: problem.workload.measure(g, w, problem.cases[case]), where
    )


def check_near(error: float | None, where: str) -> None:
    """Two runs of a program that is not bitwise reproducible must agree up to rounding."""
    if error is not None:
        raise Fault(Verdict.FLAKY, f"{where}: two runs differ by {error:.3g}")


def _finite(got: Array, want: Array, where: str) -> tuple[Array, Array]:
    """An output and its reference, both finite; raises `Fault` where only one of them is."""
    fine_got, fine_want = np.isfinite(got), np.isfinite(want)
    if not fine_want.all():
        return _match_nonfinite(got, want, fine_got, fine_want, where)
    if not fine_got.all():
        raise Fault(
            Verdict.NONFINITE, f"{where} {_at(~fine_got, got)} where the reference is finite"
        )
    return got, want


def _match_nonfinite(
    got: Array, want: Array, fine_got: Array, fine_want: Array, where: str
) -> tuple[Array, Array]:
    """Where the reference is NaN or infinite the output must be the same; the rest is compared."""
    spoiled = fine_want & ~fine_got
    if spoiled.any():
        raise Fault(Verdict.NONFINITE, f"{where} {_at(spoiled, got)} where the reference is finite")
    with np.errstate(invalid="ignore"):
        differ = ~fine_want & ~((got == want) | (np.isnan(got) & np.isnan(want)))
    if differ.any():
        raise Fault(Verdict.WRONG, f"{where} {_at(differ, got)} where the reference is not finite")
    return np.where(fine_want, got, got.dtype.type(0)), np.where(
        fine_want, want, want.dtype.type(0)
    )


def _at(mask: Array, values: Array) -> str:
    index = np.unravel_index(int(np.argmax(mask)), mask.shape)
    place = ", ".join(str(int(i)) for i in index)
    return f"is {values[index]} at [{place}]"


def check_error(error: float, tolerance: float, where: str) -> None:
    """An error above the tolerance, or NaN, is wrong."""
    if not error <= tolerance:
        raise Fault(Verdict.WRONG, f"{where}: error {error:.3g} is above {tolerance:.3g}")
