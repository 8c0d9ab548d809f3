"""Cycles of a named GPU from a trace of what a kernel did.

The runtime records for each warp which blocks it ran and which lines it touched (`trace`). A kernel's
instructions have classes and registers (`code`); a GPU is a table (`gpu`). The replay steps all SMs
through the trace (`replay`) and says where the cycles went (`breakdown`); a formula over the same
counts is a cheap stand-in (`estimate`). `clock` does all that for each launch of a run, and `totals`
adds launches up.
"""

from gevolve.device.sim.timing.breakdown import KINDS
from gevolve.device.sim.timing.clock import Clock
from gevolve.device.sim.timing.gpu import Gpu, gpus, load_gpu
from gevolve.device.sim.timing.occupancy import Occupancy, occupancy
from gevolve.device.sim.timing.replay import TRAFFIC, Replay, Timing
from gevolve.device.sim.timing.totals import by_kernel, cost_of

__all__ = [
    "KINDS",
    "TRAFFIC",
    "Clock",
    "Gpu",
    "Occupancy",
    "Replay",
    "Timing",
    "by_kernel",
    "cost_of",
    "gpus",
    "load_gpu",
    "occupancy",
]
