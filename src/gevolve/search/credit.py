"""Which edit kinds have paid off so far, and so how often each is drawn."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import numpy as np

MEMORY = 0.995
"""What is left of a past trial after each newer one of its kind: the last few hundred count."""
PRIOR = 20.0
"""How many trials it takes to believe a kind's own record more than that of all kinds together."""
FLOORS = 0.4
"""What the floors of all kinds may come to, so that with many kinds the record still counts."""


class Credit:
    """Draws edit kinds by their rate of success, which fades as the search moves on.

    What pays off changes as the search moves on, so old trials fade. Successes are rare (one edit
    in thirty, say), so each kind is taken to be like all kinds together until its own record says
    otherwise: the first lucky draw must not decide the run. A floor keeps every kind in play.
    """

    def __init__(self, kinds: Sequence[str], floor: float) -> None:
        self._floor = min(floor, FLOORS / len(kinds)) if kinds else 0.0
        self._trials = dict.fromkeys(kinds, 0.0)
        self._successes = dict.fromkeys(kinds, 0.0)

    def shares(self) -> dict[str, float]:
        """The probability of each kind."""
        common = (sum(self._successes.values()) + 1.0) / (sum(self._trials.values()) + PRIOR)
        rates = {
            kind: (self._successes[kind] + PRIOR * common) / (self._trials[kind] + PRIOR)
            for kind in self._trials
        }
        total = sum(rates.values())
        free = 1 - self._floor * len(rates)
        return {kind: self._floor + free * rate / total for kind, rate in rates.items()}

    def draw(self, rng: np.random.Generator) -> str:
        return pick(self.shares(), rng)

    def record(self, kinds: Iterable[str], *, paid: bool) -> None:
        """Note that a variant with new edits of these kinds did or did not improve."""
        for kind in kinds:
            self._trials[kind] = self._trials[kind] * MEMORY + 1.0
            self._successes[kind] = self._successes[kind] * MEMORY + float(paid)

    def state(self) -> dict[str, tuple[float, float]]:
        """All that is remembered: the trials and successes of each kind."""
        return {kind: (self._trials[kind], self._successes[kind]) for kind in self._trials}

    @classmethod
    def restore(
        cls, kinds: Sequence[str], floor: float, state: Mapping[str, tuple[float, float]]
    ) -> Self:
        credit = cls(kinds, floor)
        for kind in kinds:
            credit._trials[kind], credit._successes[kind] = state.get(kind, (0.0, 0.0))
        return credit


def pick(weights: Mapping[str, float], rng: np.random.Generator) -> str:
    """Draw a key in proportion to its weight."""
    left = rng.random() * sum(weights.values())
    for name, weight in weights.items():
        left -= weight
        if left < 0:
            return name
    return next(reversed(list(weights)))  # rounding left a crumb beyond the last one
