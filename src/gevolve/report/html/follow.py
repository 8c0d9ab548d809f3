"""Follows a run through its store: reads what is new, and keeps what the page draws.

A page of a finished run and a page of one in progress show the same, so both come from here: the
first reads once, the second again and again. What only grows (working variants, edits) is kept as
logs, so that a page that has some of it asks for the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from gevolve.errors import StoreError
from gevolve.evaluate.protocol import NodeStatus
from gevolve.report.html.history import History
from gevolve.report.html.kinds import Kinds
from gevolve.report.terminal import error_words
from gevolve.run.standings import Standings
from gevolve.run.store import format_id, parse_id
from gevolve.run.summary import best_of, most_accurate

if TYPE_CHECKING:
    from collections.abc import Callable

    from gevolve.evaluate.verdict import Evaluation
    from gevolve.patch import Patch
    from gevolve.run.findings import Interval
    from gevolve.run.run import Run
    from gevolve.run.store import StoredVariant
    from gevolve.run.summary import VariantSummary

COLUMNS = ("id", "generation", "ratio", "error", "patch")
"""What a page knows of each working variant; `patch` holds positions in the log of edits."""
WORDS = 1_000_000
"""About so many characters are spent on edits in words."""


class Points:
    """The variants that work, in the order in which their verdicts came, column by column."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}

    def add(self, *values: object) -> None:
        for column, value in zip(self.columns.values(), values, strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self.columns["id"])

    def since(self, position: int) -> dict[str, list[Any]]:
        return {name: column[position:] for name, column in self.columns.items()}


