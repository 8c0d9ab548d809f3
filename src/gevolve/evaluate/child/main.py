"""What a child does: it runs artefacts, sends what came out, and judges nothing.

Each function that takes a `Channel` is the life of a child of a worker (see `process.start`). Before
each run the child waits for the worker's leave, so that a variant that already failed costs no more.
"""

import gc
import inspect
import os
import resource
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gevolve.device.base import Device, Handle, Poisoned, Stopped, Usage
from gevolve.errors import (
    DeviceError,
    LaunchError,
    MachineError,
    SourceError,
    one_line,
    shortage_of,
)
from gevolve.evaluate.child.timing import Precision, compare
from gevolve.evaluate.protocol import (
    LARGEST,
    Assignment,
    CaseRun,
    Failed,
    FromChild,
    Header,
    Inbox,
    Prepared,
    Ran,
    Timed,
    frame,
    named_arrays,
)
from gevolve.evaluate.stopwatch import Stopwatch
from gevolve.patch import Patch
from gevolve.program import Program
from gevolve.workload.base import Array, Case, Workload
from gevolve.workload.locate import line_of

GO, SKIP, STOP = b"g", b"k", b"s"
"""The worker's answers to a child that waits: take the next step; leave it out; give up this artefact."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is run: a workload's program, a device, and the cases of one split.

    A child inherits all of it. The expected outputs are not part of it.
    """

    workload: Workload
    program: Program
    device: Device
    cases: Sequence[Case]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a variant is timed alternately with, where times vary, and how precisely."""

    unedited: bytes
    precision: Precision
    modelled: bool = False
    """Whether a time that the device works out will do, if it has one of the unedited program."""


class StoppedByWorker(Exception):  # noqa: N818  (an order, not a mistake)
    """The worker has seen enough of this artefact."""


class Channel:
    """The child's end of the socket to its worker."""

    def __init__(self, end: socket.socket, fork_seconds: float) -> None:
        self._end = end
        self.fork_seconds = fork_seconds
        """Seconds that it took to start the child."""

    def send(self, message: FromChild, arrays: Sequence[Array] = ()) -> None:
        """Send a message, and the bytes of the arrays that it announces."""
        self._end.sendall(frame(message))
        for array in arrays:
            self._end.sendall(array.reshape(-1).view(np.uint8).data)

    def wait(self) -> bool:
        """Wait for leave to go on, or to leave out a step; raises `StoppedByWorker` if it is refused."""
        answer = self._end.recv(1)
        if answer == STOP:
            raise StoppedByWorker
        if answer not in {GO, SKIP}:
            os._exit(0)
        return answer == GO

    def assignment(self) -> Assignment:
        """Wait for the next artefact."""
        inbox: Inbox[Assignment] = Inbox(Assignment, LARGEST)
        while (assignment := inbox.take()) is None:
            data = self._end.recv(inbox.missing)
            if not data:
                os._exit(0)
            inbox.feed(data)
        return assignment


def serve(channel: Channel, problem: Problem, comparison: Comparison) -> None:
    """Run one artefact after another."""
    gc.enable()
    fork_seconds = channel.fork_seconds
    device = problem.device
    if comparison.modelled:
        device.hasten()
    while True:
        assignment = channel.assignment()
        stopwatch = Stopwatch()
        stopwatch.add({"fork": fork_seconds})
        fork_seconds = 0.0
        with _failures_reported(channel, stopwatch, problem.workload), suppress(StoppedByWorker):
            with stopwatch("compile"):
                device.keep(comparison.unedited)
                if any(run.sketch for run in assignment.runs):
                    device.prepare_sketch(assignment.artefact)
                else:
                    device.prepare(assignment.artefact, ())
                fingerprint = device.fingerprint(assignment.artefact)
            channel.send(Prepared(fingerprint, stopwatch.take(), device.asked()))
            # What nobody judged before is compiled when the first run is wanted.
            kernels = assignment.kernels
            for run in assignment.runs:
                if channel.wait():
                    if kernels:
                        with stopwatch("compile"):
                            device.prepare(assignment.artefact, kernels)
                        kernels = []
                    _run(channel, stopwatch, problem, assignment.artefact, run, comparison)
            channel.wait()


def rehearse_build(channel: Channel, problem: Problem, patch: Patch) -> None:
    """Build a variant and do nothing with it, to see whether the compiler crashes."""
    stopwatch = Stopwatch()
    with _failures_reported(channel, stopwatch, problem.workload):
        text = problem.program.apply(patch).text
        if problem.program.verify(text) is None:
            problem.device.build(text)
        channel.send(Ran([], Usage(), stopwatch.take()))


def compute_reference(
    channel: Channel, problem: Problem, reference: Callable[[Case], object]
) -> None:
    """Compute the workload's own reference for every case."""
    stopwatch = Stopwatch()
    with _failures_reported(channel, stopwatch, problem.workload):
        for case in problem.cases:
            named = named_arrays(reference(case))
            headers = [Header.of(name, array) for name, array in named.items()]
            channel.send(Ran(headers, Usage(), stopwatch.take()), list(named.values()))
            channel.wait()


