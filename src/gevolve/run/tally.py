"""Counts verdicts and keeps the front while evaluations come in, from a run or from its store."""

from collections import Counter
from dataclasses import replace

from gevolve.analyze.findings import Interval
from gevolve.analyze.kept import intervals, minimised
from gevolve.errors import StoreError
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.run.config import Config
from gevolve.run.result import Entry, Result
from gevolve.run.store import Store, format_id, parse_id
from gevolve.search import Individual, Settings, front
from gevolve.search.individual import admit

KEPT = 0.9
"""The part of the gain that a minimal patch must have on cases that the search never used."""


class Tally:
    """What the evaluations so far amount to."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.verdicts: Counter[str] = Counter()
        """How many variants got each verdict, without the unedited program."""
        self._alive: dict[int, Individual] = {}
        self._ids: dict[str, int] = {}
        self._front: list[Individual] = []
        self._checks: dict[int, dict[str, Evaluation]] = {}
        self._intervals: dict[int, Interval] = {}

    def add(self, id_: int, patch: Patch, evaluation: Evaluation) -> None:
        """Count one evaluation; the unedited program's must come first."""
        if patch.edits:
            self.verdicts[evaluation.verdict.value] += 1
        individual = admit(patch, evaluation, self._settings)
        if individual is not None:
            self._alive[id_] = individual
            self._ids[str(patch)] = id_
            self._front = front([*self._front, individual])

    def validate(self, id_: int, split: str, evaluation: Evaluation) -> None:
        """Take note of how a variant did on other cases.

        One that failed leaves the front, and with it all others that come down to the same code.
        """
        self._checks.setdefault(id_, {})[split] = evaluation
        if evaluation.ok or (gone := self._alive.pop(id_, None)) is None:
            return
        same = gone.evaluation.identity
        self._alive = {
            other: one
            for other, one in self._alive.items()
            if not same or one.evaluation.identity != same or not one.patch.edits
        }
        self._front = front(self._alive.values())

    def measure(self, id_: int, interval: Interval) -> None:
        """Take note of the ratio that a variant has on cases that the search never used.

        Where times vary, the search has seen luck: what was measured longer counts in its stead. So
        it does for what is fast on the search cases only, which must not hide what is fast elsewhere.
        """
        self._intervals[id_] = interval
        one = self._alive.get(id_)
        if one is not None and (
            interval.runs > 1 or interval.value >= 1 > one.time / self.baseline.time
        ):
            self._alive[id_] = replace(one, time=interval.value * self.baseline.time)
            self._front = front(self._alive.values())

    @property
    def started(self) -> bool:
        """Whether the unedited program was judged, without which nothing can be said."""
        return 0 in self._alive

    @property
    def baseline(self) -> Individual:
        return self._alive[0]

    @property
    def front(self) -> list[tuple[int, Individual]]:
        """The front with ids, fastest first."""
        return [(self._ids[str(one.patch)], one) for one in self._front]

    def unchecked(self, split: str) -> list[tuple[int, Patch]]:
        """What is left to try on a split: the whole front, or on ``large`` the best of it."""
        members = [(id_, one) for id_, one in self.front if one.patch.edits]
        if split == "large":
            exact = [(id_, one) for id_, one in members if one.error <= self.baseline.error]
            members = list(dict([*members[:1], *exact[:1]]).items())
        return [(id_, one.patch) for id_, one in members if split not in self._checks.get(id_, ())]

    def _ratio(self, id_: int, split: str) -> float | None:
        mine, unedited = (self._checks.get(n, {}).get(split) for n in (id_, 0))
        if mine is None or unedited is None or not mine.time or not unedited.time:
            return None
        return mine.time / unedited.time

    def error(self, id_: int, split: str) -> float | None:
        """A variant's error on another split, if it was tried there."""
        mine = self._checks.get(id_, {}).get(split)
        return None if mine is None else mine.error

    def entries(self) -> list[Entry]:
        """The front in the words of a result."""
        return [self._entry(id_, one) for id_, one in self.front]

    def _entry(self, id_: int, one: Individual) -> Entry:
        failed = any(not evaluation.ok for evaluation in self._checks.get(id_, {}).values())
        interval = None if failed else self._intervals.get(id_)
        return Entry(
            id=format_id(id_),
            time=one.time,
            ratio=one.time / self.baseline.time if self.baseline.time else 1.0,
            error=one.evaluation.error or 0.0,
            exact=one.error <= self.baseline.error,
            edits=len(one.patch),
            validated=interval is not None or not one.patch.edits,
            interval=interval,
            held_out=self._ratio(id_, "held-out"),
            held_out_error=self.error(id_, "held-out"),
            large=self._ratio(id_, "large"),
            patch=str(one.patch),
        )

    def minimal(self, store: Store, entry: Entry) -> Entry:
        """The minimal patch of an entry; the entry itself if that has none as good.

        It must have passed all checks, and kept the gain on cases that neither was found with.
        """
        found = minimised(store).get(entry.id)
        if found is None:
            return entry
        row = store.variant(parse_id(found.id))
        one = admit(row.patch, row.evaluation, self._settings)
        smaller = entry if one is None else self._entry(row.id, one)
        if smaller.interval is None:
            return entry
        kept = entry.interval is None or _gain(smaller.interval) >= KEPT * _gain(entry.interval)
        return smaller if kept else entry


