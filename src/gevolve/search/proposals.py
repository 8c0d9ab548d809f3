"""Where new edits come from: what passed before, or what the program proposes, by what was seen so far."""

from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest

import numpy as np

from gevolve.patch import Edit
from gevolve.program import Profile, Proposer
from gevolve.search.credit import Credit, pick
from gevolve.search.experience import Experience
from gevolve.search.settings import Settings

_KNOWN = 2 / 3
"""The share of edits for neighbours that passed before."""
_TWO = 2 / 3
"""The share of these that come in twos."""
_NEAREST = 6
"""The second is one of so many that are nearest to the first."""


class Proposals:
    """Draws edits of these kinds, and takes note of what became of them."""

    def __init__(
        self, program: Proposer, profile: Profile | None, kinds: Sequence[str], settings: Settings
    ) -> None:
        self.kinds = tuple(kinds)
        self.credit = Credit(self.kinds, settings.kind_floor)
        self.experience = Experience()
        self._program = program
        self._profile = profile
        self._settings = settings

    @property
    def shares(self) -> dict[str, float]:
        """The probability with which each edit kind is drawn now."""
        if self._settings.adaptive:
            return self.credit.shares()
        return dict.fromkeys(self.kinds, 1 / max(1, len(self.kinds)))

    def go_on_with(self, kinds: Sequence[str], credit: Mapping[str, tuple[float, float]]) -> None:
        """Draw these kinds, whose record is this."""
        self.kinds = tuple(kinds)
        self.credit = Credit.restore(self.kinds, self._settings.kind_floor, credit)

    def draw(self, winners: Sequence[Edit], rng: np.random.Generator) -> Edit | None:
        """A new edit: one that paid alone, or else the likeliest to pass of several that are drawn."""
        if winners and rng.random() < self._settings.proven:
            return winners[int(rng.integers(len(winners)))]
        drawn = [self._fresh(rng) for _ in range(self._settings.drawn)]
        known = [edit for edit in drawn if edit is not None]
        return max(known, key=self.experience.chance, default=None)

    def draw_near(
        self, winners: Sequence[Edit], idle: Collection[Edit], rng: np.random.Generator
    ) -> tuple[Edit, ...]:
        """Edits for a neighbour of a variant where some are idle: one or two that passed in any variant, or a new one.

        Two of them are near each other in the program, where one may need what the other does.
        """
        known = [edit for edit in self.experience.known if edit not in idle]
        if not known or rng.random() >= _KNOWN:
            new = self.draw(winners, rng)
            return () if new is None else (new,)
        one = known[int(rng.integers(len(known)))]
        if rng.random() >= _TWO:
            return (one,)
        others = nsmallest(_NEAREST, (edit for edit in known if edit != one), key=one.distance)
        return (one, others[int(rng.integers(len(others)))]) if others else (one,)

    def _fresh(self, rng: np.random.Generator) -> Edit | None:
        """An edit of a kind drawn by its share; if there is none of that kind, of another."""
        shares = self.shares
        while shares:
            kind = pick(shares, rng)
            edit = self._program.propose(kind, rng, self._profile)
            if edit is not None:
                return self.experience.settled(edit)
            del shares[kind]
        return None
