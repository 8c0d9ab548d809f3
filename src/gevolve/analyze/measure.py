"""Measure variants where times vary: again and again, each time in a new process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gevolve.analyze import interval
from gevolve.patch import Patch
from gevolve.run.findings import ClockNoise
from gevolve.run.store import format_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gevolve.analyze.session import Session
    from gevolve.run.findings import Interval
    from gevolve.run.store import StoredVariant
    from gevolve.workload.base import Split

UNEDITED = 0
NVCC = "nvcc"
"""What stands for nvcc's build of the unedited program in the place of an id."""


def names(rows: Sequence[StoredVariant]) -> str:
    """Some variants in few words."""
    return format_id(rows[0].id) if len(rows) == 1 else f"{len(rows)} variants"


def rounds(
    session: Session, rows: Sequence[StoredVariant], split: Split
) -> Iterator[dict[int, Interval]]:
    """The intervals of variants after every round of measurements, until they are good enough.

    The unedited program goes along as a variant of itself, to show what mere chance does, and nvcc's
    build of it, if there is one, to be compared with.
    """
    if session.began is None:
        session.began = time.monotonic()
    others = session.run.findings.intervals.keys() - {format_id(row.id) for row in rows}
    room = max(0, interval.TOGETHER - len(others))
    some = rows[:room]
    for row in some:
        session.samples[row.id] = []
    patches = {row.id: row.patch for row in some}
    while todo := _unsure(session, patches):
        tried = min(len(session.samples[id_]) for id_ in todo)
        session.say(f"measuring {names(some)}: {tried + 1} of up to {interval.MOST} times")
        _measure(session, {UNEDITED: Patch(), **{id_: patches[id_] for id_ in todo}}, split)
        _note_noise(session)
        yield _estimates(session, patches)


def _measure(session: Session, patches: dict[int, Patch], split: Split) -> None:
    for id_, patch in patches.items():
        session.evaluator.submit(id_, patch, split)
    if (nvcc := session.run.findings.nvcc_artefact) is not None:
        session.evaluator.submit(NVCC, Patch(), split, artefact=nvcc)
    for key, evaluation in session.evaluator.results():
        assert isinstance(key, int | str)
        if evaluation.ok and evaluation.time:
            session.samples.setdefault(key, []).append(evaluation.time)
        elif isinstance(key, str):
            session.run.findings.drop_nvcc(
                f"nvcc's build is judged {evaluation.verdict} on the {split} cases"
            )
        elif key != UNEDITED:
            session.record(key, split, evaluation)
            session.samples.pop(key, None)


def _note_noise(session: Session) -> None:
    """Keep what mere chance does: every result is shown with it."""
    beside_itself = session.samples.get(UNEDITED, ())
    if len(beside_itself) > 1:
        session.run.findings.clock = ClockNoise(
            deviation=interval.pooled([beside_itself]), runs=len(beside_itself)
        )


def nvcc_estimate(session: Session) -> Interval | None:
    """The interval of nvcc's build, if it was measured often enough to have one."""
    samples = session.samples.get(NVCC, ())
    if session.run.findings.nvcc_artefact is None or len(samples) < interval.LEAST:
        return None
    return interval.estimate(samples[-interval.MOST :], interval.pooled(session.samples.values()))


def _estimates(session: Session, patches: dict[int, Patch]) -> dict[int, Interval]:
    """The intervals of those that were measured often enough to have one."""
    floor = interval.pooled(session.samples.values())
    return {
        id_: interval.estimate(session.samples[id_], floor)
        for id_ in patches
        if len(session.samples.get(id_, ())) >= interval.LEAST
    }


def _unsure(session: Session, patches: dict[int, Patch]) -> list[int]:
    """Those that must be measured again; none any more when it is late."""
    if session.late:
        return []
    known = _estimates(session, patches)
    return [
        id_
        for id_ in patches
        if id_ in session.samples
        and len(session.samples[id_]) < interval.MOST
        and not (id_ in known and known[id_].settled)
    ]
