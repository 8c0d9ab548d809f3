"""Timings of several launches added up, kernel by kernel: what a person wants to see of a run."""

from collections.abc import Iterable

from gevolve.device.cost import Cost, KernelCost
from gevolve.device.sim.timing.replay import Timing


def cost_of(timings: Iterable[Timing]) -> Cost:
    """What all launches of a run cost together."""
    launches = list(timings)
    terms: dict[str, float] = {}
    for timing in launches:
        _add(terms, timing.kinds)
    return Cost(terms, additive=True, kernels=by_kernel(launches))


def by_kernel(timings: Iterable[Timing]) -> dict[str, KernelCost]:
    """The launches of each kernel added up, in the order in which kernels were first launched."""
    totals: dict[str, KernelCost] = {}
    for timing in timings:
        total = totals.setdefault(timing.kernel, KernelCost())
        total.launches += 1
        cycles, instructions = (
            total.cycles + timing.cycles,
            total.instructions + timing.instructions,
        )
        total.occupancy = _mean(total.occupancy, total.cycles, timing.occupancy, timing.cycles)
        total.share = _mean(total.share, total.instructions, timing.share, timing.instructions)
        total.cycles, total.instructions = cycles, instructions
        _add(total.kinds, timing.kinds)
        for line, spent in timing.lines.items():
            _add(total.lines.setdefault(line, {}), spent)
        for name, count in timing.traffic.items():
            together = max if name == "busiest" else int.__add__
            total.traffic[name] = together(total.traffic.get(name, 0), count)
    return totals


def _mean(a: float, weight: float, b: float, other: float) -> float:
    return (a * weight + b * other) / (weight + other) if weight + other else b


def _add(to: dict[str, float], spent: dict[str, float]) -> None:
    for kind, cycles in spent.items():
        to[kind] = to.get(kind, 0.0) + cycles
