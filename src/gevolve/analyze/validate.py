"""Validate variants: inputs and sizes that the search never used, and measured until it is sure.

A variant passes if it is `ok` on the held-out cases, on fresh ones (made for this very check), on varied ones
(in each of which one input is another than in a search case) and on the referee, if its device has one. Only then is its gain measured, on the fresh cases, and only what
was measured may be called a gain. One that fails is struck from the front for ever, and what takes
its place there is tried before anything is measured that is worth less.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from gevolve.analyze import interval
from gevolve.analyze.measure import NVCC, names, nvcc_estimate, rounds
from gevolve.analyze.refit import refit
from gevolve.analyze.session import Session, opened, silent
from gevolve.patch import Patch
from gevolve.run.caveats import add_warning
from gevolve.run.findings import Interval, Validation
from gevolve.run.nvcc import keep_judged
from gevolve.run.store import format_id, parse_id
from gevolve.search.individual import SAME

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from gevolve.evaluate.evaluator import Baseline
    from gevolve.run.run import Run
    from gevolve.run.store import StoredVariant
    from gevolve.workload.base import Split

APART = 0.02
"""Modelled times that differ by less than this share are not measured one by one."""
CANDIDATES = 64
"""At most this many variants are tried in one validation, not counting single edits of those that failed."""
ABREAST = 2
"""So many are checked at a time where a clock measures them: if time runs out, they are done."""
MEASURED: tuple[Split, ...] = ("fresh", "held-out")
"""The cases that gains are measured on: the first of these that a workload has."""
SUSPECTS = 24
"""So many edits of a variant that failed are tried alone."""


def check_front(session: Session, *, anew: bool = False) -> list[Validation]:
    """Check all that is or comes to the front, then its best on the large case too.

    `anew` also tries on new fresh cases what was tried on others before.
    """
    done: set[int] = set() if anew else {*map(parse_id, session.run.findings.intervals)}
    found: dict[int, Validation] = {}
    while not session.late:
        todo = [id_ for id_ in _shown(session) if id_ not in done][: _abreast(session)]
        untried = [id_ for id_ in todo if id_ not in found]
        if untried and len(found) < CANDIDATES:
            rows = [session.run.store.variant(id_) for id_ in untried]
            done.update({*untried} - {row.id for row in _judge(session, rows)})
            found |= _blamed(session, rows)
            continue
        if ready := [id_ for id_ in todo if id_ in found]:
            rows = [session.run.store.variant(id_) for id_ in ready]
            _measure(session, rows)
            done.update(ready)
            found |= _blamed(session, rows)
            continue
        if "large" not in session.run.workload.splits:
            break
        # However many were tried, none that could be called a gain is left out here.
        measured = {*map(parse_id, session.run.findings.intervals)}
        best = [
            id_ for id_, _ in session.standings.unchecked("large") if id_ in measured or not todo
        ]
        if not best:
            break
        rows = [session.run.store.variant(id_) for id_ in best]
        _, baseline = _try(session, rows, "large")
        for line in baseline.warnings:
            add_warning(session.run.store, line)
        found |= _blamed(session, rows)
    return list(found.values())


def _abreast(session: Session) -> int | None:
    """How many are checked at a time, the best first: so few, where a clock measures them, that time is left for the others."""
    unedited = session.evaluator.prepare("search")
    return None if unedited.deterministic and not unedited.modelled else ABREAST


def _blamed(session: Session, rows: Sequence[StoredVariant]) -> dict[int, Validation]:
    """What a run knows of variants that were checked; what failed of them is blamed on its edits."""
    checked = [_validation(session, row) for row in rows]
    _blame(session, checked)
    return {row.id: one for row, one in zip(rows, checked, strict=True)}


def _blame(session: Session, checked: Sequence[Validation]) -> None:
    """Try the single edits of what is faulty where it is: with one that is there, all that has it is."""
    splits: dict[str, Split] = {split: split for split in (*session.run.workload.splits, "varied")}
    for one in checked:
        split = splits.get(one.failed or session.standings.checks.inexact_on(parse_id(one.id)))
        if split is None:
            continue
        patch = session.run.store.variant(parse_id(one.id)).patch
        alone = session.standings.alone(patch, split)[:SUSPECTS]
        if len(patch) > 1 and alone:
            rows = [session.run.store.variant(id_) for id_ in alone]
            _try(session, rows, split)


def _shown(session: Session) -> list[int]:
    """What is to be checked of the front, and the minimal patches that stand for some of it in every view.

    Where it takes long, time may run out: the fastest comes first, then the one with the least error of those that
    take no more time than the unedited program, and then the others from both ends.
    """
    smaller = session.run.findings.minimized
    times = {format_id(id_): one.time for id_, one in session.standings.front}
    front = _by_worth(
        list(map(format_id, _distinct(session))),
        lambda name: times[name] <= SAME * session.standings.baseline.time,
    )
    names = [name for id_ in front for name in (id_, smaller[id_].id if id_ in smaller else id_)]
    return [parse_id(name) for name in dict.fromkeys(names)]


def _by_worth(front: Sequence[str], no_slower: Callable[[str], bool]) -> list[str]:
    """A front that is given fastest first, the best of both objectives first."""
    accurate = [name for name in front if no_slower(name)][-1:]
    found = list(dict.fromkeys([*front[:1], *accurate]))
    left = deque(name for name in front if name not in found)
    while left:
        found.append(left.pop() if len(found) % 2 else left.popleft())
    return found


def _distinct(session: Session) -> list[int]:
    """The members of the front within the tolerance, fastest first.

    Where times are modelled, a clock has to measure each of them. Of those that it could hardly tell apart
    only the one with the least error is; the others stay candidates. What takes no more time than the unedited program
    is told apart from what takes more.
    """
    standings = session.standings
    members = [
        (id_, one)
        for id_, one in standings.front
        if one.patch.edits and standings.within(id_, one.evaluation)
    ]
    if not session.evaluator.prepare("search").modelled:
        return [id_ for id_, _ in members]
    by_time = sorted((one.evaluation.time or 0.0, -one.error, id_) for id_, one in members)
    times = [(time, id_) for time, _, id_ in by_time]
    return _told_apart(times, SAME * (standings.baseline.evaluation.time or 0.0))


def _told_apart(front: Sequence[tuple[float, int]], unedited: float) -> list[int]:
    """Of a front, by time, those that a clock can tell apart; of others the slowest, which has the least error."""
    chosen: list[tuple[float, int]] = []
    for time, id_ in front:
        near = bool(chosen) and time <= (1 + APART) * chosen[-1][0]
        if near and (chosen[-1][0] <= unedited) is (time <= unedited):
            chosen[-1] = (chosen[-1][0], id_)
        else:
            chosen.append((time, id_))
    return [id_ for _, id_ in chosen]


def check(
    session: Session, rows: Sequence[StoredVariant], *, large: bool = False
) -> list[Validation]:
    """Try variants on held-out and fresh cases and on the referee, and measure those that pass.

    If asked to, try them on the large case as well.
    """
    alive = _judge(session, rows, large=large)
    _measure(session, alive)
    return [_validation(session, row) for row in rows]


def _judge(
    session: Session, rows: Sequence[StoredVariant], *, large: bool = False
) -> list[StoredVariant]:
    """Try variants on cases that the search never used, and on the referee; gives those that pass."""
    refit(session, rows)
    alive = list(rows)
    splits: tuple[Split, ...] = ("held-out", "fresh", "varied", *(("large",) if large else ()))
    for split in splits:
        if split in (*session.run.workload.splits, "varied"):
            alive, _ = _try(session, alive, split)
    return _refer(session, alive)


def _try(
    session: Session, rows: Sequence[StoredVariant], split: Split
) -> tuple[list[StoredVariant], Baseline]:
    """Judge variants on a split; gives those that pass, and the unedited program there.

    Fresh cases are new each time; any others, that a variant was tried on before, are not.
    """
    what = f"checking {names(rows)} on {split} cases"
    session.say(what)
    baseline = session.evaluator.prepare(split)
    session.record(0, split, baseline.evaluation)
    for row in rows:
        if split == "fresh" or split not in session.run.store.validations(row.id):
            session.evaluator.submit(row.id, row.patch, split)
    _submit_nvcc(session, split)
    for count, (key, evaluation) in enumerate(session.evaluator.results(), 1):
        if len(rows) > 1:
            session.say(f"{what}, {count} done")
        if isinstance(key, int):
            session.record(key, split, evaluation)
        else:
            keep_judged(session.run, split, evaluation, baseline.evaluation)
    return [row for row in rows if session.run.store.validations(row.id)[split].ok], baseline


def _submit_nvcc(session: Session, split: Split) -> None:
    """Have nvcc's build of the unedited program judged on a split, unless it was there.

    On varied cases nothing is timed: all that these could do is to take a rival away, for how it rounds where an input is
    extreme.
    """
    findings = session.run.findings
    known = {"held-out": findings.nvcc.held_out, "large": findings.nvcc.large}
    if findings.nvcc_artefact and split != "varied" and known.get(split) is None:
        session.evaluator.submit(NVCC, Patch(), split, artefact=findings.nvcc_artefact)


def _measured_on(session: Session) -> Baseline | None:
    """The unedited program on the cases that gains are measured on, if there are any."""
    for split in MEASURED:
        if split in session.run.workload.splits:
            return session.evaluator.prepare(split)
    return None


def _refer(session: Session, rows: Sequence[StoredVariant]) -> list[StoredVariant]:
    """Try variants on the device that sees what theirs is blind to."""
    baseline = _measured_on(session)
    if baseline is None or not baseline.referee or not session.run.config.referee or not rows:
        return list(rows)
    name = baseline.referee
    session.say(f"checking {names(rows)} on {name}")
    with session.run.evaluator(name, workers=session.workers) as referee:
        for row in rows:
            referee.submit(row.id, row.patch, "held-out")
        for key, evaluation in referee.results():
            assert isinstance(key, int)
            session.record(key, name, evaluation)
    return [row for row in rows if session.run.store.validations(row.id)[name].ok]


def _measure(session: Session, rows: Sequence[StoredVariant]) -> None:
    """Measure the ratio of variants that passed; keep each with its interval."""
    baseline = _measured_on(session)
    if baseline is None:
        return
    if not baseline.deterministic:
        for estimates in rounds(session, rows, baseline.split):
            _keep(session, estimates)
        return
    unedited = baseline.evaluation.time or 1.0
    for row in rows:
        mine = session.run.store.validations(row.id)[baseline.split].time or unedited
        _keep(session, {row.id: interval.certain(mine / unedited)})


def _keep(session: Session, estimates: dict[int, Interval]) -> None:
    findings = session.run.findings
    findings.add_intervals({format_id(id_): one for id_, one in estimates.items()})
    rival = nvcc_estimate(session) or findings.nvcc.interval
    if rival is not None:
        findings.add_nvcc_intervals(
            {format_id(id_): interval.over(one, rival) for id_, one in estimates.items()}
        )
    for id_, one in estimates.items():
        session.standings.measure(id_, one)
    session.standings.compare(findings)


def _validation(session: Session, row: StoredVariant) -> Validation:
    """What a run knows of the checks of a variant."""
    found = session.run.store.validations(row.id)
    failed = next((split for split, one in found.items() if not one.ok), "")
    why = f"{found[failed].verdict}: {found[failed].detail}" if failed else ""
    summary = session.standings.describe(row)
    return Validation(
        id=format_id(row.id),
        passed=[split for split, one in found.items() if one.ok],
        failed=failed,
        why=why,
        interval=summary and summary.interval,
        nvcc=summary and summary.nvcc_interval,
        gain=summary is not None and summary.gain,
    )


def validate(
    run: Run | str | Path,
    variant: str | None = None,
    *,
    workers: int | None = None,
    say: Callable[[str], None] = silent,
) -> list[Validation]:
    """Check a run's front, or one variant, on inputs never used before; as ``gevolve validate`` does.

    Each call draws new inputs. What fails is struck from the run's front.
    """
    with opened(run, workers=workers, say=say, fresh=True) as session:
        if variant is None:
            return check_front(session, anew=True)
        return check(session, [session.run.variant(variant)], large=True)
