"""What a Ray actor does: it owns one worker process through a pool of one, and judges batches."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from gevolve.errors import GevolveError
from gevolve.evaluate.dispatcher.messages import (
    Answers,
    Batch,
    Begin,
    FromActor,
    News,
    Ready,
    decode,
    encode,
    refusal,
)
from gevolve.evaluate.dispatcher.parcel import unpack
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.protocol import Baseline, Judged
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.workload.base import Split
from gevolve.workload.locate import Location

_Known = tuple[Split, Evaluation]


class Actor:
    """Lives on some node. Its methods take and return encoded messages; it raises nothing."""

    def __init__(self) -> None:
        self._pool: Pool | None = None

    def place(self) -> None:
        """Answers as soon as the actor has found its place."""

    def begin(self, order: bytes, *news: bytes) -> bytes:
        """Start a worker for what is evaluated from now on: a `Begin`, and what is `News` then."""
        self.end()
        return self._answer(lambda: self._begin(decode(order, Begin), news))

    def prepare(self, split: Split) -> bytes:
        """The baseline of a split."""
        return self._answer(lambda: self._prepare(split))

    def judge(self, work: bytes) -> bytes:
        """The evaluations of a `Batch`."""
        return self._answer(lambda: self._judge(decode(work, Batch)))

    def end(self) -> None:
        """End the worker."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _answer(self, action: Callable[[], FromActor]) -> bytes:
        try:
            return encode(action())
        except GevolveError as error:
            return encode(refusal(error))

    def _begin(self, order: Begin, news: Sequence[bytes]) -> FromActor:
        start = order.start
        place = start.spec.place
        if order.files:
            place = str(unpack(order.files, Path(place)))
        sys.path += [one for one in start.path if one not in sys.path and Path(one).exists()]
        self._pool = Pool(
            Location(place, start.spec.name),
            program=start.program,
            device=start.device,
            tolerance=start.tolerance,
            patience=start.patience,
            draw=start.draw,
            machine=start.machine,
            known=(pair for one in news for pair in decode(one, News).known),
        )
        return Ready()

    def _prepare(self, split: Split) -> Baseline:
        assert self._pool is not None
        return self._pool.prepare(split)

    def _judge(self, batch: Batch) -> Answers:
        pool = self._pool
        assert pool is not None
        began = time.perf_counter()
        for raw in batch.known:
            pool.learn(*msgspec.msgpack.decode(raw, type=_Known))
        for place, job in enumerate(batch.jobs):
            pool.submit(place, Patch.parse(job.patch), job.split, artefact=job.artefact)
        found = dict(pool.results())
        judged = [Judged(job.number, found[place]) for place, job in enumerate(batch.jobs)]
        return Answers(judged, time.perf_counter() - began)
