"""The evaluator of many machines: actors of a Ray cluster, each with a worker as on one machine.

    with RayEvaluator("gemm.py:Gemm", cluster="ray://head:10001") as evaluator:
        ...

This process neither imports Ray nor waits for it: a dispatcher does (see `gevolve.evaluate.dispatcher`).
If the dispatcher or the cluster's head ends, another is started, and all that is outstanding is
submitted again.
"""

import sys
import time
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path

from gevolve import errors
from gevolve.device.registry import placement
from gevolve.errors import EvaluationError, GevolveError
from gevolve.evaluate.dispatcher.cluster import PACKAGES, Cluster
from gevolve.evaluate.dispatcher.messages import Begin, End, FromDispatcher, News, Status
from gevolve.evaluate.dispatcher.parcel import pack
from gevolve.evaluate.evaluator import Evaluator
from gevolve.evaluate.pool import check_agreement
from gevolve.evaluate.protocol import Baseline, Job, Judged, NodeStatus, Prepare, Refused, Start
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.program import Program
from gevolve.workload.base import Split, Workload
from gevolve.workload.locate import Location, location_of

_NEWS = 20_000
"""So many known evaluations go into one message."""
_SILENCE = 60.0
"""A dispatcher that says nothing for so long hangs."""
_RESTARTS = 5
"""So many dispatchers in a row may end without a single verdict."""


class RayEvaluator(Evaluator):
    """Judges patches on a Ray cluster; the options are those of `gevolve.evaluate.pool.Pool`.

    `cluster` is an address, or a `Cluster` that stays open when the evaluator is closed.
    """

    def __init__(
        self,
        workload: Workload | Location,
        *,
        cluster: str | Cluster = "ray",
        program: Program | None = None,
        device: str = "sim",
        workers: int | None = None,
        tolerance: float | None = None,
        patience: float = 5.0,
        draw: int = 0,
        machine: dict[str, float] | None = None,
        known: Iterable[tuple[Split, Evaluation]] = (),
    ) -> None:
        spec = workload if isinstance(workload, Location) else location_of(workload)
        built = spec.build()
        text = (program or built.load()).text
        needs = placement(device)
        start = Start(
            spec, needs.model, text, tolerance, patience, draw, sys.path.copy(), machine or {}
        )
        self._files = pack(Path(spec.place)) if spec.place.endswith(".py") else {}
        self._start = start
        news = [pair for pair in known if pair[1].reusable]
        self._news = [News(news[n : n + _NEWS]) for n in range(0, len(news), _NEWS)]
        self._baselines: dict[Split, Baseline] = {}
        self._asked: list[Split] = []
        self._open: dict[int, tuple[Hashable, Job]] = {}
        self._unsent: list[Job] = []
        self._done: deque[tuple[Hashable, Evaluation]] = deque()
        self._submitted = 0
        self._status = Status([], 0)
        self._restarts = 0
        self._workers = workers
        self._closed = False
        self._heard = time.monotonic()
        self._owned = isinstance(cluster, str)
        packages = PACKAGES[built.ir]
        self._cluster = (
            Cluster(cluster, workers=workers, needs=needs, packages=packages)
            if isinstance(cluster, str)
            else cluster
        )
        self._begin()

    def _begin(self) -> None:
        self._cluster.send(Begin(self._start, self._files, self._workers, len(self._news)))
        for news in self._news:
            self._cluster.send(news)
        self._heard = time.monotonic()

    # --- the interface ---------------------------------------------------------------------------

    def prepare(self, split: Split = "search") -> Baseline:
        """Run the unedited program on a split in every actor; the first answer is returned."""
        self._check_open()
        if split not in self._asked:
            self._asked.append(split)
            self._cluster.send(Prepare(split))
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
        job = Job(self._submitted, str(patch), split, [], artefact=artefact)
        self._submitted += 1
        self._open[job.number] = (key, job)
        self._unsent.append(job)

    def results(self) -> Iterator[tuple[Hashable, Evaluation]]:
        """Yield evaluations as they finish, in any order, until none is outstanding."""
        while self._open or self._done:
            self._check_open()
            while self._done:
                yield self._done.popleft()
            if self._open:
                self._step()

    @property
    def ahead(self) -> int:
        """Enough for two batches on every actor."""
        return max(3, self._status.ahead)

    @property
    def ready(self) -> int:
        """The rest of the batches that have come."""
        return len(self._done)

    @property
    def nodes(self) -> list[NodeStatus]:
        """The nodes of the cluster."""
        return self._status.nodes

    def close(self) -> None:
        """End the workers of all actors, drop what is outstanding, and leave the cluster."""
        if self._closed:
            return
        self._closed = True
        if self._owned:
            self._cluster.close()
            return
        self._cluster.send(End())
        until = time.monotonic() + _SILENCE
        while not self._cluster.closed and time.monotonic() < until:
            if any(isinstance(message, End) for message in self._cluster.receive(1.0)):
                break

    # --- the loop --------------------------------------------------------------------------------

    def _step(self) -> None:
        """Send what was submitted, and wait for the next message."""
        self._cluster.send(*self._unsent)
        self._unsent.clear()
        try:
            messages = self._cluster.receive(_SILENCE)
            for message in messages:
                self._receive(message)
            if not messages:
                self._restart()
        except GevolveError:
            self.close()
            raise

    def _receive(self, message: FromDispatcher) -> None:
        match message:
            case Refused(kind, text):
                raise getattr(errors, kind, EvaluationError)(text)
            case Baseline(split=split):
                check_agreement(self._baselines.setdefault(split, message), message)
            case Judged(number, evaluation):
                key, _ = self._open.pop(number)
                self._done.append((key, evaluation))
                self._restarts = 0
            case Status():
                self._status = message
            case _:
                pass

    def _restart(self) -> None:
        """Go on with another dispatcher, since this one ended or hangs."""
        how = self._cluster.restart()
        self._restarts += 1
        if self._restarts > _RESTARTS:
            raise EvaluationError(f"Ray ends again and again ({how}); see its logs in /tmp/ray")
        self._begin()
        self._cluster.send(*map(Prepare, self._asked), *(job for _, job in self._open.values()))

    def _check_open(self) -> None:
        if self._closed:
            raise EvaluationError("the evaluator is closed; make a new one")
