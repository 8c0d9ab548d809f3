"""The evaluator of one machine: a pool of worker processes, each with a job and one in reserve."""

import os
import re
import sys
import time
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import msgspec

from gevolve import errors
from gevolve.device.registry import worker_devices
from gevolve.errors import EvaluationError, GevolveError, OptionError, WorkloadError
from gevolve.evaluate.evaluator import Evaluator
from gevolve.evaluate.protocol import Baseline, FromWorker, Job, Prepare, Refused, Start
from gevolve.evaluate.verdict import KILLS, Evaluation, Verdict, backoff, killed_often
from gevolve.evaluate.worker.process import MARKER, WorkerProcess
from gevolve.patch import Patch
from gevolve.program import Program
from gevolve.system import environment
from gevolve.workload.base import Split, Workload
from gevolve.workload.locate import Location, location_of

_TRIES = 2
"""A patch that ends this many workers is judged for it."""
_MAX_FAILED_STARTS = 3
"""This many workers in a row may crash before one is ready."""
_SETUP = 1900.0
"""Seconds that a worker may take to prepare a split."""
_AHEAD = 3
"""Patches submitted for each worker: enough to keep it busy, few to wait for when stopping."""
_NEWS = 20_000
"""At most so many known evaluations go along with one job, so that its frame is not too long."""
_MARGIN = 2.0
"""Seconds after the deadline within which a worker must report a timeout itself."""
_LOOK = 0.5
"""How often, in seconds, it is looked whether someone has stopped a worker."""


@dataclass(slots=True)
class _Task:
    """A submitted patch."""

    number: int
    key: Hashable
    patch: str
    split: Split
    artefact: bytes | None = None
    tries: int = 0
    """How many workers it has ended."""
    kills: int = 0
    """How many workers were killed from outside while they judged it."""


_Worker = WorkerProcess[_Task]


