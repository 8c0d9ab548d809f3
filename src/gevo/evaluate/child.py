"""What a child does: it computes, sends what came out, and judges nothing.

Each task here runs in a forked child of a worker (see `sandbox`), after each run waiting for the
worker's leave to do the next, so that a variant that is already found wanting costs no more. What
runs has been built by the worker: LLVM is safe enough to be called there, and the pages that it
touches need not be copied for every variant.
"""

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gevo.device import Device, Limits, Stopped, Usage
from gevo.errors import SourceError, one_line
from gevo.evaluate.clock import Clock
from gevo.evaluate.sandbox import Channel, last_words
from gevo.evaluate.wire import Failed, Header, Ran, Timed, named_arrays
from gevo.find import line_of
from gevo.patch import Patch
from gevo.program import Program
from gevo.workload import Case, KernelWorkload


@dataclass(frozen=True, slots=True)
class Bench:
    """All that a child inherits: everything but the expected outputs."""

    workload: KernelWorkload
    program: Program
    device: Device
    cases: Sequence[Case]


class Run(NamedTuple):
    """One run of an artefact: on which case, with what limits, and how."""

    case: int
    limits: Limits
    poison: int = 0
    check: str | None = None
    """One of the device's checks."""


def limits_of(usage: Usage) -> Limits:
    """What a variant may use, given what the unedited program does."""
    return Limits(
        fuel=4 * usage.fuel + 1000,
        launches=4 * usage.launches + 100,
        memory=2 * usage.memory + (64 << 20),
    )


def try_artefact(channel: Channel, bench: Bench, artefact: bytes, runs: Sequence[Run]) -> None:
    """Do all runs of an artefact."""
    clock = Clock()
    clock.add({"fork": channel.forked})
    with _failures_told(channel, clock, bench.workload):
        for number, run in enumerate(runs):
            if number:
                channel.wait()
            _run(channel, clock, bench, artefact, run)
        channel.wait()  # to be looked at, and then killed


def try_build(channel: Channel, bench: Bench, patch: Patch, kernels: Sequence[str]) -> None:
    """Build a variant and do nothing with it."""
    clock = Clock()
    with _failures_told(channel, clock, bench.workload):
        text = bench.program.apply(patch).text
        if bench.program.verify(text) is None:
            bench.device.prepare(bench.device.build(text), kernels)
        channel.send(Ran([], Usage(), clock.take()))


def refer(channel: Channel, bench: Bench, reference: Callable[[Case], object]) -> None:
    """Compute the workload's own reference for every case."""
    clock = Clock()
    with _failures_told(channel, clock, bench.workload):
        for case in bench.cases:
            named = named_arrays(reference(case))
            headers = [Header.of(name, array) for name, array in named.items()]
            channel.send(Ran(headers, Usage(), clock.take()), list(named.values()))
            channel.wait()


def _run(channel: Channel, clock: Clock, bench: Bench, artefact: bytes, run: Run) -> None:
    with clock("open"):
        gpu = bench.device.open(artefact, run.limits, poison=run.poison, check=run.check)
    with clock("check" if run.check else "run"):
        named = named_arrays(bench.workload.run(gpu, bench.cases[run.case]))
        usage = gpu.usage(timed=False)
    headers = [Header.of(name, array) for name, array in named.items()]
    channel.send(Ran(headers, usage, clock.take()), list(named.values()))
    if not run.check:
        channel.wait()
        with clock("run"):
            time = gpu.usage().time
        channel.send(Timed(time, clock.take()))
    gpu.close()


@contextmanager
def _failures_told(channel: Channel, clock: Clock, workload: KernelWorkload) -> Generator[None]:
    """Tell the worker how the child failed, in place of what it was waiting for."""
    try:
        yield
    except MemoryError:
        last_words()
        channel.send(Failed("memory", "out of memory", clock.take()))
    except Stopped as stopped:
        channel.send(Failed(stopped.verdict, str(stopped), clock.take()))
    except SourceError as error:
        channel.send(Failed("compile", str(error), clock.take()))
    except Exception as error:  # noqa: BLE001  (host code may raise anything; all of it is an answer)
        channel.send(Failed("raised", _blame(error, workload), clock.take()))


def _blame(error: Exception, workload: KernelWorkload) -> str:
    file = Path(inspect.getfile(type(workload)))
    line = line_of(error, file)
    return f"{one_line(error)} ({file.name}:{line})" if line else one_line(error)
