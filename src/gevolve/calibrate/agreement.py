"""How well two columns of times agree: in rank, pair by pair, and in their ratio."""

from collections.abc import Sequence

import msgspec
import numpy as np

from gevolve.device.base import Array

APART = 0.05
"""Pairs whose measured times are closer than this are not counted: a GPU repeats no better."""


class Agreement(msgspec.Struct, frozen=True):
    """A model's times beside measured ones."""

    count: int
    spearman: float
    """Rank correlation: 1 is the same order, 0 is none."""
    pairs: float
    """Of pairs that are measurably apart, the share that the model puts in the right order."""
    compared: int
    """How many such pairs there are."""
    ratio: float
    """The median of the model's time over the measured one."""
    spread: float
    """The factor around that median within which half of the ratios lie."""
    regret: float
    """Measured time of what the model calls fastest, over the fastest measured time."""


def agreement(measured: Sequence[float], model: Sequence[float]) -> Agreement:
    """Compare a model's times with measured ones; they need two configurations at least."""
    real, said = np.asarray(measured, float), np.asarray(model, float)
    if len(real) < 2:
        return Agreement(len(real), 0.0, 0.0, 0, 0.0, 0.0, 0.0)
    pairs, compared = in_order(real, said)
    logs = np.sort(np.log(said / real))
    low, middle, high = np.quantile(logs, (0.25, 0.5, 0.75))
    return Agreement(
        count=len(real),
        spearman=spearman(real, said),
        pairs=pairs,
        compared=compared,
        ratio=float(np.exp(middle)),
        spread=float(np.exp((high - low) / 2)),
        regret=float(real[int(np.argmin(said))] / real.min()),
    )


def spearman(a: Array, b: Array) -> float:
    """The correlation of ranks; equal values share the mean of their ranks."""
    x, y = _ranks(a), _ranks(b)
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / scale if scale else 0.0


def _ranks(values: Array) -> Array:
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[where]


def in_order(real: Array, said: Array, apart: float = APART) -> tuple[float, int]:
    """The share of pairs, more than `apart` apart as measured, in the right order; and their count."""
    compared = right = 0.0
    for i in range(len(real) - 1):
        a, b = real[i], real[i + 1 :]
        counted = np.maximum(a, b) > (1 + apart) * np.minimum(a, b)
        agree = np.sign(b - a) * np.sign(said[i + 1 :] - said[i])
        compared += float(counted.sum())
        # a tie of the model is half right: so a coin has one half, whatever it says
        right += float(((agree[counted] + 1) / 2).sum())
    return (right / compared if compared else 0.0), int(compared)
