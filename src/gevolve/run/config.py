"""How a run was set up, as its store keeps it."""

from pathlib import Path
from typing import Literal

import msgspec

from gevolve.errors import StoreError
from gevolve.run.options import Options
from gevolve.run.store import Store
from gevolve.search import Settings
from gevolve.workload.locate import Spec


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What is written down of a run when it starts, so that it can be repeated."""

    workload: str
    spec: Spec
    rounding: float
    device: str
    seed: int
    tolerance: float
    """What the user allowed, or the workload."""
    preset: Literal["default", "paper"]
    population: int
    evals: int | None
    time: float | None
    workers: int | None
    versions: dict[str, str]
    ir: Literal["llvm", "stablehlo"] = "llvm"
    referee: bool = True

    def options(self, folder: Path) -> Options:
        """The options that start this run again."""
        return Options(
            device=self.device,
            evals=self.evals,
            time=self.time,
            seed=self.seed,
            workers=self.workers,
            population=self.population,
            tolerance=self.tolerance,
            preset=self.preset,
            referee=self.referee,
            out=folder,
        )


def read_config(store: Store) -> Config:
    """How a run was set up."""
    try:
        return msgspec.convert(store.config, Config)
    except msgspec.ValidationError as error:
        raise StoreError(f"{store.folder}: its configuration cannot be read ({error})") from None


def settings_of(store: Store, config: Config) -> Settings:
    """The settings of a run's search; the error that it allows is known once its baseline is."""
    bound = store.get("bound", float, config.tolerance)
    return config.options(store.folder).settings(config.rounding, bound)
