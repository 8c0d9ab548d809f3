"""The options of a run: one definition for the command line and the API."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from cyclopts import Parameter

from gevolve.errors import OptionError
from gevolve.evaluate.dispatcher.cluster import check_address
from gevolve.search import PRESETS

LEVELS = ("graph", "kernels", "graph,kernels")
"""What may be edited of a model, and in which order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run is set up."""

    device: str | None = None
    """Where variants run (`gevolve devices`); by default sim:a100 for kernels, xla:cpu for models."""
    evals: int | None = None
    """Stop after judging this many variants; 2000 if no other budget is given."""
    time: float | None = None
    """Stop after this many seconds."""
    seed: int = 0
    """Where the random numbers start: the same seed gives the same run."""
    workers: int | None = None
    """Processes that judge variants; one for each core, or for each GPU, if not given."""
    cluster: str | None = None
    """Where they run, if not here: ray (a cluster of its own), auto, HOST:PORT or ray://HOST:PORT."""
    population: int | None = None
    """Variants that live at once; the preset's if not given."""
    islands: int | None = None
    """Searches side by side that exchange their best; each has a population. For large budgets."""
    tolerance: float | None = None
    """The largest error of a kernel's variant, by default its rounding; how much larger than the
    unedited program's a model's may be, by default 0.02."""
    levels: str = "graph"
    """What is edited of a model: its graph, the kernels that a compiler makes of it, or graph,kernels,
    one after the other; kernels need an iree device."""
    search: str = "nsga2"
    """The search algorithm: nsga2, or one that an installed package adds."""
    preset: Literal["default", "paper"] = "default"
    """The search's rates: `default` suits minutes on two cores, `paper` is the GEVO paper's."""
    settings: Annotated[Mapping[str, Any], Parameter(parse=False)] = field(
        default_factory=dict[str, Any]
    )
    """Settings of the search that differ from the preset, by name."""
    referee: bool = True
    """Whether what a GPU found must also pass the checks of `sim` before it counts."""
    refit: int = 0
    """Train the weights of models that were found for so many short steps, on data of their own: 0 for never."""
    out: Path | None = None
    """The folder of the run; a new one under runs/ if not given."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Options by name; a name that is none is an error that lists those there are."""
        names = [one.name for one in fields(cls)]
        for name in given:
            if name not in names:
                raise OptionError(f"there is no option {name!r}; there are {', '.join(names)}")
        return cls(**given)

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
        if self.cluster is not None:
            check_address(self.cluster)
        if self.population is not None and not 4 <= self.population <= 100_000:
            raise OptionError(f"--population is {self.population}; it must be from 4 to 100000")
        if self.tolerance is not None and not 0 <= self.tolerance < math.inf:
            raise OptionError(f"--tolerance is {self.tolerance:g}; it must be 0 or more")
        if self.levels not in LEVELS:
            raise OptionError(f"--levels is {self.levels!r}; it must be one of {'; '.join(LEVELS)}")
        if not 0 <= self.refit <= 100_000:
            raise OptionError(f"--refit is {self.refit}; it must be from 0 to 100000 steps")
        if self.preset not in PRESETS:
            raise OptionError(
                f"--preset is {self.preset!r}; it must be one of {', '.join(PRESETS)}"
            )

    @property
    def chosen_settings(self) -> dict[str, Any]:
        """All settings of the search that the user chose, those with options of their own too."""
        own = {"population": self.population, "islands": self.islands}
        return {**self.settings, **{name: one for name, one in own.items() if one is not None}}


def parse_setting(text: str) -> tuple[str, Any]:
    """The name and the value of ``crossover=0.5``; values are written as in TOML."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name:
        raise OptionError(f"--set is {text!r}; it must be NAME=VALUE, such as crossover=0.5")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value  # a word without quotes


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file, one ``name = value`` a line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror or error}; give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{path} is not TOML: {error}") from None
