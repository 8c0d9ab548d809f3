"""What a child does: it computes, sends what came out, and judges nothing.

Each task here runs in a child of a worker (see `sandbox`), before each run waiting for the worker's
leave, so that a variant that is already found wanting costs no more. `try_artefact` is the life of a
fork that runs one artefact, which the worker has made ready; `serve` that of a child that lasts, which
makes ready what it is given.
"""

import gc
import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gevolve.device.base import Device, Handle, Limits, Poisoned, Stopped, Usage
from gevolve.errors import DeviceError, LaunchError, SourceError, one_line
from gevolve.evaluate.child.sandbox import Channel, Dropped, last_words
from gevolve.evaluate.child.turns import Precision, compare
from gevolve.evaluate.clock import Clock
from gevolve.evaluate.protocol import Failed, Header, Prepared, Ran, Run, Timed, Turn, named_arrays
from gevolve.patch import Patch
from gevolve.program import Program
from gevolve.workload.base import Case, Workload
from gevolve.workload.locate import line_of

_SLOW = 1.5
"""Where a variant takes so many times as long as the unedited program, who cares how long exactly?"""


@dataclass(frozen=True, slots=True)
class Bench:
    """All that a child inherits: everything but the expected outputs."""

    workload: Workload
    program: Program
    device: Device
    cases: Sequence[Case]


@dataclass(frozen=True, slots=True)
class Against:
    """What a variant is timed in turns with, where times vary, and how well."""

    unedited: bytes
    precision: Precision


def limits_of(usage: Usage, timed: Timed | None = None) -> Limits:
    """What a variant may use, given what the unedited program does, and how exact its time must be."""
    limits = Limits.like(usage)
    if timed is None or not timed.estimate:
        return limits
    return replace(limits, enough=_SLOW * timed.time, scale=timed.time / timed.estimate)


def try_artefact(channel: Channel, bench: Bench, turn: Turn, against: Against) -> None:
    """Do all runs of one artefact, which is ready to run."""
    clock = Clock()
    clock.add({"fork": channel.forked})
    with _failures_told(channel, clock, bench.workload):
        for run in turn.runs:
            channel.wait()
            _run(channel, clock, bench, turn.artefact, run, against)
        channel.wait()  # to be looked at, and then killed


def serve(channel: Channel, bench: Bench, against: Against) -> None:
    """Do the runs of one artefact after another, in a child that lasts."""
    gc.enable()
    forked = channel.forked
    while True:
        turn = channel.turn()
        clock = Clock()
        clock.add({"fork": forked})
        forked = 0.0
        with _failures_told(channel, clock, bench.workload), suppress(Dropped):
            with clock("compile"):
                bench.device.keep(against.unedited)
                bench.device.prepare(turn.artefact, turn.kernels)
            channel.send(Prepared(bench.device.fingerprint(turn.artefact), clock.take()))
            for run in turn.runs:
                channel.wait()
                _run(channel, clock, bench, turn.artefact, run, against)
            channel.wait()


def try_build(channel: Channel, bench: Bench, patch: Patch, kernels: Sequence[str]) -> None:
    """Build a variant and do nothing with it."""
    clock = Clock()
    with _failures_told(channel, clock, bench.workload):
        text = bench.program.apply(patch).text
        if bench.program.verify(text) is None:
            artefact = bench.device.build(text)
            if bench.device.isolated:
                bench.device.prepare(artefact, kernels)
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


def _run(
    channel: Channel, clock: Clock, bench: Bench, artefact: bytes, run: Run, against: Against
) -> None:
    with clock("open"):
        handle: Handle = bench.device.open(artefact, run.limits, poison=run.poison, check=run.check)
    with closing(handle):
        with clock("check" if run.check else "run"):
            named = named_arrays(bench.workload.run(handle, bench.cases[run.case]))
            usage = handle.usage(timed=False)
        headers = [Header.of(name, array) for name, array in named.items()]
        channel.send(Ran(headers, usage, clock.take()), list(named.values()))
        if not run.timed:
            return
        channel.wait()
        if bench.device.deterministic:
            with clock("run"):
                used = handle.usage()
            channel.send(Timed(used.time, clock.take(), estimate=used.estimate))
            return
    channel.send(_time(clock, bench, artefact, run, against))


def _time(clock: Clock, bench: Bench, artefact: bytes, run: Run, against: Against) -> Timed:
    """The time that further runs, in turns with the unedited program, show it to have."""
    with clock("compile"):
        bench.device.prepare(against.unedited, ())

    def once(which: bytes) -> float:
        with closing(bench.device.open(which, run.limits, poison=run.poison)) as handle:
            bench.workload.run(handle, bench.cases[run.case])
            return handle.usage().time

    with clock("run"):
        ratio = compare(lambda: once(artefact), lambda: once(against.unedited), against.precision)
    return Timed(ratio.value, clock.take(), ratio.spread, ratio.unit)


@contextmanager
def _failures_told(channel: Channel, clock: Clock, workload: Workload) -> Generator[None]:
    """Tell the worker how the child failed, in place of what it was waiting for."""
    try:
        yield
    except MemoryError:
        last_words()
        channel.send(Failed("memory", "out of memory", clock.take()))
    except LaunchError as error:
        channel.send(Failed("raised", _blame(error, workload), clock.take()))
    except DeviceError as error:
        channel.send(Failed("device", str(error), clock.take(), last=True))
    except Stopped as stopped:
        last = isinstance(stopped, Poisoned)
        channel.send(Failed(stopped.verdict, str(stopped), clock.take(), last))
    except SourceError as error:
        channel.send(Failed("compile", str(error), clock.take()))
    except Exception as error:  # noqa: BLE001  (host code may raise anything; all of it is an answer)
        channel.send(Failed("raised", _blame(error, workload), clock.take()))


def _blame(error: Exception, workload: Workload) -> str:
    file = Path(inspect.getfile(type(workload)))
    line = line_of(error, file)
    return f"{one_line(error)} ({file.name}:{line})" if line else one_line(error)