class Pool(Evaluator):
    """Judges patches in `workers` processes on this machine.

    `tolerance` is the error up to which a variant is `ok` (at least the workload's `rounding`).
    `patience` is the least number of seconds that a variant is given. `known` holds earlier
    evaluations with the same workload, device and tolerance: their artefacts are not run again.
    `program`, or its text, saves loading it, and `draw` is the seed of the fresh cases.
    `machine` is what `Device.calibrate` gave on the machine where the run began.
    """

    def __init__(
        self,
        workload: Workload | Location,
        *,
        program: Program | str | None = None,
        device: str = "sim",
        workers: int = 1,
        tolerance: float | None = None,
        patience: float = 5.0,
        draw: int = 0,
        machine: dict[str, float] | None = None,
        known: Iterable[tuple[Split, Evaluation]] = (),
    ) -> None:
        if workers < 1:
            raise OptionError(f"{workers} workers cannot judge anything; use 1 or more")
        if MARKER in os.environ:
            raise WorkloadError(
                "the workload's file starts a search when it is imported;"
                " put that part under `if __name__ == '__main__':`"
            )
        spec = workload if isinstance(workload, Location) else location_of(workload)
        text = program if isinstance(program, str) else (program or spec.build().load()).text
        self._devices = worker_devices(device) or [device] * workers
        self._start = Start(
            spec, device, text, tolerance, patience, draw, sys.path.copy(), machine or {}
        )
        self._baselines: dict[Split, Baseline] = {}
        self._asked: set[Split] = set()
        self._waiting: deque[_Task] = deque()
        self._done: deque[tuple[Hashable, Evaluation]] = deque()
        self._outstanding = 0
        self._submitted = 0
        self._failed_starts = 0
        self._looked = time.monotonic()
        self._known: set[tuple[Split, str]] = set()
        self._learnt: list[tuple[Split, Evaluation]] = []
        for split, evaluation in known:
            self.learn(split, evaluation)
        self._closed = False
        self._selector = DefaultSelector()
        self._workers: list[_Worker] = []
        for name in self._devices:
            self._spawn(name)

    # --- the interface ---------------------------------------------------------------------------

    def prepare(self, split: Split = "search") -> Baseline:
        """Run the unedited program on a split in every worker; the first answer is returned."""
        self._check_open()
        if split not in self._asked:
            self._asked.add(split)
            for worker in self._workers:
                self._ask(worker, split)
        while split not in self._baselines:
            self._step()
        return self._baselines[split]

    def submit(
        self,
        key: Hashable,
        patch: Patch,
        split: Split = "search",
        *,
        artefact: bytes | None = None,
    ) -> None:
        """Queue a patch, or an artefact in its place; `results` yields its evaluation under this key."""
        self._check_open()
        if split not in self._baselines:
            self.prepare(split)
        self._waiting.append(_Task(self._submitted, key, str(patch), split, artefact))
        self._submitted += 1
        self._outstanding += 1
        self._hand_out()

    def learn(self, split: Split, evaluation: Evaluation) -> None:
        """Take note of an evaluation: workers that are given its artefact do not run it."""
        if evaluation.reusable and (split, evaluation.artefact) not in self._known:
            self._known.add((split, evaluation.artefact))
            self._learnt.append((split, msgspec.structs.replace(evaluation, skipped=0, seconds={})))

    def results(self) -> Iterator[tuple[Hashable, Evaluation]]:
        """Yield evaluations as they finish, in any order, until none is outstanding."""
        while self._outstanding or self._done:
            self._check_open()
            while self._done:
                yield self._done.popleft()
            if self._outstanding:
                self._step()

    @property
    def ahead(self) -> int:
        """Three for each worker."""
        return _AHEAD * len(self._devices)

    @property
    def ready(self) -> int:
        """What several workers have told at once."""
        return len(self._done)

    def close(self) -> None:
        """End all workers and drop what is outstanding."""
        if self._closed:
            return
        self._closed = True
        self._selector.close()
        for worker in self._workers:
            worker.hang_up()
        until = time.monotonic() + 2.0
        for worker in self._workers:
            worker.end(seconds=max(0.0, until - time.monotonic()))

    # --- the loop --------------------------------------------------------------------------------

    def _step(self) -> None:
        """Wait for the next event: a message, a worker that ended, or one that is late."""
        try:
            soonest = min(map(self._overdue, self._workers)) - time.monotonic()
            for key, _ in self._selector.select(max(0.0, min(soonest, _LOOK))):
                worker: _Worker = key.data
                worker.flush()
                for message in worker.read():
                    self._receive(worker, message)
            self._excuse()
            for worker in self._workers.copy():
                if worker.closed or self._overdue(worker) <= time.monotonic():
                    self._replace(worker)
            self._hand_out()
        except GevolveError:
            self.close()
            raise

    def _excuse(self) -> None:
        """Wake workers that were stopped; no time counts in which they, or this process, were."""
        now = time.monotonic()
        passed, self._looked = now - self._looked, now
        if passed < _LOOK / 2:
            self._looked -= passed
            return
        for worker in self._workers:
            if worker.wake() or passed > 4 * _LOOK:
                worker.since += min(passed, now - worker.since)

    def _receive(self, worker: _Worker, message: FromWorker) -> None:
        worker.since = time.monotonic()
        match message:
            case Refused(kind, text):
                raise getattr(errors, kind, EvaluationError)(text + _variable_hint(text))
            case Baseline(split=split):
                self._failed_starts = 0
                worker.ready.add(split)
                check_agreement(self._baselines.setdefault(split, message), message)
            case _:
                task = worker.tasks.popleft()
                self.learn(task.split, message.evaluation)
                self._finish(task, message.evaluation)

    def _hand_out(self) -> None:
        """Give every idle worker a job and, while there are plenty, a second one in reserve."""
        for depth in range(2):
            enough = depth * len(self._workers)  # a job in reserve cannot go to another worker
            for worker in self._workers:
                if len(self._waiting) > enough and len(worker.tasks) == depth:
                    self._give(worker, self._waiting.popleft())

    def _give(self, worker: _Worker, task: _Task) -> None:
        if not worker.tasks:
            worker.since = time.monotonic()
        worker.asked.add(task.split)
        worker.tasks.append(task)
        news = self._learnt[worker.told : worker.told + _NEWS]
        worker.told += len(news)
        careful = task.tries > 0
        job = Job(task.number, task.patch, task.split, news, careful, task.artefact)
        self._send(worker, job)

    def _ask(self, worker: _Worker, split: Split) -> None:
        if not worker.tasks:
            worker.since = time.monotonic()
        worker.asked.add(split)
        self._send(worker, Prepare(split))

    def _send(self, worker: _Worker, message: Prepare | Job) -> None:
        worker.send(message)
        events = EVENT_READ | EVENT_WRITE if worker.unsent else EVENT_READ
        self._selector.modify(worker, events, worker)

    def _finish(self, task: _Task, evaluation: Evaluation) -> None:
        self._outstanding -= 1
        self._done.append((task.key, evaluation))

    # --- workers come and go ---------------------------------------------------------------------

    def _spawn(self, device: str) -> _Worker:
        worker = _Worker(msgspec.structs.replace(self._start, device=device))
        worker.since = time.monotonic()
        self._workers.append(worker)
        self._selector.register(worker, EVENT_READ, worker)
        for split in self._asked - self._baselines.keys():
            self._ask(worker, split)
        return worker

    def _overdue(self, worker: _Worker) -> float:
        """When a silent worker counts as dead."""
        if worker.asked - worker.ready:
            return worker.since + _SETUP
        if worker.tasks:
            return worker.since + self._baselines[worker.tasks[0].split].deadline + _MARGIN
        return float("inf")

    def _replace(self, worker: _Worker) -> None:
        """Replace a worker that died or hangs, and blame the patch that it was judging."""
        late = not worker.closed
        self._selector.unregister(worker)
        self._workers.remove(worker)
        how = worker.end(seconds=0.0 if late else 1.0)
        if late:
            how = "it hangs"
        tasks = worker.tasks
        if worker.asked - worker.ready or not worker.asked:
            self._count_failed_start(worker, how)
        elif tasks and worker.killed:
            tasks[0].kills += 1
            time.sleep(backoff(tasks[0].kills))
        elif tasks:
            tasks[0].tries += 1
        fresh = self._spawn(worker.device)
        if tasks and tasks[0].tries >= _TRIES:
            verdict = Verdict.TIMEOUT if late else Verdict.CRASH
            detail = f"its worker ended {_TRIES} times: {how}"
            self._finish(tasks.popleft(), Evaluation(verdict=verdict, detail=detail))
        elif tasks and tasks[0].kills >= KILLS:
            evaluation = Evaluation(verdict=Verdict.MEMORY, detail=killed_often("its worker"))
            self._finish(tasks.popleft(), evaluation)
        elif tasks:
            self._give(fresh, tasks.popleft())
        self._waiting.extendleft(reversed(tasks))

    def _count_failed_start(self, worker: _Worker, how: str) -> None:
        self._failed_starts += 1
        if worker.killed and self._failed_starts < KILLS:
            time.sleep(backoff(self._failed_starts))
        elif worker.killed:
            raise EvaluationError(f"workers are killed before they are ready: {killed_often()}")
        elif how.startswith("exit") or self._failed_starts >= _MAX_FAILED_STARTS:
            raise EvaluationError(f"workers end before they are ready ({how})")

    def _check_open(self) -> None:
        if self._closed:
            raise EvaluationError("the evaluator is closed; make a new one")


def _variable_hint(text: str) -> str:
    """What to do if a worker misses an environment variable that this process has."""
    missing = re.search(r"KeyError: '(\w+)'", text)
    if (
        missing is None
        or missing[1] not in os.environ.keys() - environment.named(os.environ).keys()
    ):
        return ""
    return f"; workers do not get this variable: set {environment.KEEP}={missing[1]}"


def check_agreement(first: Baseline, other: Baseline) -> None:
    """All workers must see the same workload, or their evaluations cannot be compared."""
    if _comparable(first) == _comparable(other):
        return
    if first.program != other.program:
        raise EvaluationError("the program's source changed while it was being evolved; run again")
    raise EvaluationError(
        f"two workers disagree on the unedited program's {first.split} cases, outputs or time;"
        " draw all that is random in case() from `rng`, and leave the files alone during a run"
    )


def _comparable(baseline: Baseline) -> tuple[object, ...]:
    """What must be the same in all workers."""
    same = (baseline.program, baseline.cases)
    if not baseline.deterministic:
        return same
    unedited = baseline.evaluation
    return (
        *same,
        baseline.digest,
        baseline.profile,
        unedited.time,
        unedited.error,
        unedited.artefact,
    )