def _run(
    channel: Channel,
    stopwatch: Stopwatch,
    problem: Problem,
    artefact: bytes,
    run: CaseRun,
    comparison: Comparison,
) -> None:
    """Run one case, send the outputs and, if the worker still wants it, the time."""
    device, workload, case = problem.device, problem.workload, problem.cases[run.case]
    # Of a case in parts these are some, and the time is that of all.
    count, some_of = (workload.parts(case), len(run.parts)) if run.parts else (1, 1)
    with stopwatch("run"):
        _modelled(device, artefact, comparison)  # what may never end is not begun
    with stopwatch("open"):
        handle: Handle = (
            device.open_sketch(artefact, run.limits)
            if run.sketch
            else device.open(artefact, run.limits, poison=run.poison, check=run.check)
        )
    with closing(handle):
        with stopwatch("check" if run.check else "run"):
            some = workload.some(case, run.parts) if run.parts else case
            named = named_arrays(workload.run(handle, some))
            usage = handle.usage(timed=False)
        headers = [Header.of(name, array) for name, array in named.items()]
        channel.send(Ran(headers, usage, stopwatch.take()), list(named.values()))
        if not run.timed:
            return
        channel.wait()
        if device.deterministic:
            with stopwatch("run"):
                used = handle.usage()
            lines = device.lines(handle) if run.itemized else {}
            channel.send(
                Timed(
                    used.time * count / some_of,
                    stopwatch.take(),
                    estimate=used.estimate,
                    work=used.work,
                    lines=lines,
                )
            )
            return
        launches = handle.usage().launches * count / some_of
    with stopwatch("run"):
        time = _modelled(device, artefact, comparison)
    if time is not None:
        channel.send(Timed(launches * time, stopwatch.take(), modelled=True))
        return
    channel.send(_compare_times(stopwatch, problem, artefact, run, comparison))


def _modelled(device: Device, artefact: bytes, comparison: Comparison) -> float | None:
    """The modelled time of an artefact; None if a clock must tell."""
    if not comparison.modelled:
        return None
    time = device.modelled(artefact)
    if time is None and device.modelled(comparison.unedited) is not None:
        raise Stopped(
            "fuel", "a loop of it runs until something happens, the unedited program's not"
        )
    return time


def _compare_times(
    stopwatch: Stopwatch, problem: Problem, artefact: bytes, run: CaseRun, comparison: Comparison
) -> Timed:
    """The time relative to the unedited program's, from further runs of both.

    Of a case in parts each pair of runs takes another one: what is short is disturbed seldom, and alike.
    """
    device, workload, case = problem.device, problem.workload, problem.cases[run.case]
    parts = run.parts or tuple(range(workload.parts(case)))
    with stopwatch("compile"):
        device.prepare(comparison.unedited, ())

    def once(which: bytes, number: int) -> float:
        part = workload.some(case, [parts[number % len(parts)]])
        with closing(device.open(which, run.limits, poison=run.poison)) as handle:
            workload.run(handle, part)
            return handle.usage().time

    with stopwatch("run"):
        ratio = compare(
            lambda number: once(artefact, number),
            lambda number: once(comparison.unedited, number),
            comparison.precision,
        )
    return Timed(ratio.value, stopwatch.take(), ratio.spread, ratio.unit)


@contextmanager
def _failures_reported(
    channel: Channel, stopwatch: Stopwatch, workload: Workload
) -> Generator[None]:
    """Report a failure to the worker, in place of the message that it waits for."""
    try:
        yield
    except MemoryError:
        _release_reserve()
        channel.send(Failed("memory", "out of memory", stopwatch.take()))
    except MachineError as error:
        channel.send(Failed("machine", str(error), stopwatch.take(), last=True))
    except LaunchError as error:
        channel.send(Failed("raised", _blame(error, workload), stopwatch.take()))
    except DeviceError as error:
        channel.send(Failed("device", str(error), stopwatch.take(), last=True))
    except Stopped as stopped:
        last = isinstance(stopped, Poisoned)
        channel.send(Failed(stopped.verdict, str(stopped), stopwatch.take(), last))
    except SourceError as error:
        channel.send(Failed("compile", str(error), stopwatch.take()))
    except Exception as error:  # noqa: BLE001  (host code may raise anything; all of it is an answer)
        if shortage := shortage_of(error):
            channel.send(Failed("machine", str(shortage), stopwatch.take(), last=True))
            return
        channel.send(Failed("raised", _blame(error, workload), stopwatch.take()))


def _release_reserve() -> None:
    """Raise the memory limit a little, so that a child out of memory can report it."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _blame(error: Exception, workload: Workload) -> str:
    """The error in one line, with the line of the workload's file that raised it."""
    file = Path(inspect.getfile(type(workload)))
    line = line_of(error, file)
    return f"{one_line(error)} ({file.name}:{line})" if line else one_line(error)
