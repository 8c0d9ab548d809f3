"""How patches are added to a best: in one round each of them alone, in the next the first few together, in turns.

Those that pay alone are added together in order of their rank: the first, the first two, four and so on up to all, so
that one that clashes with others costs half of what follows it, not all. Those left out are added to the new best alone.
"""

from collections.abc import Iterator, Mapping

from gevolve.patch import Edit, Patch
from gevolve.search.joining import joined


class Rounds:
    """A pool of patches that may still be added."""

    def __init__(self, abreast: int) -> None:
        """`abreast` of them are added alone in one round."""
        self._abreast = abreast
        self.pool: list[Patch] = []
        """The best bets first."""
        self.alone = True
        """Whether each of them is added alone, not the first few together."""

    def begin(self, pool: list[Patch], *, alone: bool) -> None:
        """Add these patches."""
        self.pool, self.alone = pool, alone

    def candidates(self, base: Patch) -> Iterator[Patch]:
        """The patches of this round."""
        if self.alone:
            return (joined(base, patch) for patch in self.pool[: self._abreast])
        return (joined(base, *self.pool[:n]) for n in self._lengths())

    def keep(self, base: Patch, ranks: Mapping[frozenset[Edit], float]) -> None:
        """Take what paid of a round, the least rank first, with which the next round goes on."""
        if self.alone:
            tried, later = self.pool[: self._abreast], self.pool[self._abreast :]
            keys = {patch: frozenset(joined(base, patch)) for patch in tried}
            paid = [patch for patch in tried if keys[patch] in ranks]
            self.pool = sorted(paid, key=lambda patch: (ranks[keys[patch]], str(patch))) + later
        self.alone = not self.alone or not ranks

    def leave_out(self, key: frozenset[Edit]) -> None:
        """Do not add what the best has already."""
        self.pool = [patch for patch in self.pool if not key >= frozenset(patch)]

    def strike(self, edits: frozenset[Edit]) -> None:
        """Do not add what has all of these edits."""
        self.pool = [patch for patch in self.pool if not edits <= frozenset(patch)]

    def go_on(self) -> bool:
        """Where a round has nothing new, go on to the next; returns whether there is one."""
        if not self.alone and self.pool:
            self.alone = True
            return True
        if len(self.pool) > self._abreast:
            self.pool = self.pool[self._abreast :]
            return True
        return False

    def _lengths(self) -> list[int]:
        """How many of the pool are added at a time: one, two, four … and all."""
        count = len(self.pool)
        return [*(1 << n for n in range(count.bit_length()) if 1 << n < count), *([count][:count])]
