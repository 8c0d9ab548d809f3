"""How a run was set up, as a page shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gevolve.run.caveats import read_caveats

if TYPE_CHECKING:
    from gevolve.run.run import Run


def facts(run: Run) -> dict[str, Any]:
    """The workload, device, options and versions of a run, and the command that repeats it."""
    config, settings = run.config, run.settings
    options: dict[str, Any] = {
        "seed": config.seed,
        "search": config.search,
        "preset": config.preset,
        "population": settings.population,
        "tolerance": config.tolerance,
        "evals": config.evals,
        "time": config.time,
        "workers": config.workers,
        **config.settings,
    }
    return {
        "folder": str(run.folder),
        "workload": config.workload,
        "device": config.device,
        "rounding": settings.rounding,
        "bound": settings.bound,
        "options": {name: value for name, value in options.items() if value is not None},
        "versions": config.versions,
        "digest": run.store.program_digest,
        "cases": run.store.get("cases", list[str], []),
        "command": run.command,
        "caveats": read_caveats(run.store).lines,
    }
