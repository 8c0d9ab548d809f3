"""Writes the page of a run, or one that compares several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gevolve.analyze.cost import kept_costs
from gevolve.export.files import write_text
from gevolve.report.html.compare import compared
from gevolve.report.html.facts import facts
from gevolve.report.html.follow import Follower
from gevolve.report.html.page import render
from gevolve.report.html.subject import Describer, take_apart
from gevolve.run.run import Run, opened

PATCHES = 2_500_000
"""About so many characters are spent on the patches of variants; those ever on the front come first."""


def report(
    run: Run | str | Path,
    *others: Run | str | Path,
    output: str | Path | None = None,
    cost: bool = True,
) -> Path:
    """Write the page of a run, or of several to compare; returns where it is.

    All of it comes from the store: nothing that a run names is imported, and no other file is read.
    Without `cost` the page does not say where the cycles go.
    """
    folder = run.folder if isinstance(run, Run) else Path(run)
    if others:
        file = Path(output or folder.parent / "comparison.html")
        title, data = compared([run, *others])
    else:
        file = Path(output or folder / "report.html")
        with opened(run) as mine:
            data = mine.guarded(lambda: _single(mine, cost=cost), dict[str, Any])
            title = f"gevolve: {mine.config.workload} on {mine.config.device}"
    write_text(file, render(title, data), private=output is None and not others)
    return file


def _single(run: Run, *, cost: bool) -> dict[str, Any]:
    follower = Follower(run)
    follower.read()
    words = Describer(run)
    data: dict[str, Any] = {
        "kind": "run",
        "run": facts(run),
        **follower.summary(words),
        **logs(follower),
        "subject": take_apart(follower, words),
    }
    if cost and data["claim"]:
        data |= _costs(run, data["claim"]["id"])
    return data


def _costs(run: Run, name: str) -> dict[str, Any]:
    """Where the cycles go before and after, of the best validated variant on a modeled GPU."""
    if not run.config.device.startswith("sim:"):
        return {}
    kept = kept_costs(run, name)
    if kept.costs is None:
        return {"obstacle": kept.obstacle}
    return {"costs": msgspec.to_builtins(kept.costs.readable())}


def logs(follower: Follower) -> dict[str, Any]:
    """All working variants; if that is too much, without the patches of those of least interest."""
    points = follower.points.since(0)
    ids, ratios, patches = points["id"], points["ratio"], points["patch"]
    shown = set(follower.shown)
    kept: list[list[int] | None] = [None] * len(ids)
    spent = 0
    for n in sorted(range(len(ids)), key=lambda n: (ids[n] not in shown, ratios[n], ids[n])):
        spent += 2 + sum(len(str(edit)) + 1 for edit in patches[n])
        if spent > PATCHES:
            break
        kept[n] = patches[n]
    used = sorted({edit for patch in kept if patch for edit in patch})
    position = {edit: n for n, edit in enumerate(used)}
    points["patch"] = [patch and [position[edit] for edit in patch] for patch in kept]
    return {"points": points, "edits": [follower.edits[edit] for edit in used]}
