"""A named GPU as a table of numbers: how many of what, how long each thing takes.

One TOML file per GPU in `gpus/`; every figure there says where it comes from.
"""

import math
import tomllib
from functools import cache
from importlib import resources

import msgspec
import numpy as np

from gevolve.device.base import Array
from gevolve.errors import DeviceError

UNITS = ("alu", "int", "special", "double", "memory")
"""What an instruction runs on; the order is that of the runtime."""
LINE = 128
"""Bytes of a cache line: four sectors."""
_CACHES = ("none", "read-only", "all")
_POINT = 256
"""Parts of a cycle in which slices of L2 and DRAM keep time."""


class Class(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How instructions of one kind run."""

    unit: str
    latency: int
    """Cycles from issue until an instruction that needs the result can issue."""
    interval: int = 1
    """Cycles until the unit takes another."""
    slots: int = 1
    """Issue slots: how many machine instructions one of PTX becomes."""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one SM can hold."""

    threads: int
    blocks: int
    registers: int
    register_unit: int
    """Registers are given to warps in multiples of this."""
    registers_per_thread: int
    shared: int
    shared_unit: int
    shared_reserved: int = 0
    """Bytes of shared memory that the system takes of every block."""


class Issue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How instructions leave the schedulers."""

    schedulers: int
    dual: bool
    """Whether a warp may issue a second instruction in a cycle, to another unit."""
    collectors: int
    """Operand collectors of one scheduler."""
    branch: int
    """Cycles lost when a warp goes on elsewhere than at the next block."""
    barrier: int
    """Cycles from the last arrival at a barrier until warps go on."""
    dispatch: int
    """Cycles between two blocks that start on one SM."""
    folded: tuple[str, ...] = ()
    """Classes that the machine's own compiler folds into other instructions."""


class Access(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The load/store unit of one SM."""

    queue: int
    send: int
    """Sectors sent to L2 in one cycle."""
    shared_latency: int
    constant_latency: int
    atomics_wait: bool
    """Whether a warp stops until its atomics are done."""


class L1(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data cache of one SM."""

    size: int
    """Bytes; where shared memory is cut from the same store, what a block takes is taken off."""
    unified: bool
    ways: int
    caches: str
    """Which loads it keeps: ``none``, ``read-only`` or ``all``. Local memory it always keeps."""
    latency: int
    rate: int
    """Sectors delivered in one cycle."""


class L2(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cache that all SMs share, cut into slices."""

    slices: int
    size: int
    ways: int
    interval: float
    """Cycles that a slice needs for a sector."""
    behind: int
    """A slice this many cycles behind takes no more requests."""
    hot: float
    """Cycles for a sector of the line that a slice has just given to another SM."""
    atomic: float
    """Cycles for an atomic operation on one sector."""
    latency: int
    """Cycles from there back to the SM."""


class Dram(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Memory behind L2."""

    bandwidth: float
    """GB/s."""
    efficiency: float
    """The share of it that can be reached."""
    latency: int
    """Cycles on top of those of L2."""
    queue: int
    """Sectors that may wait at one slice."""


class Gpu(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One GPU."""

    title: str
    sms: int
    clock: float
    """MHz: the SM's."""
    launch: int
    """Cycles between two launches of a run that follow one another."""
    limits: Limits
    issue: Issue
    access: Access
    l1: L1
    l2: L2
    dram: Dram
    classes: dict[str, Class]

    @property
    def sector_interval(self) -> float:
        """Cycles that the DRAM of one slice needs for a sector."""
        return 32 * self.l2.slices / self.bytes_per_cycle

    @property
    def bytes_per_cycle(self) -> float:
        """What DRAM can move in one cycle of the SM's clock."""
        return self.dram.bandwidth * self.dram.efficiency * 1e3 / self.clock


@cache
def load_gpu(name: str) -> Gpu:
    """The table of this GPU, such as ``p100``; `DeviceError` names the known ones."""
    if name not in gpus():
        raise DeviceError(f"sim has no GPU {name!r}; use one of {', '.join(gpus())}")
    text = (resources.files("gevolve.device.sim") / "gpus" / f"{name}.toml").read_text()
    gpu = msgspec.convert(tomllib.loads(text), Gpu)
    if gpu.l1.caches not in _CACHES:
        raise DeviceError(f"{name}.toml: l1.caches must be one of {', '.join(_CACHES)}")
    return gpu


@cache
def gpus() -> tuple[str, ...]:
    """The names of all GPUs that there is a table of."""
    folder = resources.files("gevolve.device.sim") / "gpus"
    return tuple(sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".toml")))


_FIELDS = (
    *("sms", "schedulers", "dual", "collectors", "queue", "branch", "barrier", "dispatch"),
    *("shared_latency", "constant_latency"),
    *("l1_latency", "l1_rate", "send_rate", "l1_sets", "l1_ways", "l1_caches"),
    *("slices", "slice_interval", "slice_behind", "hot_interval", "atomic_interval", "l2_latency"),
    *("l2_sets", "l2_ways", "dram_latency", "dram_interval", "dram_queue", "atomics_wait"),
)
"""The fields of `struct gpu` of the runtime, in order."""


def encode(gpu: Gpu, shared: int = 0) -> Array:
    """The table as the runtime reads it, for blocks that take so much of an SM's shared memory."""
    values = {
        "sms": gpu.sms,
        "schedulers": gpu.issue.schedulers,
        "dual": gpu.issue.dual,
        "collectors": gpu.issue.collectors,
        "queue": gpu.access.queue,
        "branch": gpu.issue.branch,
        "barrier": gpu.issue.barrier,
        "dispatch": gpu.issue.dispatch,
        "shared_latency": gpu.access.shared_latency,
        "constant_latency": gpu.access.constant_latency,
        "l1_latency": gpu.l1.latency,
        "l1_rate": gpu.l1.rate,
        "send_rate": gpu.access.send,
        "l1_sets": l1_sets(gpu, shared),
        "l1_ways": gpu.l1.ways,
        "l1_caches": _CACHES.index(gpu.l1.caches),
        "slices": gpu.l2.slices,
        "slice_interval": _fixed(gpu.l2.interval),
        "slice_behind": gpu.l2.behind,
        "hot_interval": _fixed(gpu.l2.hot),
        "atomic_interval": _fixed(gpu.l2.atomic),
        "l2_latency": gpu.l2.latency,
        "l2_sets": l2_sets(gpu),
        "l2_ways": gpu.l2.ways,
        "dram_latency": gpu.dram.latency,
        "dram_interval": _fixed(gpu.sector_interval),
        "dram_queue": gpu.dram.queue,
        "atomics_wait": gpu.access.atomics_wait,
    }
    return np.array([int(values[name]) for name in _FIELDS], np.int32)


def l1_sets(gpu: Gpu, shared: int = 0) -> int:
    """Sets of an L1 beside so many bytes of shared memory."""
    left = gpu.l1.size - (shared if gpu.l1.unified else 0)
    return max(1, left // (LINE * gpu.l1.ways))


def l2_sets(gpu: Gpu) -> int:
    """Sets of the whole L2."""
    return max(1, gpu.l2.size // (LINE * gpu.l2.ways))


def _fixed(cycles: float) -> int:
    return math.floor(cycles * _POINT + 0.5)