def tally(store: Store, settings: Settings) -> Tally:
    """What the evaluations of a store amount to."""
    counted = Tally(settings)
    for row in store.evaluations():
        counted.add(row.id, row.patch, row.evaluation)
    for id_, splits in store.all_validations().items():
        for split, evaluation in splits.items():
            counted.validate(id_, split, evaluation)
    for id_, interval in intervals(store).items():
        counted.measure(parse_id(id_), interval)
    return counted


def best_of(entries: list[Entry], *, exact: bool) -> Entry | None:
    """The fastest validated entry that beats the unedited program, there as in the search."""
    return next((e for e in entries if _gains(e) and (e.exact or not exact)), None)


def _gain(interval: Interval) -> float:
    return 1 / interval.value - 1


def most_accurate(entries: list[Entry], error: float, held_out: float) -> Entry | None:
    """The validated entry with the least error that is no slower than the unedited program.

    It must have less error than the unedited program both in the search and on held-out data.
    """
    better = (
        e
        for e in entries
        if e.interval is not None
        and e.interval.low <= 1
        and e.error < error
        and e.held_out_error is not None
        and e.held_out_error < held_out
    )
    return min(better, key=lambda e: e.error, default=None)


def _gains(entry: Entry) -> bool:
    return entry.ratio < 1 and entry.interval is not None and entry.interval.high < 1


def result_of(store: Store, settings: Settings, config: Config) -> Result:
    """A run's summary, read from its store."""
    counted = tally(store, settings)
    if not counted.started:
        raise StoreError(
            f"{store.folder}: the unedited program was not judged yet; "
            f"wait, or start it again with `gevolve resume {store.folder}`"
        )
    entries = [counted.minimal(store, entry) for entry in counted.entries()]
    unedited = counted.baseline
    error, held_out = unedited.evaluation.error or 0.0, counted.error(0, "held-out")
    return Result(
        workload=config.workload,
        device=config.device,
        seed=config.seed,
        evaluations=counted.verdicts.total(),
        seconds=round(store.get("seconds", float, 0.0), 3),
        verdicts=dict(sorted(counted.verdicts.items())),
        baseline={"time": unedited.time, "error": error, "ratio": 1.0}
        | ({} if held_out is None else {"held_out_error": held_out}),
        best=best_of(entries, exact=False),
        best_exact=best_of(entries, exact=True),
        most_accurate=most_accurate(entries, error, held_out or 0.0) if unedited.error else None,
        front=entries,
        generations=len(store.get("curve", list[float], [])),
        tolerance=config.tolerance,
        status=store.get("status", str, "stopped"),
        run=str(store.folder),
    )
