"""What a worker process does: it builds the workload once, then judges one patch after another.

Started as ``python -m gevolve.evaluate.worker.main FD PARENT``. It talks over the socket FD, and ends
when the process PARENT ends, together with all its own descendants.
"""

import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from gevolve.errors import EvaluationError, GevolveError, WorkloadError, one_line
from gevolve.evaluate.child import linux
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.child.process import OrphanedError
from gevolve.evaluate.protocol import (
    LARGEST,
    FromMain,
    FromWorker,
    Inbox,
    Job,
    Judged,
    Prepare,
    Refused,
    Start,
    frame,
)
from gevolve.evaluate.verdict import Evaluation
from gevolve.evaluate.worker.trial import Trial
from gevolve.patch import Patch
from gevolve.workload.base import Case, Split
from gevolve.workload.locate import line_of

_GRACE = 5.0
"""Seconds after the deadline when a timer signal ends a worker that hangs."""


class Worker:
    """A worker's state: the workload, a trial for each split, the artefacts known so far."""

    def __init__(self, start: Start, main: int) -> None:
        self._start = start
        self._main = main
        self._workload = start.spec.build()
        self._program = self._workload.restore(start.program)
        self._device = self._workload.device(start.device)
        self._trials: dict[Split, Trial] = {}
        self._known: dict[Split, dict[str, Evaluation]] = {}

    def answer(self, message: Prepare | Job) -> Iterator[FromWorker]:
        """Answer one message; the first one about a split is answered by its baseline too."""
        for split, other in self._trials.items():
            if split != message.split:
                other.end_child()  # one child at a time: children disturb each other's times
        if message.split not in self._trials:
            trial = self._prepare(message.split)
            self._trials[message.split] = trial
            self._learn(message.split, trial.baseline.evaluation)
            yield trial.baseline
        if isinstance(message, Job):
            for split, evaluation in message.known:
                self._learn(split, evaluation)
            yield Judged(message.number, self._evaluate(message))

    def _evaluate(self, job: Job) -> Evaluation:
        trial = self._trials[job.split]
        signal.setitimer(signal.ITIMER_REAL, trial.baseline.deadline + _GRACE)
        known = self._known.setdefault(job.split, {})
        if not trial.baseline.deterministic and job.split != "search":
            known = {}  # what is reported is measured each time
        evaluation = trial.evaluate(
            Patch.parse(job.patch), known, careful=job.careful, artefact=job.artefact
        )
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._learn(job.split, evaluation)
        return evaluation

    def _learn(self, split: Split, evaluation: Evaluation) -> None:
        if evaluation.reusable:
            known = self._known.setdefault(split, {})
            known.setdefault(evaluation.artefact, evaluation)
            known.setdefault(evaluation.identity, evaluation)

    def _prepare(self, split: Split) -> Trial:
        start = self._start
        return Trial(
            Problem(self._workload, self._program, self._device, self._cases(split)),
            split,
            tolerance=start.tolerance,
            patience=start.patience,
            main=self._main,
        )

    def _cases(self, split: Split) -> list[Case]:
        try:
            cases = self._workload.cases(split, self._start.draw)
        except GevolveError:
            raise
        except Exception as error:
            file = Path(sys.modules[type(self._workload).__module__].__file__ or "")
            raise WorkloadError(
                f"{file.name}:{line_of(error, file)}: cannot make the {split} cases: {one_line(error)}"
            ) from error
        if not cases:
            raise WorkloadError(f"{self._workload.name} has no {split} case; ask for at least one")
        return cases


def serve(main: socket.socket) -> None:
    """Answer messages from the main process until it hangs up."""
    worker: Worker | None = None
    inbox: Inbox[FromMain] = Inbox(FromMain, LARGEST)
    while data := main.recv(1 << 16):
        inbox.feed(data)
        for message in inbox.messages():
            if isinstance(message, Start):
                sys.path[:] = message.path
                worker = Worker(message, main.fileno())
            elif worker is not None:
                for answer in worker.answer(message):
                    main.sendall(frame(answer))


def _refusal(error: Exception) -> Refused:
    """The message that makes the main process raise this error."""
    for kind in type(error).__mro__:
        if kind.__module__ == GevolveError.__module__:
            return Refused(kind.__name__, str(error))
    at = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(at.filename).name}:{at.lineno}"
    return Refused(EvaluationError.__name__, f"a worker cannot go on: {one_line(error)} ({where})")


def _leave(*_: object) -> None:
    """End this process and all its descendants."""
    linux.kill_descendants(seconds=1.0)
    os._exit(0)


def run(fd: int, parent: int) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    linux.die_with_parent(parent, signal.SIGTERM)
    linux.adopt_orphans()
    linux.disable_core_dumps()
    main = socket.socket(fileno=fd)
    try:
        serve(main)
    except (OrphanedError, ConnectionError):
        pass  # the main process is gone
    except Exception as error:  # noqa: BLE001  (whatever it is, the main process must hear of it)
        main.sendall(frame(_refusal(error)))
    _leave()


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
