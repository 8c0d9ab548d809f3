"""What variants have shown on cases that the search does not use: some fail there, some are not exact there.

What has all the edits of such a variant most likely shares its fault.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from gevolve.patch import Edit, Patch
from gevolve.search.individual import Individual, essence

FAILS = math.inf
"""The error of a variant that fails."""


class Elsewhere:
    """The errors of patches on other cases; those that are exact there need not be told."""

    def __init__(self) -> None:
        self._errors: dict[Patch, tuple[frozenset[Edit], float]] = {}

    def __iter__(self) -> Iterator[tuple[Patch, float]]:
        return ((patch, error) for patch, (_, error) in self._errors.items())

    def add(self, patch: Patch, error: float) -> bool:
        """Take note of an error; returns whether it is larger than what is known of the patch."""
        known = patch in self._errors and error <= self._errors[patch][1]
        if known or not patch.edits:
            return False
        self._errors[patch] = essence(patch), error
        return True

    def error(self, edits: frozenset[Edit]) -> float:
        """The largest error of a patch that these edits build on; 0 if there is none."""
        return max((error for own, error in self._errors.values() if own <= edits), default=0.0)

    def fails(self, edits: frozenset[Edit]) -> bool:
        """Whether these edits build on a patch that fails."""
        return self.error(edits) == FAILS

    def corrected(self, one: Individual | None) -> Individual | None:
        """An individual with no less error than what it builds on; None if that fails."""
        if one is None or not (error := self.error(essence(one.patch))):
            return one
        return None if error == FAILS else replace(one, error=max(one.error, error))
