"""A named GPU as a table of numbers: how many of what, how long each thing takes.

One TOML file per GPU in `gpus/`; every figure there says where it comes from.
"""

import math
import tomllib
from functools import cache
from importlib import resources
from typing import Any, cast

import msgspec
import numpy as np

from gevolve.device.base import Array
from gevolve.errors import DeviceError

UNITS = (
    "alu",
    "int",
    "special",
    "double",
    "memory",
    "half",
    "uniform",
    "lite",
    "constant",
    "branch",
)
"""What an instruction runs on; the order is that of the runtime."""
CODE_LINE = 8
"""Instructions of a line of the instruction caches."""
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
    other: str = ""
    """A second unit that takes such instructions as well."""


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
    shared_block: int = 0
    """The most bytes of shared memory that one block may have, if that is less than the SM's."""

    @property
    def most_shared(self) -> int:
        """The most bytes of shared memory that one block may have, if its host code asks for them."""
        return self.shared_block or self.shared - self.shared_reserved


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

    size: float
    """GB."""
    bandwidth: float
    """GB/s."""
    efficiency: float
    """The share of it that can be reached."""
    latency: int
    """Cycles on top of those of L2."""
    queue: int
    """Sectors that may wait at one slice."""


class Fetch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The caches that instructions come from; sizes are in instructions of 16 bytes."""

    near: int
    """In the cache of one scheduler."""
    far: int
    """In that of the SM."""
    ahead: int
    """Lines of eight that are asked for before they are needed."""
    interval: int
    """Cycles between two lines that the SM's cache sends."""
    latency: int
    """Cycles from there to the scheduler's."""
    beyond: int
    """Cycles for a line that the SM's cache does not hold."""


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a GPU runs machine code, which says itself when most instructions may issue."""

    arch: str
    """What it is compiled for, such as ``sm_80``."""
    branch: int
    """Cycles lost when a warp goes on elsewhere than at the next instruction."""
    pending: int
    """Memory instructions of one scheduler that may wait for the load/store unit."""
    address: int
    """Cycles of the load/store unit for each instruction, at least."""
    bank: int
    """Cycles of shared memory to serve 32 banks once."""
    read: int
    """Cycles until the operands of a memory instruction have been read."""
    fetch: Fetch
    classes: dict[str, Class]
    """Units of each class of instruction; the latency is until its scoreboard is free."""


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
    classes: dict[str, Class] = {}
    """Of PTX, for a GPU whose machine code cannot be read."""
    arch: str = ""
    """What the registers of PTX are counted for, such as ``sm_60``."""
    machine: Machine | None = None

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
    gpu = msgspec.convert(_table(name), Gpu)
    if gpu.l1.caches not in _CACHES:
        raise DeviceError(f"{name}.toml: l1.caches must be one of {', '.join(_CACHES)}")
    return gpu


def _table(name: str) -> dict[str, Any]:
    """A table as it is written; one that is ``like`` another says only what differs."""
    text = (resources.files("gevolve.device.sim") / "gpus" / f"{name}.toml").read_text()
    own = tomllib.loads(text)
    like = own.pop("like", None)
    return _over(_table(like), own) if like else own


def _over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in own.items():
        nested = isinstance(value, dict) and key in merged
        merged[key] = _over(merged[key], cast("dict[str, Any]", value)) if nested else value
    return merged


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
    *("machine", "pending", "address_interval", "bank_interval", "read_latency"),
    *("l0_lines", "l1i_lines", "fetch_ahead", "fetch_interval", "fetch_latency", "fetch_far"),
)
"""The fields of `struct gpu` of the runtime, in order."""


def machine_of(gpu: Gpu) -> Machine:
    """How this GPU runs machine code."""
    if gpu.machine is None:
        raise DeviceError(f"{gpu.title}: the table says nothing of machine code")
    return gpu.machine


def encode(gpu: Gpu, shared: int = 0, *, machine: bool = False) -> Array:
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
        "bank_interval": 1,
    }
    if machine:
        how = machine_of(gpu)
        values |= {
            "machine": 1,
            "branch": how.branch,
            "pending": how.pending,
            "address_interval": how.address,
            "bank_interval": how.bank,
            "read_latency": how.read,
            "l0_lines": how.fetch.near // CODE_LINE,
            "l1i_lines": how.fetch.far // CODE_LINE,
            "fetch_ahead": how.fetch.ahead,
            "fetch_interval": how.fetch.interval,
            "fetch_latency": how.fetch.latency,
            "fetch_far": how.fetch.beyond,
        }
    return np.array([int(values.get(name, 0)) for name in _FIELDS], np.int32)


def l1_sets(gpu: Gpu, shared: int = 0) -> int:
    """Sets of an L1 beside so many bytes of shared memory."""
    left = gpu.l1.size - (shared if gpu.l1.unified else 0)
    return max(1, left // (LINE * gpu.l1.ways))


def l2_sets(gpu: Gpu) -> int:
    """Sets of the whole L2."""
    return max(1, gpu.l2.size // (LINE * gpu.l2.ways))


def _fixed(cycles: float) -> int:
    return math.floor(cycles * _POINT + 0.5)
