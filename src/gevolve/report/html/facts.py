"""What a run was: workload, device, versions, options, and the command that repeats it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gevolve.report.html.follow import Follower
    from gevolve.run.store import Store
    from gevolve.workload.locate import Spec

_SUITE = "gevolve.suite."


def facts(store: Store, follower: Follower) -> dict[str, Any]:
    """How the run was set up, as a page shows it."""
    config = follower.config
    options: dict[str, Any] = {
        "seed": config.seed,
        "preset": config.preset,
        "population": config.population,
        "tolerance": config.tolerance,
        "evals": config.evals,
        "time": config.time,
        "workers": config.workers,
    }
    return {
        "folder": str(store.folder),
        "workload": config.workload,
        "device": config.device,
        "rounding": follower.settings.rounding,
        "bound": follower.settings.bound,
        "options": {name: value for name, value in options.items() if value is not None},
        "versions": config.versions,
        "digest": store.program_digest,
        "cases": store.get("cases", list[str], []),
        "command": command(follower),
    }


def command(follower: Follower) -> str:
    """What starts the same run again.

    Its budget is what was judged: time passes differently on another machine.
    """
    config = follower.config
    words = ["gevolve", "run", _named(config.spec), "--device", config.device]
    words += ["--seed", str(config.seed), "--evals", str(follower.tally.verdicts.total() or 1)]
    words += ["--population", str(config.population)]
    if config.tolerance:
        words += ["--tolerance", f"{config.tolerance:g}"]
    if config.preset != "default":
        words += ["--preset", config.preset]
    return shlex.join(words)


def _named(spec: Spec) -> str:
    """A workload as the command line takes it: a suite name, or a file from here."""
    if spec.place.startswith(_SUITE):
        return spec.place.rpartition(".")[2]
    if not spec.place.endswith(".py"):
        return str(spec)
    near = os.path.relpath(spec.place)
    place = spec.place if near.startswith("..") else near
    return f"{Path(place)}:{spec.name}"