class Follower:
    """What a run amounts to so far."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._store = run.store
        self.settings = run.settings
        self.standings = Standings(self.settings, run.config.strict)
        self.points = Points()
        self._next = 0
        """Every id below this one is known, ..."""
        self._ahead: set[int] = set()
        """... and these above it: verdicts do not come in the order of ids."""
        self._unedited: Evaluation | None = None
        self._front: list[VariantSummary] | None = None
        self._kinds = Kinds()
        self._history = History(self.settings.bound)
        self._generations: dict[int, Counter[str]] = defaultdict(Counter)
        self._stages: dict[str, float] = defaultdict(float)
        self._examples: dict[str, tuple[int, str]] = {}
        self._patches: dict[int, Patch] = {}
        self._numbers: dict[int, list[int]] = {}
        self.checks: dict[int, dict[str, Evaluation]] = {}
        self._struck: set[int] = set()
        self._measured: dict[str, Interval] = {}
        self._nodes: list[NodeStatus] = []

    def read(self) -> bool:
        """Read what is new in the store; returns whether anything is."""
        fresh = False
        self._front = None
        for row in self._store.evaluations(after=self._next - 1):
            if row.id not in self._ahead:
                self._take(row)
                fresh = True
        while self._next in self._ahead:
            self._ahead.remove(self._next)
            self._next += 1
        checks = self._store.all_validations()
        if checks != self.checks:
            self.checks = checks
            fresh = True
            for id_, splits in checks.items():
                for split, evaluation in splits.items():
                    self.standings.validate(id_, split, evaluation)
                failed = not all(one.ok for one in splits.values())
                if failed and id_ > 0 and id_ not in self._struck:
                    self._struck.add(id_)
                    self._history.drop(id_)
                inexact = [one.error or 0.0 for one in splits.values() if one.inexact]
                if inexact and not failed:
                    self._history.correct(id_, max(inexact))
        measured = self.run.findings.intervals  # kept after the checks that it sums up
        if measured != self._measured:
            self._measured = measured
            fresh = True
            for name, interval in measured.items():
                self.standings.measure(parse_id(name), interval)
        before = self.standings.nvcc, self._nodes, self.standings.refits
        self.standings.compare(self.run.findings)
        self._nodes = self._store.get("nodes", list[NodeStatus], [])
        return fresh or before != (self.standings.nvcc, self._nodes, self.standings.refits)

    def _take(self, row: StoredVariant) -> None:
        self._ahead.add(row.id)
        evaluation = row.evaluation
        if row.id == 0:
            self._unedited = evaluation
        elif self._unedited is None:
            raise StoreError(
                f"{self._store.folder}: variants were judged before the unedited program; "
                "restore a copy of the run"
            )
        self.standings.add(row.id, row.patch, evaluation)
        for stage, seconds in evaluation.seconds.items():
            self._stages[stage] += seconds
        numbers = self._kinds.add(row.id, row.patch, ok=evaluation.ok)
        if numbers:
            self._generations[row.generation][evaluation.verdict.value] += 1
            if evaluation.detail:
                self._examples.setdefault(evaluation.verdict.value, (row.id, evaluation.detail))
        if not evaluation.ok or evaluation.time is None or evaluation.error is None:
            return
        self._patches[row.id] = row.patch
        self._numbers[row.id] = numbers
        ratio = self.ratio(evaluation, self._unedited)
        clamped = evaluation.error if evaluation.error > self.settings.rounding else 0.0
        self._history.add(row.generation, (ratio, clamped, len(row.patch), row.id))
        self.points.add(
            row.id,
            row.generation,
            round(ratio, 6),
            float(f"{evaluation.error:.4g}"),
            numbers,
        )

    @staticmethod
    def ratio(mine: Evaluation | None, unedited: Evaluation | None) -> float:
        """A time over the unedited program's; 1 where that says nothing."""
        if mine is None or unedited is None or not mine.time or not unedited.time:
            return 1.0
        return mine.time / unedited.time

    @property
    def edits(self) -> list[str]:
        """The log of edits."""
        return self._kinds.texts

    @property
    def front(self) -> list[VariantSummary]:
        """The front, fastest first."""
        if self._front is None:
            self._front = self.standings.variants() if self.standings.started else []
        return self._front

    @property
    def best(self) -> VariantSummary | None:
        """The fastest variant whose gain was validated: the only one to be called an improvement.

        It may have a minimal patch, which then stands for it.
        """
        claims = self._claimable
        shown = best_of([one for _, one in claims], exact=False)
        return next((entry for entry, one in claims if one is shown), None)

    @property
    def _claimable(self) -> list[tuple[VariantSummary, VariantSummary]]:
        """What was measured, fastest first, each with the minimal patch that results show in its place if it has one."""
        smaller = self.run.findings.minimized
        measured = self.standings.measured() if self.standings.started else []
        return [
            (entry, self.standings.minimal(entry, self._store) if entry.id in smaller else entry)
            for entry in measured
        ]

    def _claims(self) -> dict[str, Any]:
        """All that may be called an improvement: the fastest, the fastest exact, the most accurate."""
        shown = [one for _, one in self._claimable]
        error = self._unedited.error if self._unedited else None
        held_out = self.standings.checks.error(0, "held-out") or 0.0
        claims = {
            "claim": best_of(shown, exact=False),
            "exact": best_of(shown, exact=True),
            "accurate": most_accurate(shown, error, held_out) if error else None,
        }
        return {name: entry and self._entry(entry) for name, entry in claims.items()}

    @property
    def candidate(self) -> VariantSummary | None:
        """The fastest variant on the search cases, checked or not."""
        return next((entry for entry in self.front if entry.ratio < 1), None)

    @property
    def shown(self) -> list[int]:
        """Variants that people will ask about: the front, then all checked, then all ever on it."""
        now = (parse_id(entry.id) for entry in self.front)
        wanted = dict.fromkeys([*now, *sorted(self.checks), *sorted(self._history.ever)])
        return [id_ for id_ in wanted if id_ in self._patches]

    def _words(self, describe: Callable[[Patch], list[str]], room: int) -> dict[str, list[str]]:
        """The edits of such variants in words, as far as there is room."""
        words: dict[str, list[str]] = {}
        for id_ in self.shown:
            words[format_id(id_)] = sentences = describe(self._patches[id_])
            room -= sum(map(len, sentences))
            if room < 0:
                break
        return words

    def summary(self, words: Callable[[Patch], list[str]], room: int = WORDS) -> dict[str, Any]:
        """All but the logs, with about so many characters of edits in words."""
        steps = self._history.steps()  # first: `shown` follows from it
        evaluations = self.standings.verdicts.total()
        seconds = self._store.get("seconds", float, 0.0)
        best, candidate = self.best, self.candidate
        verdicts = sorted(self.standings.verdicts, key=lambda name: -self.standings.verdicts[name])
        return {
            "status": self._store.get("status", str, "stopped"),
            "evaluations": evaluations,
            "seconds": seconds,
            "baseline": self._baseline(),
            "nvcc": msgspec.to_builtins(self.standings.nvcc),
            "best": best and best.id,
            **self._claims(),
            "candidate": candidate and candidate.id,
            "front": [self._entry(entry) for entry in self.front],
            "unsure": msgspec.to_builtins(self.standings.unsure()) if self._unedited else [],
            "checks": {format_id(id_): self._checked(id_) for id_ in self.checks},
            "measured": msgspec.to_builtins(self._measured),
            "history": steps,
            "verdicts": {name: self.standings.verdicts[name] for name in verdicts},
            "examples": {
                verdict: [format_id(id_), detail[:400]]
                for verdict, (id_, detail) in self._examples.items()
            },
            "generations": [[g, dict(self._generations[g])] for g in sorted(self._generations)],
            "kinds": self._table(best or candidate),
            "stages": {
                name: round(value, 3)
                for name, value in sorted(self._stages.items(), key=lambda item: -item[1])
                if name != "total"
            },
            "nodes": msgspec.to_builtins(self._nodes),
            "words": self._words(words, room),
        }

    def _table(self, best: VariantSummary | None) -> list[dict[str, Any]]:
        """Which kinds of edit paid."""
        reached = {number for id_ in self._history.ever for number in self._numbers[id_]}
        held = self._numbers.get(parse_id(best.id), []) if best else []
        return self._kinds.table(reached, set(held))

    def _baseline(self) -> dict[str, Any] | None:
        if self._unedited is None:
            return None
        return {
            "time": self._unedited.time,
            "gaps": self._unedited.gaps,
            "error": self._unedited.error,
            "heldOutError": self.standings.checks.error(0, "held-out"),
        }

    def _entry(self, entry: VariantSummary) -> dict[str, Any]:
        return {
            "id": entry.id,
            "ratio": entry.ratio,
            "error": entry.error,
            "exact": entry.exact,
            "words": error_words(entry),
            "relative": bool(entry.unedited_error),
            "off": entry.off,
            "edits": entry.edits,
            "validated": entry.validated,
            "heldOutError": entry.held_out_error,
            "interval": msgspec.to_builtins(entry.interval),
            "nvcc": entry.nvcc,
            "nvccInterval": msgspec.to_builtins(entry.nvcc_interval),
            "headline": msgspec.to_builtins(entry.headline),
            "gain": entry.gain,
        }

    def _checked(self, id_: int) -> dict[str, Any]:
        """What became of a variant on other cases, by split; the ratio is that of cases which are timed."""
        unedited = self.checks.get(0, {})
        return {
            split: {
                "verdict": evaluation.verdict.value,
                "ratio": self.ratio(evaluation, unedited.get(split)) if evaluation.time else None,
                "error": evaluation.error,
                "off": evaluation.off,
                "detail": evaluation.detail[:400],
            }
            for split, evaluation in self.checks[id_].items()
        }
