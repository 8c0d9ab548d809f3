"""Minimize a patch: leave out every edit that does not pay, so that what remains is needed.

Delta debugging under the objectives of the search. A smaller patch is as good if it keeps the whole
gain of its source, up to a hundredth, may be called a gain as well, and is no less right. It is always
compared with the source, so that small losses do not add up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from gevolve.analyze.cost import keep_costs
from gevolve.analyze.ddmin import ddmin
from gevolve.analyze.session import Session, SpentError, opened, silent
from gevolve.analyze.validate import check
from gevolve.errors import StoreError
from gevolve.patch import Patch
from gevolve.run.claim import does_less
from gevolve.run.findings import Minimized
from gevolve.run.store import format_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gevolve.evaluate.verdict import Evaluation
    from gevolve.run.run import Run
    from gevolve.run.store import StoredVariant

LOSS = 0.01
"""The part of the gain that a minimal patch may lose."""
NOISE, AT_MOST = 2.0, 0.1
"""Where times vary, two that differ by so many spreads may be equal; but not by this part of the gain."""


class Bar:
    """What a patch must reach to be as good as its source."""

    def __init__(self, source: Evaluation, unedited: Evaluation, rounding: float) -> None:
        assert source.time is not None
        assert unedited.time is not None
        gain = unedited.time / source.time - 1
        self.time = unedited.time / (1 + (1 - LOSS) * gain) if gain > 0 else source.time
        error, before = source.error or 0.0, unedited.error or 0.0
        self.error = max(rounding, error + LOSS * max(0.0, before - error))
        self._slack = AT_MOST * max(0.0, unedited.time - source.time)
        self._spread = source.spread
        self._work = unedited.work if does_less(source.work, unedited.work) else ()

    def cleared_by(self, evaluation: Evaluation) -> bool:
        """Whether this evaluation is as good."""
        if not evaluation.ok or evaluation.time is None or evaluation.error is None:
            return False
        noise = NOISE * math.hypot(self._spread, evaluation.spread) * self.time
        late = evaluation.time - self.time
        fast = late <= min(noise, self._slack)
        return fast and evaluation.error <= self.error and does_less(evaluation.work, self._work)


def minimize_variant(session: Session, source: StoredVariant) -> Minimized | None:
    """Minimize one variant and keep what came of it, or the shortest so far if that reaches the session's limit.

    It is None if nothing could go until then. Whatever was judged is in the store, so asking again goes on from there.
    """
    for known in session.run.findings.minimized.values():
        if format_id(source.id) in (known.source, known.id):
            if known.complete or session.limited:
                return known
            source = session.run.variant(known.source)
    if not source.evaluation.ok or source.evaluation.time is None:
        raise StoreError(
            f"{format_id(source.id)} is judged {source.evaluation.verdict}; name a variant that is ok"
        )
    unedited = session.unedited.evaluation
    bar = Bar(_measured(session, source), unedited, session.run.settings.rounding)
    edits = source.patch.edits
    shortest = list(range(len(edits)))

    def effective(positions: list[int]) -> list[int]:
        """Without the edits that do nothing in this company."""
        patch = Patch(tuple(edits[n] for n in positions))
        skipped = {n for n, _ in session.run.program.apply(patch).skipped}
        return [n for at, n in enumerate(positions) if at not in skipped]

    def passes(candidates: list[list[int]]) -> list[list[int] | None]:
        nonlocal shortest
        needed = [effective(candidate) for candidate in candidates]
        rows = session.judge([Patch(tuple(edits[n] for n in some)) for some in needed])
        fewest = min(map(len, needed))
        session.say(f"minimizing {format_id(source.id)}: {len(edits)} edits, trying {fewest} …")
        verdicts = (bar.cleared_by(row.evaluation) for row in rows)
        found = [some if verdict else None for some, verdict in zip(needed, verdicts, strict=True)]
        shortest = min([shortest, *filter(None, found)], key=len)
        return found

    before, complete = session.asked, True
    try:
        (start,) = passes([shortest])
        left = ddmin(start or shortest, passes)
    except SpentError:
        left, complete = shortest, False
        if len(left) == len(edits):
            return None
    row = session.judged(Patch(tuple(edits[n] for n in left)))
    assert row.evaluation.time is not None
    assert unedited.time is not None
    result = Minimized(
        source=format_id(source.id),
        id=format_id(row.id),
        before=len(edits),
        after=len(left),
        ratio_before=source.evaluation.time / unedited.time,
        ratio_after=row.evaluation.time / unedited.time,
        evaluations=session.asked - before,
        complete=complete,
    )
    session.run.findings.add_minimized(result)
    return result


def _measured(session: Session, source: StoredVariant) -> Evaluation:
    """The evaluation of a variant, with the time that was measured longer if the search measured too."""
    interval = session.run.findings.intervals.get(format_id(source.id))
    unedited = session.unedited.evaluation.time
    if interval is None or interval.runs == 1 or unedited is None or not source.evaluation.spread:
        return source.evaluation
    return msgspec.structs.replace(source.evaluation, time=interval.value * unedited, spread=0.0)


def minimize(
    run: Run | str | Path,
    variant: str | None = None,
    *,
    workers: int | None = None,
    say: Callable[[str], None] = silent,
) -> Minimized:
    """Minimize a variant of a run, by default its best; what ``gevolve minimize`` does.

    The minimal variant is then checked on all other cases, like every variant that is reported.
    """
    with opened(run, workers=workers, say=say) as session:
        found = minimize_variant(session, session.run.variant(variant))
        assert found is not None
        check(session, [session.run.variant(found.id)], large=True)
        keep_costs(session.run)
        return found
