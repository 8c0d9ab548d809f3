"""The user's source with the lines that edits touch, if it is still where the run found it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gevolve.errors import GevolveError
from gevolve.workload.kernel import KernelWorkload

if TYPE_CHECKING:
    from gevolve.run.run import Run
    from gevolve.workload.base import Workload
    from gevolve.workload.locate import Location

WHOLE = 200
"""A file of up to this many lines is shown whole; of a longer one, what lies around the edits."""
AROUND = 8
LARGEST = 1 << 20

Places = dict[str, dict[int, list[int]]]


def marked_source(run: Run, workload: Workload | None, places: Places) -> list[dict[str, Any]]:
    """Each file that can be found: runs of ``[number, text, edits]``.

    With the workload at hand it is also known whether the source is still what the run was made of.
    """
    unchanged = _unchanged(run, workload)
    files: list[dict[str, Any]] = []
    for name, lines in places.items():
        text = _read(name, run.config.location, workload)
        if text is not None and max(lines) <= len(text):
            files.append({"name": name, "unchanged": unchanged, "runs": _runs(text, lines)})
    return files


def _unchanged(run: Run, workload: Workload | None) -> bool | None:
    """Whether the source still gives the program of the run; None if that is not known."""
    if workload is None:
        return None
    try:
        return workload.load().digest == run.store.program_digest
    except GevolveError:
        return False


def _read(name: str, location: Location, workload: Workload | None) -> list[str] | None:
    """The lines of a source file that lies where the workload has it, or beside the workload."""
    choices = [folder / name for folder in _folders(location)]
    if isinstance(workload, KernelWorkload) and workload.source:
        choices = [path for path in (workload.path(),) if path.name == name] + choices
    for path in choices:
        try:
            if path.is_file() and path.stat().st_size <= LARGEST:
                return path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
    return None


def _folders(location: Location) -> list[Path]:
    if location.place.endswith(".py"):
        return [Path(location.place).parent]
    if not location.place.startswith("gevolve."):  # to look for it would import its parent
        return []
    try:
        found = importlib.util.find_spec(location.place)
    except (ImportError, ValueError):
        return []
    return [Path(found.origin).parent] if found and found.origin else []


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
