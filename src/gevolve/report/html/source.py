"""The user's source with the lines that edits touch, as the run recorded it when it began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gevolve.run.sources import NAME, SourceFile

if TYPE_CHECKING:
    from gevolve.run.run import Run

WHOLE = 200
"""A file of up to this many lines is shown whole; of a longer one, what lies around the edits."""
AROUND = 8

Places = dict[str, dict[int, list[int]]]


def marked_source(run: Run, places: Places) -> list[dict[str, Any]]:
    """Each file that the run recorded: runs of ``[number, text, edits]``, and the file's hash."""
    recorded = run.store.get(NAME, dict[str, SourceFile], {})
    files: list[dict[str, Any]] = []
    for name, lines in places.items():
        source = recorded.get(name)
        text = source.text.splitlines() if source else []
        if source and max(lines) <= len(text):
            files.append({"name": name, "sha256": source.sha256, "runs": _runs(text, lines)})
    return files


def _runs(text: list[str], lines: dict[int, list[int]]) -> list[list[list[Any]]]:
    """The lines to show, in runs without gaps."""
    runs: list[list[list[Any]]] = []
    last = -1
    for number, line in enumerate(text, 1):
        near = any(abs(number - other) <= AROUND for other in lines)
        if not near and len(text) > WHOLE:
            continue
        if number != last + 1:
            runs.append([])
        runs[-1].append([number, line, lines.get(number, [])])
        last = number
    return runs
