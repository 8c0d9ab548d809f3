"""Cycles of a named GPU from a trace, and where they went."""

import ctypes

import msgspec
import numpy as np

from gevo.device import Array
from gevo.device.sim.timing.breakdown import KINDS, Counters, by_line, total
from gevo.device.sim.timing.code import Code
from gevo.device.sim.timing.estimate import SUMMARY, TRAFFIC, estimate
from gevo.device.sim.timing.gpu import Gpu, encode, l1_sets
from gevo.device.sim.timing.occupancy import Occupancy
from gevo.device.sim.timing.trace import Cache, Trace, function
from gevo.errors import DeviceError

_MAPS = ((128, 6), (512, 3))
"""Maps of lines to slices that the cycles are a mean of, by the most warps that the grid may have.

No variant is lucky in all of them. A large grid has less need of it, for its many accesses are a mean
of their own; and all variants of a workload have the same grid.
"""
_LEAST_MAPS = 2

_u64, _i32 = ctypes.c_uint64, ctypes.c_int32


class _Replay(ctypes.Structure):
    """`struct replay` of the runtime."""

    _fields_ = (
        *(
            (name, _u64)
            for name in ("gpu", "ops", "registers", "spans", "blocks", "accesses", "trace")
        ),
        *((name, _i32) for name in ("warps_per_block", "resident", "slots", "n_ops")),
        *((name, _i32) for name in ("seeds", "n_blocks")),
        *((name, _u64) for name in ("cycles", "idle", "issued", "waited", "stuck")),
        *((name, _u64) for name in ("delay", "contended", "runs")),
    )

    cycles: int
    idle: int


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """The cycles of one launch; plain data, to be stored and shown."""

    kernel: str
    cycles: float
    estimate: float
    """What the formula says, without a replay."""
    kinds: dict[str, float]
    """The cycles by what they were spent on: `KINDS`."""
    lines: dict[str, dict[str, float]]
    """The same by source line, ``file:line``."""
    occupancy: float
    """The share of an SM's warps that are resident, and how many blocks that is."""
    resident: int
    bound: str
    """What limits the occupancy."""
    registers: int
    instructions: int
    """Warp instructions of the whole launch."""
    share: float = 1.0
    """The part of them that was replayed; the rest is taken to be like it."""
    traffic: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Counts of what was replayed: `TRAFFIC`."""


def replay(
    gpu: Gpu,
    code: Code,
    blocks: Array,
    trace: Trace,
    held: Occupancy,
    *,
    warps_per_block: int,
    shared: int = 0,
    l2: Cache,
    kernel: str = "",
    registers: int = 0,
    instructions: int | None = None,
    warps: int | None = None,
    files: dict[int, str] | None = None,
) -> Timing:
    """Replay a recorded launch; `blocks` is the table that it was recorded with.

    `instructions` and `warps` are those of the whole launch, if not all of it was recorded.
    """
    record = trace.record
    if record.failed:
        raise DeviceError("there is no memory for the trace of a launch; use a smaller case")
    done = record.instructions
    instructions = done if instructions is None else instructions
    table, ops = encode(gpu, held.blocks * shared), code.priced(gpu)
    counters = Counters(len(ops))
    call = _Replay(
        gpu=table.ctypes.data,
        ops=ops.ctypes.data,
        registers=code.registers.ctypes.data,
        spans=code.spans.ctypes.data,
        blocks=blocks.ctypes.data,
        accesses=code.accesses.ctypes.data,
        trace=trace.address,
        warps_per_block=warps_per_block,
        resident=held.blocks,
        slots=code.slots,
        n_ops=len(ops),
        n_blocks=len(code.spans),
        **counters.addresses(),
    )
    runs = np.zeros(len(code.spans), np.uint64)
    call.runs = runs.ctypes.data
    summary = _levels(call, Cache(l1_sets(gpu, held.blocks * shared), gpu.l1.ways, gpu.sms), l2)
    warps = record.n_warps if warps is None else warps
    call.seeds = maps = next((maps for most, maps in _MAPS if warps <= most), _LEAST_MAPS)
    if function("gevo_replay", _i32)(ctypes.byref(call)):
        raise DeviceError(f"{kernel}: the replay of a launch did not end; this is a fault of gevo")
    counters.idle = call.idle
    share = done / instructions if instructions else 1.0
    mean = call.cycles / maps / share if share else 0.0
    guess = estimate(gpu, code, ops, trace, summary, runs, held, warps_per_block)
    spent = counters.cycles(code)
    sums = total(spent)
    scale = mean / max(sum(sums.values()), 1.0)
    return Timing(
        kernel=kernel,
        cycles=mean,
        estimate=guess / share if share else 0.0,
        kinds={kind: spent_on * scale for kind, spent_on in sums.items()},
        lines=by_line(spent, code, files or {}, scale),
        occupancy=held.share,
        resident=held.blocks,
        bound=held.bound,
        registers=registers,
        instructions=instructions,
        share=share,
        traffic={name: int(summary[name]) for name in TRAFFIC},
    )


def _levels(call: _Replay, l1: Cache, l2: Cache) -> Array:
    """Say of every access where it finds its data."""
    summary = np.zeros((), SUMMARY)
    failed = function("gevo_levels", _i32)(
        ctypes.byref(call),
        ctypes.byref(l1.tags),
        ctypes.byref(l2.tags),
        summary.ctypes.data,
    )
    if failed:
        raise DeviceError("there is no memory for the trace of a launch; use a smaller case")
    return summary


__all__ = ["KINDS", "TRAFFIC", "Timing", "replay"]
