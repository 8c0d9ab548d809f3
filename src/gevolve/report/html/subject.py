"""The one variant that a page takes apart: its edits in words, its source lines, its IR.

That is the minimal patch if `gevolve minimize` made one, else the best validated variant, else the
fastest candidate, which the page then says is not validated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gevolve.errors import GevolveError, PatchError
from gevolve.program import Change
from gevolve.report.html.diff import side_by_side
from gevolve.report.html.source import marked_source

if TYPE_CHECKING:
    from gevolve.patch import Edit, Patch
    from gevolve.program import Program
    from gevolve.report.html.follow import Follower
    from gevolve.run.findings import Minimized
    from gevolve.run.run import Run
    from gevolve.run.summary import VariantSummary


class Describer:
    """Says edits in words; in their text form where the program cannot be read here."""

    def __init__(self, run: Run) -> None:
        self.program = _program(run)
        self._known: dict[Edit, Change] = {}

    def __call__(self, patch: Patch) -> list[str]:
        return [change.sentence for change in self.changes(patch)]

    def changes(self, patch: Patch) -> list[Change]:
        """What each edit does."""
        for edit in patch:
            if edit not in self._known:
                described = self.program.describe(edit) if self.program else Change(str(edit))
                self._known[edit] = described
        return [self._known[edit] for edit in patch]


def _program(run: Run) -> Program | None:
    """The program of a run, if what reads its IR is installed."""
    try:
        return run.program
    except (GevolveError, ImportError):
        return None


def _minimal(run: Run, entry: VariantSummary | None) -> Minimized | None:
    """The minimal patch of this variant; if it has none, the fastest minimal patch that there is."""
    found = run.findings.minimized
    if entry is not None and entry.id in found:
        return found[entry.id]
    return min(found.values(), key=lambda one: (one.ratio_after, one.id), default=None)


def newest(follower: Follower) -> tuple[object, ...]:
    """Changes when there is something else, or something more, to take apart."""
    entry, findings = follower.best or follower.candidate, follower.run.findings
    return entry and entry.id, len(findings.minimized), len(findings.explanations)


def take_apart(follower: Follower, words: Describer) -> dict[str, Any] | None:
    """All about the variant; None if nothing is faster than the unedited program yet."""
    run, store = follower.run, follower.run.store
    entry = follower.best or follower.candidate
    minimal = _minimal(run, entry)
    if minimal is not None:
        id_, role = minimal.id, "minimal"
    elif entry is not None:
        id_, role = entry.id, "best" if follower.best else "candidate"
    else:
        return None
    row = run.variant(id_)
    sentences = words(row.patch)
    lines = [list(change.lines) for change in words.changes(row.patch)]
    apart = run.findings.explanations.get(id_)
    if apart is not None and len(apart.edits) == len(row.patch):
        sentences = [one.sentence for one in apart.edits]
        lines = [
            [*mine, one.line, *one.lines] for mine, one in zip(lines, apart.edits, strict=True)
        ]
    return {
        "id": id_,
        "role": role,
        "patch": [str(edit) for edit in row.patch],
        "sentences": sentences,
        "verdict": row.evaluation.verdict.value,
        "ratio": follower.ratio(row.evaluation, store.variant(0).evaluation),
        "error": row.evaluation.error,
        "minimized": msgspec.to_builtins(minimal),
        "explained": msgspec.to_builtins(apart),
        "source": marked_source(run, _by_file(lines)),
        "diff": _diff(words.program, row.patch) if words.program else None,
    }


def _diff(program: Program, patch: Patch) -> dict[str, Any] | None:
    """What the patch changes; None if an edit is of a kind that is not installed here."""
    try:
        return side_by_side(program, patch)
    except PatchError:
        return None


def _by_file(lines: list[list[str]]) -> dict[str, dict[int, list[int]]]:
    """The source lines of edits, by file: for each line the positions of its edits in the patch."""
    found: dict[str, dict[int, list[int]]] = {}
    for position, mine in enumerate(lines):
        for line in dict.fromkeys(filter(None, mine)):
            file, _, number = line.rpartition(":")
            found.setdefault(file, {}).setdefault(int(number), []).append(position)
    return found
