"""Two programs timed alternately: on a noisy machine only the ratio of their times is meaningful."""

from collections.abc import Callable
from dataclasses import dataclass


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


QUICK = Precision(spread=0.01, least=4, most=25, seconds=1.0)
"""For the search, which times many variants."""
THOROUGH = Precision(spread=0.003, least=8, most=61, seconds=2.5)
"""For what is reported."""


@dataclass(frozen=True, slots=True)
class TimeRatio:
    """The time of one program relative to another's."""

    value: float
    spread: float
    """The relative uncertainty of the ratio."""
    unit: float
    """The least time of the other program."""


def compare(
    one: Callable[[], float], other: Callable[[], float], precision: Precision
) -> TimeRatio:
    """The ratio of least times, from runs made alternately until it settles.

    Noise only ever adds, so the least of many runs is the best estimate of a time. The estimate has
    settled when the odd and the even runs agree.
    """
    ones: list[float] = []
    others: list[float] = []
    while True:
        # The first of a pair may find cold caches or a higher clock rate, so they swap places.
        for measure, times in ((one, ones), (other, others))[:: 1 if len(ones) % 2 else -1]:
            times.append(measure())
        spread = _spread(ones, others)
        count, spent = len(ones), sum(ones) + sum(others)
        if count >= precision.least and (
            spread <= precision.spread or count >= precision.most or spent >= precision.seconds
        ):
            return TimeRatio(_ratio(ones, others), spread, min(others))


def _spread(ones: list[float], others: list[float]) -> float:
    """The relative difference of the ratio between the odd and the even pairs."""
    if len(ones) < 2:
        return 1.0
    halves = [_ratio(ones[start::2], others[start::2]) for start in (0, 1)]
    return abs(halves[0] - halves[1]) / max(min(halves), 1e-300)


def _ratio(ones: list[float], others: list[float]) -> float:
    return min(ones) / max(min(others), 1e-300)
