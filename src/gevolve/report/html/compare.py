"""Several runs on one page: how fast each got there, what it ended with, how they were set up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gevolve.report.html.facts import facts
from gevolve.report.html.follow import Follower
from gevolve.run.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def compared(folders: Sequence[Path]) -> tuple[str, dict[str, Any]]:
    """The title and the data of a page that compares runs."""
    runs = [_run(folder) for folder in folders]
    workloads = sorted({run["run"]["workload"] for run in runs})
    return f"gevolve: {len(runs)} runs of {', '.join(workloads)}", {"kind": "compare", "runs": runs}


def _run(folder: Path) -> dict[str, Any]:
    with Store.open(folder, readonly=True) as store:
        follower = Follower(store)
        follower.read()
        summary = follower.summary(lambda _patch: [])
        found = facts(store, follower)
    kept = (
        *("status", "evaluations", "seconds", "best", "claim", "candidate"),
        *("front", "checks", "history"),
    )
    return {"run": found, **{name: summary[name] for name in kept}}
