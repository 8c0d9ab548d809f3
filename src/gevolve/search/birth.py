"""A patch on its way to be judged."""

from dataclasses import dataclass

from gevolve.patch import Patch
from gevolve.search.individual import Individual


@dataclass(frozen=True, slots=True)
class Birth:
    """A patch that is to be judged, and where it came from."""

    patch: Patch
    parents: tuple[Individual, ...]
    kinds: tuple[str, ...]
    """The kinds of its edits that neither parent had."""
