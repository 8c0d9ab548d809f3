"""What must be said beside every result of a run: checks that do not hold, and what was never varied."""

import msgspec

from gevolve.evaluate.protocol import Baseline
from gevolve.run.store import Store


class Caveats(msgspec.Struct, frozen=True, kw_only=True):
    """What is not known of any result of a run."""

    unchecked: dict[str, str] = {}
    """What variants are not checked for, since the unedited program fails it itself; by check."""
    assumptions: tuple[str, ...] = ()
    """What all cases have in common, such as ``only tried with height = 1``."""
    warnings: tuple[str, ...] = ()
    """What makes results of this workload easy to get by cheating, or hard to judge."""

    @property
    def lines(self) -> list[str]:
        """All of it, a sentence each."""
        off = [f"The check {name} does not hold: {why}." for name, why in self.unchecked.items()]
        tried = "; ".join(self.assumptions)
        return [
            *off,
            *self.warnings,
            *([f"Results hold for what was tried: {tried}."] if tried else []),
        ]


def caveats_of(baseline: Baseline) -> Caveats:
    """What the unedited program's run on the search cases has shown."""
    return Caveats(
        unchecked=baseline.unchecked,
        assumptions=baseline.assumptions,
        warnings=baseline.warnings,
    )


def read_caveats(store: Store) -> Caveats:
    """What a run's store says of it."""
    return store.get("caveats", Caveats, Caveats())


def add_warning(store: Store, line: str) -> None:
    """Say this beside every result of the run."""
    known = read_caveats(store)
    if line not in known.warnings:
        store.set("caveats", msgspec.structs.replace(known, warnings=(*known.warnings, line)))
