"""How a run was set up, as its store keeps it."""

import math
import os
from typing import Any, Literal, TypeAlias

import msgspec

from gevolve.search import Settings, make_settings
from gevolve.workload.locate import Location

DEFAULT_EVALS = 2000
Levels: TypeAlias = tuple[Literal["graph", "kernels"], ...]
LOOSE = 10
"""So many times the tolerance a variant may lose before it is re-fit."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What is written down of a run when it starts, so that it can be resumed and repeated."""

    workload: str
    """The workload's name."""
    location: Location
    """Where its class is defined."""
    ir: Literal["llvm", "stablehlo"] = "llvm"
    rounding: float
    """The error that counts as none, by the workload; 0 if that is measured."""
    device: str
    seed: int
    levels: Levels = ("graph",)
    """What is edited of a model, in this order."""
    tolerance: float
    """What the user allowed, or the workload."""
    search: str = "nsga2"
    """The search algorithm's name."""
    preset: Literal["default", "paper"]
    settings: dict[str, Any] = {}
    """Settings of the search that the user chose; the others are the preset's."""
    evals: int | None
    time: float | None
    workers: int | None
    referee: bool = True
    refit: int = 0
    """Steps for which the weights of what was found are trained; 0 for none."""
    versions: dict[str, str]
    """Of the packages that a result depends on."""
    seal: str = ""
    """Proves that this user began the run; see `gevolve.run.seal`."""

    @property
    def budget(self) -> tuple[int, float]:
        """The most evaluations and the most seconds; infinite where no limit is given."""
        evals = DEFAULT_EVALS if self.evals is None and self.time is None else self.evals
        return (1 << 60 if evals is None else evals, math.inf if self.time is None else self.time)

    @property
    def strict(self) -> float | None:
        """The tolerance of what is shown, if it is not that of the search."""
        return self.tolerance if self.refit else None

    @property
    def loose(self) -> float:
        """The tolerance while the search goes on: a re-fit makes good much of what edits to a network spoil."""
        return self.tolerance * (LOOSE if self.refit else 1)

    @property
    def cores(self) -> int:
        """How many worker processes to start: one for each core unless the user said otherwise."""
        return self.workers or len(os.sched_getaffinity(0))

    def search_settings(
        self, bound: float, rounding: float, approximations: tuple[str, ...] = ()
    ) -> Settings:
        """The settings of the search: errors up to `bound` are allowed, up to `rounding` none.

        Nothing that has an edit of the `approximations` is exact.
        """
        return make_settings(
            self.search,
            self.preset,
            self.settings,
            tolerance=bound,
            rounding=rounding,
            approximations=approximations,
        )
