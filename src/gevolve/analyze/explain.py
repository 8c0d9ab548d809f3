"""Explain a minimal patch: each edit alone, without each, in pairs; what each changes, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gevolve.analyze.minimize import minimize_variant
from gevolve.analyze.relations import SHARE, groups, pairs_of, relate
from gevolve.analyze.session import Session, opened, silent
from gevolve.analyze.terms import Terms, terms
from gevolve.device.base import Limits
from gevolve.errors import GevolveError
from gevolve.evaluate.verdict import Verdict
from gevolve.patch import Patch
from gevolve.run.findings import EditPair, Effect, ExplainedEdit, Explanation
from gevolve.run.store import format_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gevolve.evaluate.verdict import Evaluation
    from gevolve.program import Change
    from gevolve.run.run import Run
    from gevolve.run.store import StoredVariant

PAIRED = 12
"""Of a longer patch only so many edits are tried in pairs: those that are missed most."""
FUEL = 1 << 26
"""Loop iterations that one thread may need when its cost is taken, which no variant that passed does."""
NOISE, VARIES = 2.0, 0.03
"""Where times vary, equal ones may differ by so many spreads, and by this in any case."""


def explain_variant(session: Session, row: StoredVariant) -> Explanation:
    """Take one variant apart and keep what was found."""
    parts = _Parts(session, row)
    found = Explanation(
        id=format_id(row.id),
        edits=parts.edits(),
        pairs=parts.pairs,
        groups=groups(len(row.patch), parts.pairs, parts.alone, parts.without, parts.whole),
    )
    session.run.findings.add_explanation(found)
    return found


class _Parts:
    """The parts of a patch, judged: each edit alone, the patch without each, and pairs."""

    def __init__(self, session: Session, row: StoredVariant) -> None:
        self._session = session
        self._whole = row
        edits = row.patch.edits
        count = len(edits)
        self._singles = [Patch((edit,)) for edit in edits]
        self._rests = [Patch(edits[:n] + edits[n + 1 :]) for n in range(count)]
        session.say(f"trying {count} edits alone, and the patch without each")
        judged = session.judge([*self._singles, *self._rests])
        self._alone, self._without = judged[:count], judged[count:]
        self.alone = [self._effect(one.evaluation) for one in self._alone]
        self.without = [self._effect(one.evaluation) for one in self._without]
        self.whole = self._effect(row.evaluation).ratio or 1.0
        self.pairs = self._pairs()

    def _effect(self, evaluation: Evaluation) -> Effect:
        unedited = self._session.unedited.evaluation.time or 1.0
        ratio = None if evaluation.time is None or not evaluation.ok else evaluation.time / unedited
        return Effect(verdict=evaluation.verdict.value, ratio=ratio, error=evaluation.error)

    def _pairs(self) -> list[EditPair]:
        """Every two edits together; of a long patch only those that are missed most."""

        def missed(n: int) -> float:
            ratio = self.without[n].ratio
            return float("inf") if ratio is None else ratio

        count = len(self._singles)
        wanted = pairs_of(sorted(range(count), key=lambda n: (-missed(n), n))[:PAIRED])
        if not wanted:
            return []
        self._session.say(f"trying {len(wanted)} pairs of edits")
        edits = self._whole.patch.edits
        rows = self._session.judge([Patch((edits[a], edits[b])) for a, b in wanted])
        saved = 1 - self.whole
        found: list[EditPair] = []
        for (a, b), row in zip(wanted, rows, strict=True):
            noise = max(one.evaluation.spread for one in (row, self._alone[a], self._alone[b]))
            margin = max(SHARE * abs(saved), NOISE * noise, VARIES if noise else 0.0)
            found.append(relate(a, b, self.alone, self._effect(row.evaluation), margin=margin))
        return found

    def edits(self) -> list[ExplainedEdit]:
        """Each edit: what it does and what it is good for."""
        changes = self._changes()
        program = self._session.run.program
        found: list[ExplainedEdit] = []
        for n, edit in enumerate(self._whole.patch):
            described = program.describe(edit)
            change = self._difference(n) or described
            # What blind edits do is seen only in what became of the program; the others say it themselves.
            told = change if edit.kind in program.paper_kinds else described
            found.append(
                ExplainedEdit(
                    edit=str(edit),
                    sentence=told.sentence,
                    theme=change.theme,
                    line=change.line or described.line,
                    lines=list(dict.fromkeys([*change.lines, *described.lines])),
                    alone=self.alone[n],
                    without=self.without[n],
                    changes=changes[n],
                )
            )
        return found

    def _difference(self, n: int) -> Change | None:
        """What sets the patch apart from the patch without an edit, or that edit alone from none.

        Only what compiled is compared, since a compiler may not survive the rest.
        """
        program, whole = self._session.run.program, self._whole.patch
        for row, before, after in (
            (self._without[n], self._rests[n], whole),
            (self._alone[n], Patch(), self._singles[n]),
        ):
            if row.evaluation.verdict in {Verdict.INVALID, Verdict.COMPILE}:
                continue
            try:
                change = program.difference(before, after)
            except GevolveError:
                continue
            if change is not None:
                return change
        return None

    def _changes(self) -> list[dict[str, float]]:
        """What each edit changes in the cost of a run, in the patch if it can do without, or alone."""
        none: list[dict[str, float]] = [{} for _ in self._singles]
        unedited = self._terms(Patch())
        whole = self._terms(self._whole.patch)
        if unedited is None or whole is None:
            return none
        found: list[dict[str, float]] = []
        for n in range(len(self._singles)):
            before, after = None, None
            if self._without[n].evaluation.ok:
                before, after = self._terms(self._rests[n]), whole
            elif self._alone[n].evaluation.ok:
                before, after = unedited, self._terms(self._singles[n])
            found.append(after.changes(before, unedited) if before and after else {})
        return found

    def _terms(self, patch: Patch) -> Terms | None:
        session = self._session
        text = session.run.program.apply(patch).text
        return terms(session.run.workload, session.run.device, text, Limits(fuel=FUEL))


def explain(
    run: Run | str | Path,
    variant: str | None = None,
    *,
    workers: int | None = None,
    say: Callable[[str], None] = silent,
) -> Explanation:
    """Explain a variant of a run, by default the minimal patch of its best; as ``gevolve explain`` does."""
    with opened(run, workers=workers, say=say) as session:
        row = session.run.variant(variant)
        if variant is None:
            found = minimize_variant(session, row)
            assert found is not None
            row = session.run.variant(found.id)
        known = session.run.findings.explanations.get(format_id(row.id))
        return known or explain_variant(session, row)
