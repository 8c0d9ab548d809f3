"""Timings of several launches added up, kernel by kernel: what a person wants to see of a run."""

from collections.abc import Iterable

import msgspec

from gevolve.device.sim.timing.replay import Timing


class Total(msgspec.Struct, kw_only=True):
    """All launches of one kernel in a run."""

    launches: int = 0
    cycles: float = 0.0
    instructions: int = 0
    occupancy: float = 0.0
    """The mean over launches, as they took cycles."""
    share: float = 0.0
    """The part of the instructions that was replayed."""
    kinds: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    lines: dict[str, dict[str, float]] = msgspec.field(default_factory=dict[str, dict[str, float]])
    traffic: dict[str, int] = msgspec.field(default_factory=dict[str, int])


def by_kernel(timings: Iterable[Timing]) -> dict[str, Total]:
    """The launches of each kernel added up, in the order in which kernels were first launched."""
    totals: dict[str, Total] = {}
    for timing in timings:
        total = totals.setdefault(timing.kernel, Total())
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
