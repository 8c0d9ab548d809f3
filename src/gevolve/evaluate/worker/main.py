"""What a worker process does: it builds the workload once, then judges one patch after another.

Started by its guard (`gevolve.system.guard`) as ``python -m gevolve.evaluate.worker.main FD MAIN``. It
talks over the socket FD with the process MAIN, and dies with its guard.
"""

import gc
import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from gevolve.errors import EvaluationError, GevolveError, WorkloadError, one_line
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.child.process import ChildEndedError, OrphanedError
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
from gevolve.evaluate.verdict import Evaluation, killed_often
from gevolve.evaluate.worker.sample import MANY
from gevolve.evaluate.worker.screen import screened
from gevolve.evaluate.worker.trial import Trial
from gevolve.patch import Patch
from gevolve.system import linux
from gevolve.workload.base import Case, Split, Workload
from gevolve.workload.examine import make_cases
from gevolve.workload.vary import assumptions, varied, with_rows_permuted

_KEPT, _PIECE = 256 << 20, 32 << 20
"""Bytes of freed memory that a worker, or a child of it, keeps for the next variant, and of one piece of it."""
_OBJECTS = 50_000
"""So many new objects, and the garbage is looked for: an evaluation makes thousands, and no garbage to speak of."""


class Worker:
    """A worker's state: the workload, a trial for each split, the artefacts known so far."""

    def __init__(self, start: Start, main: int) -> None:
        self._start = start
        self._main = main
        self._workload = start.spec.build()
        self._program = self._workload.restore(start.program)
        self._device = self._workload.device(start.device)
        self._device.use(start.machine)
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
        known = self._known.setdefault(job.split, {})
        if not trial.baseline.deterministic and job.split != "search":
            known = {}  # what is reported is measured each time
        evaluation = trial.evaluate(
            Patch.parse(job.patch), known, careful=job.careful, artefact=job.artefact
        )
        self._learn(job.split, evaluation)
        return evaluation

    def _learn(self, split: Split, evaluation: Evaluation) -> None:
        if evaluation.reusable:
            known = self._known.setdefault(split, {})
            known.setdefault(evaluation.artefact, evaluation)
            known.setdefault(evaluation.identity, evaluation)

    def _prepare(self, split: Split) -> Trial:
        if split != "varied":
            return self._trial(split, self._cases(split))
        cases = self._varied_cases()
        try:
            return self._trial(split, cases)
        except WorkloadError:  # it is not made for one of them after all
            return self._trial(split, cases[:1])

    def _trial(self, split: Split, cases: list[Case]) -> Trial:
        start, known = self._start, list[Case]()
        if split == "search":
            known = [
                *cases,
                *(self._cases("held-out") if "held-out" in self._workload.splits else ()),
            ]
        return Trial(
            Problem(self._workload, self._program, self._device, cases),
            split,
            tolerance=start.tolerance,
            patience=start.patience,
            main=self._main,
            assumptions=assumptions(known, self._workload.varied_inputs(known[0])) if known else (),
        )

    def _varied_cases(self) -> list[Case]:
        """A search case, and others in which one input is another, that the unedited program can take."""
        workload = self._workload
        search = [_first(workload, case) for case in self._cases("search")]
        held_out = self._cases("held-out") if "held-out" in workload.splits else ()
        known = [*search, *(_first(workload, case) for case in held_out)]
        candidates: list[Case] = [*varied(known, workload.varied_inputs(known[0]))]
        if not workload.compares:
            candidates = [*with_rows_permuted(search[0]), *candidates]
        problem = Problem(workload, self._program, self._device, search)
        return screened(problem, candidates, seconds=60.0, main=self._main)

    def _cases(self, split: Split) -> list[Case]:
        return make_cases(self._workload, split, self._start.draw)


def _first(workload: Workload, case: Case) -> Case:
    """The case itself; of one in a few parts, each of which is a whole training, the first."""
    return workload.some(case, [0]) if 1 < workload.parts(case) < MANY else case


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
    if isinstance(error, ChildEndedError) and error.killed:
        why = f"the unedited program's process is killed: {killed_often()}"
        return Refused(EvaluationError.__name__, why)
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


def run(fd: int) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    linux.adopt_orphans()
    linux.disable_core_dumps()
    linux.keep_freed_memory(_KEPT, _PIECE)
    gc.set_threshold(_OBJECTS)
    main = socket.socket(fileno=fd)
    try:
        serve(main)
    except (OrphanedError, ConnectionError):
        pass  # the main process is gone
    except Exception as error:  # noqa: BLE001  (whatever it is, the main process must hear of it)
        main.sendall(frame(_refusal(error)))
    _leave()


if __name__ == "__main__":
    run(int(sys.argv[1]))
