"""Errors on a growing sample: a variant that is far too wrong is known by a few parts of a case.

Its errors are looked at alone and beside the unedited program's, part by part, by betting that it is too wrong
(Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024). If its mean error over all parts were
within the bound, the bets would be fair or worse, and the stake would grow a thousandfold with a probability
of no more than a thousandth, however often one looks. So no more than one in a thousand of those that
would pass are rejected, whatever errors are distributed like. The parts are taken in an order of chance.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gevolve.workload.base import Array

RATE = 1e-3
"""Of the variants that would pass on all parts, so many are rejected at most."""
SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95])
"""The parts of what it has that each of several players stakes."""
MANY = 10
"""Fewer parts than this are no sample, but so many repetitions."""
MOST = 1.0
"""What an error has above another counts no more than this: shares of what is wrong are no larger."""

_ROUNDING = 1e-9


def shuffled(count: int) -> list[int]:
    """The order in which parts are taken, always the same."""
    return np.random.default_rng(0x73616D).permutation(count).tolist()


def portions(count: int) -> list[tuple[int, ...]]:
    """The parts of a case in lots, each as large as all before it."""
    order = shuffled(count)
    ends = [0, *(1 << n for n in range(count.bit_length()) if 1 << n < count), count]
    return [tuple(order[start:end]) for start, end in pairwise(ends)]


def sketched(count: int) -> list[tuple[int, ...]]:
    """The lots that are run by code that was compiled in haste: no more than a tenth of all parts."""
    lots = portions(count)
    return [lot for n, lot in enumerate(lots) if sum(map(len, lots[: n + 1])) <= count // MANY]


class Sample:
    """The errors of a variant on the parts that were run so far."""

    def __init__(self, unedited: Sequence[float], bound: float) -> None:
        """`unedited` are the unedited program's errors by part; `bound` is the largest mean error."""
        self._unedited = np.asarray(unedited, np.float64)
        zero = np.zeros(len(unedited))
        # What is far too wrong shows sooner by its errors alone, what is a little by the differences.
        self._games = [_Game(zero, bound), _Game(self._unedited, bound)]

    def add(self, part: int, error: float) -> None:
        """Take note of the error of a part that was not run before."""
        for game in self._games:
            game.play(part, error)

    @property
    def rejected(self) -> bool:
        """Whether the mean over all parts is above the bound, as far as one can tell."""
        return float(np.mean([game.stake for game in self._games])) >= 1 / RATE


class _Game:
    """Bets that errors are above those of another program by more than the bound allows."""

    def __init__(self, others: Array, bound: float) -> None:
        self._others = others
        self._extra = len(others) * bound - float(others.sum())
        """By how much the errors may add up to more than the others on the parts that are left."""
        self._least = float(others.max())
        """By so much can an error be less than the other one: no error is below 0."""
        self._left = len(others)
        self._stakes = np.ones(len(SHARES))
        self._sound = bool((others >= 0).all())

    @property
    def stake(self) -> float:
        """What all players have together, of 1 in the beginning."""
        return float(self._stakes.mean()) if self._sound else 0.0

    def play(self, part: int, error: float) -> None:
        self._sound = self._sound and error >= 0
        more = min(error - float(self._others[part]), MOST)
        mean = self._extra / self._left
        room = self._least + mean
        if room > _ROUNDING:
            self._stakes *= 1 + SHARES * (more - mean) / room
        self._extra -= more
        self._left -= 1
        if self._least * self._left + self._extra < -_ROUNDING:
            self._stakes[:] = np.inf  # not even errors of 0 could make up for what there was
