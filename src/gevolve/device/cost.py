"""What a run costs and on what: the device's own account, by kernel, source line and term."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec


class KernelCost(msgspec.Struct, kw_only=True):
    """All launches of one kernel in a run."""

    launches: int = 0
    cycles: float = 0.0
    instructions: int = 0
    occupancy: float = 0.0
    """The mean over launches, weighted by their cycles."""
    share: float = 0.0
    """The fraction of the instructions that was simulated in detail."""
    kinds: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    """Cycles by what they were spent on, such as ``issue`` or ``memory``."""
    lines: dict[str, dict[str, float]] = msgspec.field(default_factory=dict[str, dict[str, float]])
    """The same for each source line, such as ``hotspot.cu:44``."""
    traffic: dict[str, int] = msgspec.field(default_factory=dict[str, int])


class KernelCode(msgspec.Struct, frozen=True):
    """A kernel that a device's compiler made of a program."""

    llvm: str
    """Its LLVM-IR, which edits of kernels are of."""
    cycles: float
    """Of all its launches in a run."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run."""

    terms: Mapping[str, float]
    """The whole cost by term: cycles by kind, or flops and bytes."""
    additive: bool
    """Whether the terms have one unit and add up to the whole."""
    kernels: Mapping[str, KernelCost] = field(default_factory=dict[str, KernelCost])
    """By kernel, in the order of their first launches; empty if the device cannot tell."""
