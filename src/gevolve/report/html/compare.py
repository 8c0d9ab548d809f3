"""Several runs on one page: how fast each got there, what it ended with, how they were set up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gevolve.report.html.facts import facts
from gevolve.report.html.follow import Follower
from gevolve.run.run import opened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gevolve.run.run import Run


def compared(given: Sequence[Run | str | Path]) -> tuple[str, dict[str, Any]]:
    """The title and the data of a page that compares runs."""
    runs = [_run(one) for one in given]
    workloads = sorted({run["run"]["workload"] for run in runs})
    return f"gevolve: {len(runs)} runs of {', '.join(workloads)}", {"kind": "compare", "runs": runs}


def _run(given: Run | str | Path) -> dict[str, Any]:
    with opened(given) as run:
        follower = Follower(run)
        follower.read()
        summary = follower.summary(lambda _patch: [])
        found = facts(run)
    kept = (
        *("status", "evaluations", "seconds", "best", "claim", "candidate", "nvcc"),
        *("front", "checks", "history"),
    )
    return {"run": found, **{name: summary[name] for name in kept}}
