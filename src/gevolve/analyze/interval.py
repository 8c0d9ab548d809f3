"""How sure a measured ratio of times is: intervals that hold for all variants of a run together.

On a deterministic device one measurement says all. Elsewhere a ratio is measured again and again, each
time in a new process, and its logarithm's mean gets the interval of Student's t. Two things keep luck
out. The interval is so wide that all intervals of a run hold at once with 99 %, since a search shows
its best of many. And no variant is taken to vary less than all of them do together, among them the
unedited program beside itself: a few values that happen to agree say little about the next one.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from gevolve.run.findings import Interval

TOGETHER = 16
"""So many intervals hold at once; no more variants of a run are measured."""
LEAST, MOST = 5, 16
"""Measurements of one variant."""
WIDTH = 0.02
"""An interval as narrow as this is good enough."""
STUDENT = (
    *(0.0, 1018.591, 39.981, 15.145, 9.729, 7.604, 6.512, 5.859, 5.428, 5.124, 4.898, 4.724, 4.587),
    *(4.475, 4.383, 4.305),
)
"""By degrees of freedom, what Student's t stays below but for one time in 3200."""


def pooled(samples: Iterable[Sequence[float]]) -> float:
    """The standard deviation that all samples have in common."""
    squares = degrees = 0.0
    for sample in samples:
        if len(sample) > 1:
            squares += float(np.var(np.log(sample))) * len(sample)
            degrees += len(sample) - 1
    return math.sqrt(squares / degrees) if degrees else 0.0


def certain(ratio: float) -> Interval:
    """The interval of a ratio that is always the same."""
    return Interval(value=ratio, low=ratio, high=ratio, runs=1)


def over(mine: Interval, other: Interval) -> Interval:
    """The ratio of two measured ratios to the same thing; its bounds are the widest."""
    return Interval(
        value=mine.value / other.value,
        low=mine.low / other.high,
        high=mine.high / other.low,
        runs=mine.runs,
        settled=mine.settled and other.settled,
    )


def estimate(ratios: Sequence[float], floor: float) -> Interval:
    """The interval of a ratio that was measured several times, and varies by `floor` at least."""
    logs = np.log(ratios)
    count, mean = len(logs), float(logs.mean())
    deviation = max(floor, float(logs.std(ddof=1)) if count > 1 else 0.0)
    quantile = STUDENT[count - 1] if count > 1 else math.inf
    half = quantile * deviation / math.sqrt(count) if deviation else 0.0
    low, high = math.exp(mean - half), math.exp(mean + half)
    return Interval(
        value=math.exp(mean), low=low, high=high, runs=count, settled=high - low <= WIDTH
    )
