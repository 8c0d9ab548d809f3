"""Runs the tasks of a measurement, several side by side, and leaves out what is done already."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gevolve.errors import OptionError
from gevolve.results.plan import Task
from gevolve.results.process import COST, WHY, Budget, RunProcess, is_finished
from gevolve.run.run import Run
from gevolve.run.store import FILE

_POLL = 0.2


@dataclass(slots=True)
class Progress:
    """How far a measurement is; the same object is updated throughout."""

    total: int
    done: int = 0
    failed: list[str] = field(default_factory=list[str])
    running: list[tuple[Task, str]] = field(default_factory=list[tuple[Task, str]])
    """Runs that go on, with the last line that each has printed."""


def run_all(
    tasks: Sequence[Task],
    results: Path,
    budget: Budget,
    *,
    workers: int,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Do what is left of these tasks, `workers` at a time. Killed at any moment, it goes on when called again.

    A run that cannot be made leaves a line that says why, and the others go on.
    """
    progress = Progress(len(tasks))
    waiting = [task for task in tasks if not _is_done(task.folder(results), budget)][::-1]
    progress.done = len(tasks) - len(waiting)
    running: list[RunProcess] = []
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                task = waiting.pop()
                running.append(RunProcess(task, task.folder(results), budget))
            over = [one for one in running if one.poll()]
            running = [one for one in running if one not in over]
            for one in over:
                progress.done += 1
                if (why := one.folder / WHY).exists():
                    progress.failed.append(f"{one.task}: {why.read_text()}")
            progress.running = [(one.task, one.line()) for one in running]
            watch(progress)
            if not over:
                time.sleep(_POLL)
    finally:
        for one in running:
            one.kill()
    return progress


def _is_done(folder: Path, budget: Budget) -> bool:
    """Whether a run needs nothing more; it must have been made as the others are."""
    if not (folder / FILE).exists():
        return False
    with Run.open(folder) as run:
        made = run.config.tolerance
    if budget.tolerance is not None and made != budget.tolerance:
        raise OptionError(
            f"{folder} has a tolerance of {made:g}, not {budget.tolerance:g}; choose another --out"
        )
    return (folder / COST).exists() and is_finished(folder, budget.evals)
