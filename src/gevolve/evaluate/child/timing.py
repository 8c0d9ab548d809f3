"""Two programs timed alternately: on a noisy machine only the ratio of their times is meaningful."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Precision:
    """When to stop measuring."""

    spread: float
    """The relative uncertainty that is small enough."""
    least: int
    """Pairs of runs that are always made."""
    most: int
    """Pairs of runs that are made at most."""
    seconds: float
    """No further pair starts once the measured times add up to this."""


QUICK = Precision(spread=0.01, least=4, most=30, seconds=1.0)
"""For the search, which times many variants."""
THOROUGH = Precision(spread=0.0, least=8, most=30, seconds=4.0)
"""For what is reported."""
LOW = 10
"""The percentile of many times that is shown for one: noise mostly adds, but the least is a slip of the clock."""
SHORT = 0.003
"""Seconds of one measurement at least: short runs are measured several together, ..."""
TOGETHER = 20
"""... but no more than this many."""


@dataclass(frozen=True, slots=True)
class TimeRatio:
    """The time of one program relative to another's."""

    value: float
    spread: float
    """The relative uncertainty of the ratio."""
    unit: float
    """The time of the other program."""


def compare(
    one: Callable[[int], float], other: Callable[[int], float], precision: Precision
) -> TimeRatio:
    """The ratio of two times, from short runs made alternately until it settles.

    Each run is told the number of its pair. It has settled when the odd and the even runs agree.
    """
    ones: list[float] = []
    others: list[float] = []
    first = max(1e-9, other(0))
    times = max(1, min(TOGETHER, round(SHORT / first)))
    while True:
        # The first of a pair may find cold caches or a higher clock rate, so they swap places.
        number = len(ones)
        for measure, into in ((one, ones), (other, others))[:: 1 if number % 2 else -1]:
            into.append(sum(measure(number) for _ in range(times)) / times)
        spread = _spread(ones, others)
        count, spent = len(ones), times * (sum(ones) + sum(others))
        if count >= precision.least and (
            spread <= precision.spread or count >= precision.most or spent >= precision.seconds
        ):
            return TimeRatio(_ratio(ones, others), spread, _low(others))


def _spread(ones: list[float], others: list[float]) -> float:
    """The relative difference of the ratio between the odd and the even pairs."""
    if len(ones) < 2:
        return 1.0
    halves = [_ratio(ones[start::2], others[start::2]) for start in (0, 1)]
    return abs(halves[0] - halves[1]) / max(min(halves), 1e-300)


def _ratio(ones: list[float], others: list[float]) -> float:
    """The middle one of the ratios of all pairs: what disturbs one of a pair mostly disturbs the other."""
    return float(np.median(np.array(ones) / np.maximum(others, 1e-300)))


def _low(times: list[float]) -> float:
    return float(np.percentile(times, LOW))
