"""How a search is set up: every number that it can be tuned by, and two presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

import msgspec

from gevolve.errors import OptionError

CrossoverKind = Literal["messy", "shared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of a search. The defaults suit a few minutes on two cores."""

    population: int = 32
    """Variants that live at once, and that are judged in each generation."""
    crossover: float = 0.7
    """The share of children that have two parents."""
    mutation: float = 0.6
    """The share of crossed children that are mutated as well; the others always are."""
    crossover_kind: CrossoverKind = "shared"
    """Whether children keep what both parents share, or all edits are shuffled (the paper's way)."""
    append: float = 0.8
    """Of all mutations, the share that adds an edit."""
    drop: float = 0.1
    """The share that removes an edit; what remains gives one a new repair seed."""
    initial_edits: tuple[int, int] = (1, 3)
    """The fewest and the most edits of a fresh variant."""
    alone: bool = False
    """Whether each edit of a fresh variant must have passed before (the paper's way): the first ones have one."""
    max_edits: int = 64
    """No patch grows longer than this."""
    tolerance: float = 0.0
    """The largest error that a variant may have; `rounding` if that is larger."""
    rounding: float = 0.0
    """An error up to this counts as none: the workload's own."""
    approximations: tuple[str, ...] = ()
    """The edit kinds that approximate: nothing with one of these is exact, whatever its error."""
    clones: int = 2
    """How many variants with one and the same artefact may live at once."""
    adaptive: bool = True
    """Draw edit kinds by what has paid off so far, rather than all alike."""
    edits: tuple[str, ...] = ()
    """The edit kinds that are drawn, such as ``copy``; all but ``swap`` if it is ``-swap``; all if empty.

    ``paper`` stands for those of the papers.
    """
    sweep: int = 2000
    """The most promising patches that are tried one by one before anything random; 0 for none."""
    proven: float = 0.3
    """Of the edits that mutation adds, the share that paid alone in that sweep."""
    drawn: int = 3
    """So many edits are drawn for one that is new; the one most likely to pass is taken."""
    local: float = 0.4
    """The share of children that are neighbours of the front: an edit more, less, or another."""
    kind_floor: float = 0.05
    """No edit kind is drawn less often than this, or than its part of four tenths if that is less."""
    patience: int = 8
    """Generations without progress after which the search widens."""
    islands: int = 1
    """Searches side by side, with different seeds and settings, each with a population of its own."""
    exchange: int = 4
    """Generations after which islands send their best to each other."""

    def __post_init__(self) -> None:
        if self.population < 4:
            raise OptionError(f"population is {self.population}; it must be at least 4")
        for name in ("crossover", "mutation", "append", "drop", "proven", "local", "kind_floor"):
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be from 0 to 1")
        if self.append + self.drop > 1:
            raise OptionError(f"append + drop is {self.append + self.drop}; it must be at most 1")
        for name in ("tolerance", "rounding"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise OptionError(f"{name} is {getattr(self, name)}; it must be 0 or more")
        fewest, most = self.initial_edits
        if not 1 <= fewest <= most <= self.max_edits:
            raise OptionError(
                f"initial_edits is {fewest} to {most}; it must lie within 1 to {self.max_edits}"
            )
        if self.sweep < 0:
            raise OptionError(f"sweep is {self.sweep}; it must be 0 or more")
        for name in ("clones", "drawn", "patience", "exchange"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if not 1 <= self.islands <= 1024:
            raise OptionError(f"islands is {self.islands}; it must be from 1 to 1024")

    def drawn_kinds(
        self, known: tuple[str, ...], paper: tuple[str, ...] = (), loose: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """Of the edit kinds that a program knows, those that `edits` asks for, in the same order.

        `paper` are those among them that the papers have, `loose` those that are approximations: without a
        tolerance they are drawn only if they are named.
        """
        off = {name.removeprefix("-") for name in self.edits if name.startswith("-")}
        exact = {*known} if self.tolerance > self.rounding else {*known} - {*loose}
        on = {name for name in self.edits if not name.startswith("-")} or exact
        if "paper" in on:
            on = on - {"paper"} | {*paper}
        unknown = sorted((on | off) - {*known})
        if unknown:
            raise OptionError(
                f"edits has {', '.join(unknown)}; the program knows {', '.join(known)}"
            )
        drawn = tuple(kind for kind in known if kind in on - off)
        if known and not drawn:
            raise OptionError("edits leaves no edit kind to draw; name at least one")
        return drawn

    @property
    def bound(self) -> float:
        """The error above which a variant is not kept."""
        return max(self.tolerance, self.rounding)


PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "population": 256,
        "crossover": 0.8,
        "mutation": 0.3,
        "crossover_kind": "messy",
        "append": 1.0,
        "drop": 0.0,
        "initial_edits": (3, 3),
        "alone": True,
        "edits": ("paper",),
        "sweep": 0,
        "proven": 0.0,
        "drawn": 1,
        "local": 0.0,
        "max_edits": 1024,
        "clones": 256,
        "adaptive": False,
        "patience": 1 << 30,
    },
}
"""Settings that go together: the defaults, and what the GEVO paper's tool used."""
_FIXED = ("tolerance", "rounding", "approximations")
"""Settings that follow from the program, the workload and ``--tolerance``."""


def build_settings(
    kind: type[Settings], preset: str, chosen: Mapping[str, Any], **fixed: Any
) -> Settings:
    """Settings of this class: its defaults, then a preset, then what the user chose."""
    types = {name: hint for name, hint in get_type_hints(kind).items() if name not in _FIXED}
    values: dict[str, Any] = {}
    for name, value in {**PRESETS[preset], **chosen}.items():
        if name not in types:
            raise OptionError(f"there is no setting {name!r}; there are {', '.join(sorted(types))}")
        try:
            values[name] = msgspec.convert(value, types[name], strict=False)
        except msgspec.ValidationError as error:
            raise OptionError(f"{name} is {value!r}: {error}") from None
    return kind(**values, **fixed)
