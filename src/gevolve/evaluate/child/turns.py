"""Two things timed in turns: on a noisy machine only their ratio can be trusted, and it only so far."""

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
    seconds: float
    """No further pair is begun after so much time was measured."""


QUICK = Precision(spread=0.01, least=4, most=25, seconds=1.0)
"""For the search, which sees many variants."""
THOROUGH = Precision(spread=0.003, least=8, most=61, seconds=2.5)
"""For what is reported."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How long one thing takes over another."""

    value: float
    spread: float
    unit: float
    """The least time of the other."""


def compare(one: Callable[[], float], other: Callable[[], float], precision: Precision) -> Ratio:
    """The ratio of least times, of runs made in turns until it settles.

    Noise only ever adds, so the least of many runs is the best guess at a time. Whether it has been
    reached shows in the two halves of the runs, which must agree.
    """
    ones: list[float] = []
    others: list[float] = []
    while True:
        # Whoever goes first may find the caches cold or the clock high, so both do.
        for measure, times in ((one, ones), (other, others))[:: 1 if len(ones) % 2 else -1]:
            times.append(measure())
        spread = _spread(ones, others)
        count, spent = len(ones), sum(ones) + sum(others)
        if count >= precision.least and (
            spread <= precision.spread or count >= precision.most or spent >= precision.seconds
        ):
            return Ratio(_ratio(ones, others), spread, min(others))


def _spread(ones: list[float], others: list[float]) -> float:
    """How much the ratio differs between the odd and the even pairs."""
    if len(ones) < 2:
        return 1.0
    halves = [_ratio(ones[start::2], others[start::2]) for start in (0, 1)]
    return abs(halves[0] - halves[1]) / max(min(halves), 1e-300)


def _ratio(ones: list[float], others: list[float]) -> float:
    return min(ones) / max(min(others), 1e-300)
