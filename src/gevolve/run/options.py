"""The options of a run: one definition for the command line, the API and the store."""

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gevolve.errors import OptionError
from gevolve.search import PRESETS, Settings

DEFAULT_EVALS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run is set up."""

    device: str | None = None
    """Where variants run (`gevolve devices`); by default sim:p100 for kernels, xla:cpu for models."""
    evals: int | None = None
    """Stop after judging this many variants; 2000 if no other budget is given."""
    time: float | None = None
    """Stop after this many seconds."""
    seed: int = 0
    """Where the random numbers start: the same seed gives the same run."""
    workers: int | None = None
    """Processes that judge variants; one for each core if not given."""
    population: int | None = None
    """Variants that live at once; the preset's if not given."""
    tolerance: float | None = None
    """The largest error of a kernel's variant, by default its rounding; how much larger than the
    unedited program's a model's may be, by default 0.02."""
    preset: Literal["default", "paper"] = "default"
    """The search's rates: `default` suits minutes on two cores, `paper` is the GEVO paper's."""
    referee: bool = True
    """Whether what a GPU found must also pass the checks of `sim` before it counts."""
    out: Path | None = None
    """The folder of the run; a new one under runs/ if not given."""

    def __post_init__(self) -> None:
        """Say at once what is out of range."""
        if self.evals is not None and self.evals < 1:
            raise OptionError(f"--evals is {self.evals}; it must be at least 1")
        if self.time is not None and not (0 < self.time < math.inf):
            raise OptionError(f"--time is {self.time:g}; it must be more than 0 seconds")
        if self.seed < 0:
            raise OptionError(f"--seed is {self.seed}; it must be 0 or more")
        if self.workers is not None and not 1 <= self.workers <= 1024:
            raise OptionError(f"--workers is {self.workers}; it must be from 1 to 1024")
        if self.population is not None and not 4 <= self.population <= 100_000:
            raise OptionError(f"--population is {self.population}; it must be from 4 to 100000")
        if self.tolerance is not None and not 0 <= self.tolerance < math.inf:
            raise OptionError(f"--tolerance is {self.tolerance:g}; it must be 0 or more")
        if self.preset not in PRESETS:
            raise OptionError(
                f"--preset is {self.preset!r}; it must be one of {', '.join(PRESETS)}"
            )

    @property
    def budget(self) -> tuple[int, float]:
        """The most evaluations and the most seconds; infinite where no budget is given."""
        evals = DEFAULT_EVALS if self.evals is None and self.time is None else self.evals
        return (1 << 60 if evals is None else evals, math.inf if self.time is None else self.time)

    @property
    def cores(self) -> int:
        """How many workers to start."""
        return self.workers or len(os.sched_getaffinity(0))

    def settings(self, rounding: float, bound: float) -> Settings:
        """The search's settings for a workload with this rounding, and the error that it allows."""
        preset = PRESETS[self.preset]
        return replace(
            preset,
            population=self.population or preset.population,
            tolerance=bound,
            rounding=rounding,
        )
