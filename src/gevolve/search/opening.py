"""The opening of a search: promising patches one by one, then those that paid, joined.

A program knows which edits are worth trying before anything random (`Program.sweep`). Each is judged
alone. What is faster than the unedited program is then joined, round by round: to the best so far every
other winner is added alone, and all of them at once; what no longer pays is left out. Exact winners are
joined first, then those with an error that the tolerance allows are added.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

import msgspec

from gevolve.patch import Patch
from gevolve.search.individual import Individual


class _State(msgspec.Struct, frozen=True):
    stage: Literal["single", "exact", "loose", "over"]
    tried: int
    best: str
    best_time: float
    winners: list[tuple[float, float, str]]
    pool: list[str]


class Opening:
    """Asks for patches and is told what became of them, until it has nothing left to try."""

    def __init__(self, patches: Sequence[Patch], unedited: Individual, size: int) -> None:
        """Try these patches, the best bets first, `size` of them at a time."""
        self._patches = list(dict.fromkeys(patches))
        self._size = size
        self._stage: Literal["single", "exact", "loose", "over"] = (
            "single" if self._patches else "over"
        )
        self._tried = 0
        self._best = Patch()
        self._best_time = self._unedited_time = unedited.time
        self._winners: list[tuple[float, float, Patch]] = []
        """What was faster than the unedited program: time, error and patch."""
        self._pool: list[Patch] = []
        """Winners that may still be added to the best, in order of their gain."""

    @property
    def over(self) -> bool:
        """Whether it has nothing left to try."""
        return self._stage == "over"

    def ask(self) -> list[Patch]:
        """The next patches; the same ones until they are told."""
        if self._stage == "single":
            return self._patches[self._tried : self._tried + self._size]
        alone = [joined(self._best, patch) for patch in self._pool]
        together = joined(self._best, *self._pool)
        return list(dict.fromkeys([*([together] if len(self._pool) > 1 else []), *alone]))

    def tell(self, judged: Sequence[Individual | None]) -> None:
        """Take what became of the patches that were asked for: None for what is not good enough."""
        if self._stage == "single":
            self._tell_single(judged)
        else:
            self._tell_joined(judged)

    def _tell_single(self, judged: Sequence[Individual | None]) -> None:
        self._winners += [
            (one.time, one.error, one.patch)
            for one in judged
            if one is not None and one.time < self._unedited_time
        ]
        self._tried += len(judged)
        if self._tried >= len(self._patches):
            self._join("exact")

    def _join(self, stage: Literal["exact", "loose"]) -> None:
        """Begin to join the winners that are exact, or those that are not."""
        self._stage = stage
        exact = stage == "exact"
        chosen = sorted(
            (winner for winner in self._winners if (winner[1] == 0) is exact),
            key=lambda winner: (winner[0], len(winner[2]), str(winner[2])),
        )
        self._pool = [patch for _, _, patch in chosen][: self._size]
        if exact and chosen:
            self._best_time, _, self._best = chosen[0]
            self._pool = self._pool[1:]
        self._go_on_if_empty()

    def _tell_joined(self, judged: Sequence[Individual | None]) -> None:
        found = {one.patch: one.time for one in judged if one is not None}
        paid = {
            patch: time
            for patch in self._pool
            if (time := found.get(joined(self._best, patch), self._best_time)) < self._best_time
        }
        better = [(time, patch) for patch, time in found.items() if time < self._best_time]
        if not better:
            self._pool = []
        else:
            self._best_time, self._best = min(better, key=lambda pair: (pair[0], str(pair[1])))
            left = [patch for patch in paid if joined(self._best, patch) != self._best]
            self._pool = sorted(left, key=lambda patch: (paid[patch], str(patch)))
        self._go_on_if_empty()

    def _go_on_if_empty(self) -> None:
        if self._pool:
            return
        if self._stage == "exact":
            self._join("loose")
        else:
            self._stage = "over"

    def state(self) -> dict[str, Any]:
        """All that the next `ask` depends on, as JSON can hold it."""
        state = _State(
            self._stage,
            self._tried,
            str(self._best),
            self._best_time,
            [(time, error, str(patch)) for time, error, patch in self._winners],
            [str(patch) for patch in self._pool],
        )
        return msgspec.to_builtins(state)

    @classmethod
    def restore(
        cls, patches: Sequence[Patch], unedited: Individual, size: int, state: dict[str, Any]
    ) -> Self:
        """Go on from a state; raises `msgspec.ValidationError` if it is none."""
        past = msgspec.convert(state, _State)
        opening = cls(patches, unedited, size)
        opening._stage = past.stage
        opening._tried = past.tried
        opening._best, opening._best_time = Patch.parse(past.best), past.best_time
        opening._winners = [(time, error, Patch.parse(text)) for time, error, text in past.winners]
        opening._pool = [Patch.parse(text) for text in past.pool]
        return opening


def joined(*patches: Patch) -> Patch:
    """The edits of all patches, each once."""
    return Patch(tuple(dict.fromkeys(edit for patch in patches for edit in patch)))
