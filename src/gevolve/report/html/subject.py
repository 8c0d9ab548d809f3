"""The one variant that a page takes apart: its edits in words, its source lines, its IR.

That is the minimal patch if `gevolve minimize` made one, else the best validated variant, else the
fastest candidate, which the page then says is not validated.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from gevolve.analyze.kept import explained, minimised
from gevolve.errors import GevolveError
from gevolve.program import restore
from gevolve.report.html.diff import side_by_side
from gevolve.report.html.source import marked_source
from gevolve.run.store import parse_id

if TYPE_CHECKING:
    from gevolve.analyze.findings import Minimised
    from gevolve.patch import Patch
    from gevolve.program import Program
    from gevolve.report.html.follow import Follower
    from gevolve.run.config import Config
    from gevolve.run.result import Entry
    from gevolve.run.store import Store
    from gevolve.workload.base import Workload

_PLACE = re.compile(r"([\w.+-]+\.\w+):(\d+)")
"""A source line as descriptions of edits name it."""


class Describer:
    """Says edits in words; in their text form where the program cannot be read here."""

    def __init__(self, store: Store, config: Config) -> None:
        self.program = _restore(store, config)
        self._known: dict[object, str] = {}

    def __call__(self, patch: Patch) -> list[str]:
        for edit in patch:
            if edit not in self._known:
                self._known[edit] = self.program.describe(edit) if self.program else str(edit)
        return [self._known[edit] for edit in patch]


def _restore(store: Store, config: Config) -> Program | None:
    """The program of a run, if what reads its IR is installed."""
    try:
        return restore(config.ir, store.program_text)
    except (GevolveError, ImportError):
        return None


def _minimal(store: Store, entry: Entry | None) -> Minimised | None:
    """The minimal patch of this variant; if it has none, the fastest that there is."""
    found = minimised(store)
    if entry is not None and entry.id in found:
        return found[entry.id]
    return min(found.values(), key=lambda one: (one.ratio_after, one.id), default=None)


def newest(store: Store, follower: Follower) -> tuple[object, ...]:
    """Changes when there is something else, or something more, to take apart."""
    entry = follower.best or follower.candidate
    return entry and entry.id, len(minimised(store)), len(explained(store))


def take_apart(
    store: Store, follower: Follower, words: Describer, workload: Workload | None
) -> dict[str, Any] | None:
    """All about the variant; None if nothing is faster than the unedited program yet."""
    entry = follower.best or follower.candidate
    minimal = _minimal(store, entry)
    if minimal is not None:
        id_, role = minimal.id, "minimal"
    elif entry is not None:
        id_, role = entry.id, "best" if follower.best else "candidate"
    else:
        return None
    row = store.variant(parse_id(id_))
    sentences = words(row.patch)
    apart = explained(store).get(id_)
    if apart is not None and len(apart.edits) == len(row.patch):
        sentences = [story.sentence for story in apart.edits]
    places = _places([f"{a} {b}" for a, b in zip(words(row.patch), sentences, strict=True)])
    return {
        "id": id_,
        "role": role,
        "patch": [str(edit) for edit in row.patch],
        "sentences": sentences,
        "verdict": row.evaluation.verdict.value,
        "ratio": follower.ratio(row.evaluation, store.variant(0).evaluation),
        "error": row.evaluation.error,
        "minimised": msgspec.to_builtins(minimal),
        "explained": msgspec.to_builtins(apart),
        "source": marked_source(store, follower.config.spec, workload, places),
        "diff": side_by_side(words.program, row.patch) if words.program else None,
    }


def _places(sentences: list[str]) -> dict[str, dict[int, list[int]]]:
    """The source lines that edits name, by file: for each line the positions of the edits."""
    places: dict[str, dict[int, list[int]]] = {}
    for position, sentence in enumerate(sentences):
        for file, line in dict.fromkeys(_PLACE.findall(sentence)):
            places.setdefault(file, {}).setdefault(int(line), []).append(position)
    return places
