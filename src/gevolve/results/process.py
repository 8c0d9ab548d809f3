"""One run in processes of its own: the command line of `gevolve run`, then where its cycles go."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from gevolve.errors import StoreError
from gevolve.results.plan import Task
from gevolve.run.run import Run
from gevolve.run.store import FILE
from gevolve.system.linux import die_with_parent

LOG, COST, WHY = "log.txt", "cost.json", "failed.txt"
"""Beside a run: what it printed, where its cycles go, and why there is none."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What every run of a measurement is given."""

    evals: int
    tolerance: float | None


@dataclass(slots=True)
class RunProcess:
    """A run that goes on: started or resumed, then asked for its cost."""

    task: Task
    folder: Path
    budget: Budget
    _process: subprocess.Popen[bytes] = field(init=False)
    _costing: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / WHY).unlink(missing_ok=True)
        words = self._search()
        if words:
            self._process = self._start(words, subprocess.DEVNULL)
        else:
            self._measure_cost()

    def _search(self) -> list[str]:
        """The command that starts the run, or goes on with it; none if it is finished."""
        task, budget = self.task, self.budget
        more = ["--evals", str(budget.evals), "--workers", "1", "--json"]
        if (self.folder / FILE).exists():
            if is_finished(self.folder, budget.evals):
                return []
            return ["resume", str(self.folder), *more]
        words = ["run", task.workload, "--out", str(self.folder), *more]
        words += ["--preset", task.preset, "--seed", str(task.seed)]
        words += ["--device", task.device]
        return words + (
            [] if budget.tolerance is None else ["--tolerance", f"{budget.tolerance:g}"]
        )

    def _measure_cost(self) -> None:
        self._costing = True
        with self._part.open("wb") as out:
            self._process = self._start(["show", str(self.folder), "--cost", "--json"], out)

    @property
    def _part(self) -> Path:
        return self.folder / f"{COST}.part"

    def _start(self, words: list[str], output: int | IO[bytes]) -> subprocess.Popen[bytes]:
        parent = os.getpid()
        with (self.folder / LOG).open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "gevolve", *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
                start_new_session=True,  # so that it can be ended with all that it started
                preexec_fn=lambda: die_with_parent(parent, signal.SIGKILL),  # noqa: PLW1509  (no threads here)
            )

    def poll(self) -> bool:
        """Whether it is over; what went wrong is then in the folder."""
        code = self._process.poll()
        if code is None:
            return False
        if self._costing:
            if code != 0:
                self._part.write_text("null")  # its device knows no cycles
            self._part.replace(self.folder / COST)
            return True
        if code != 0:
            (self.folder / WHY).write_text(self.line() or f"it ended with exit code {code}")
            return True
        self._measure_cost()
        return False

    def line(self) -> str:
        """The last line that it printed."""
        try:
            text = (self.folder / LOG).read_text(errors="replace").strip()
        except OSError:
            return ""
        return text.rpartition("\n")[2].removeprefix("gevolve: ")

    def kill(self) -> None:
        """End it at once, with its workers; it can be resumed."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def is_finished(folder: Path, evals: int) -> bool:
    """Whether the run in this folder has used this budget, and what it found was checked."""
    try:
        with Run.open(folder) as run:
            if run.store.get("status", str, "") != "finished":
                return False
            return (run.config.evals or 0) >= evals or run.store.count() > evals
    except StoreError:
        return False  # `gevolve resume` says what is wrong with it
