"""Puts a page together from the stores of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gevolve.analyze.cost import costs_in
from gevolve.errors import GevolveError, OptionError, one_line
from gevolve.export.files import write_text
from gevolve.ir.llvm.names import demangle
from gevolve.report.html.compare import compared
from gevolve.report.html.facts import facts
from gevolve.report.html.follow import Follower
from gevolve.report.html.page import render
from gevolve.report.html.subject import Describer, take_apart
from gevolve.run.store import Store
from gevolve.workload.locate import load_workload

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gevolve.workload.base import Workload

PATCHES = 2_500_000
"""About so many characters are spent on the patches of variants; those ever on the front come first."""


def write_report(runs: Sequence[Path], output: Path | None = None, *, cost: bool = True) -> Path:
    """Write the page of a run, or of several to compare; returns where it is.

    Without `cost` nothing of the workload is loaded or run, and the page has no cost breakdown.
    """
    if not runs:
        raise OptionError("no run given; name the folder of a run")
    if len(runs) == 1:
        output = output or runs[0] / "report.html"
        title, data = _single(runs[0], cost=cost)
    else:
        output = output or runs[0].parent / "comparison.html"
        title, data = compared(runs)
    write_text(output, render(title, data))
    return output


def _single(folder: Path, *, cost: bool) -> tuple[str, dict[str, Any]]:
    with Store.open(folder, readonly=True) as store:
        follower = Follower(store)
        follower.read()
        words = Describer(store, follower.config)
        workload, obstacle = _workload(follower) if cost else (None, "")
        data: dict[str, Any] = {
            "kind": "run",
            "run": facts(store, follower),
            **follower.summary(words),
            **logs(follower),
            "subject": take_apart(store, follower, words, workload),
        }
        if cost and data["claim"]:
            data |= _costs(store, follower, data["claim"]["id"], obstacle)
    return f"gevolve: {follower.config.workload} on {follower.config.device}", data


def _workload(follower: Follower) -> tuple[Workload | None, str]:
    """The workload of the run, or why it cannot be had any more."""
    try:
        return load_workload(follower.config.spec), ""
    except GevolveError as error:
        return None, str(error)


def _costs(store: Store, follower: Follower, name: str, obstacle: str) -> dict[str, Any]:
    """Where the cycles go before and after, of the best validated variant on a modelled GPU."""
    if not follower.config.device.startswith("sim:"):
        return {}
    if obstacle:
        return {"obstacle": obstacle}
    try:
        found = costs_in(store, name)
        named = msgspec.structs.replace(
            found,
            before={demangle(kernel): total for kernel, total in found.before.items()},
            after={demangle(kernel): total for kernel, total in found.after.items()},
        )
        return {"costs": msgspec.to_builtins(named)}
    except GevolveError as error:
        return {"obstacle": str(error)}
    except Exception as error:  # noqa: BLE001  (the workload's code may raise anything)
        return {"obstacle": one_line(error)}


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
