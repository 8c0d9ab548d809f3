"""Cycles of a named GPU from a trace, and where they went."""

import ctypes

import msgspec
import numpy as np

from gevolve.device.base import Array
from gevolve.device.sim.timing.breakdown import KINDS, Counters, by_line, total
from gevolve.device.sim.timing.code import ROLES, Code
from gevolve.device.sim.timing.estimate import SUMMARY, TRAFFIC, estimate
from gevolve.device.sim.timing.gpu import Gpu, encode, l1_sets
from gevolve.device.sim.timing.occupancy import Occupancy
from gevolve.device.sim.timing.trace import Cache, Trace, function
from gevolve.errors import DeviceError

_MAPS = ((128, 6), (512, 3))
"""Maps of lines to slices that the cycles are a mean of, by the most warps that the grid may have.

No variant is lucky in all of them. A large grid has less need of it, for its many accesses are a mean
of their own; so are the launches of a kernel that is launched again and again, each of which has maps that
no other has. And all variants of a workload have the same grids and launches.
"""
_LEAST_MAPS = 2
_WAVES = 3
"""So many waves have a middle, whose pace is that of the rest."""

_u64, _i32 = ctypes.c_uint64, ctypes.c_int32


class _Replay(ctypes.Structure):
    """`struct replay` of the runtime."""

    _fields_ = (
        *(
            (name, _u64)
            for name in ("gpu", "ops", "registers", "spans", "blocks", "accesses", "trace")
        ),
        *((name, _i32) for name in ("warps_per_block", "resident", "slots", "n_ops")),
        *((name, _i32) for name in ("first", "seeds", "n_blocks")),
        *((name, _u64) for name in ("cycles", "idle", "early", "late")),
        *((name, _u64) for name in ("issued", "waited", "stuck", "starved")),
        *((name, _u64) for name in ("delay", "contended", "runs")),
    )

    cycles: int
    idle: int
    early: int
    late: int


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
    work: tuple[float, ...] = ()
    """Warp instructions, those of them that access memory and that are barriers, and cycles of stalls."""
    traffic: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Counts of what was replayed: `TRAFFIC`."""


class Replay:
    """A recorded launch whose accesses have been placed in the caches, ready to be replayed.

    `blocks` is the table that it was recorded with; `instructions` and `warps` are those of the whole
    launch, if not all of it was recorded; `gpu` is `part` of the whole one then; `nth` counts the launches of
    the kernel before it. Launches must be placed in the order in which they were made, for each finds in
    `l2` what the last one left.
    """

    def __init__(
        self,
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
        part: float = 1.0,
        nth: int = 0,
        files: dict[int, str] | None = None,
    ) -> None:
        record = trace.record
        if record.failed:
            raise DeviceError("there is no memory for the trace of a launch; use a smaller case")
        self._code, self._held, self._kernel = code, held, kernel
        self._registers, self._files = registers, files or {}
        done = record.instructions
        self._instructions = done if instructions is None else instructions
        self._share = done / self._instructions if self._instructions else 1.0
        self._blocks, self._wave = int(record.blocks), held.blocks * gpu.sms
        # what a part of the GPU would have had to do of the whole launch
        self._more = part / self._share if self._share else 1.0
        self._warps = record.n_warps if warps is None else warps
        self._nth = nth
        # The runtime is given addresses; all that they point to is kept here.
        self._tables = (
            encode(gpu, held.blocks * shared, machine=code.machine),
            code.priced(gpu),
            blocks,
            trace,
        )
        table, ops, *_ = self._tables
        self._counters = Counters(len(ops))
        self._runs = np.zeros(len(code.spans), np.uint64)
        self._call = _Replay(
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
            **self._counters.addresses(),
        )
        self._call.runs = self._runs.ctypes.data
        l1 = Cache(l1_sets(gpu, held.blocks * shared), gpu.l1.ways, gpu.sms)
        self._summary = _levels(self._call, l1, l2)
        guess = estimate(gpu, code, ops, trace, self._summary, self._runs, held, warps_per_block)
        self.estimate = guess * self._more
        """What the formula says, without a replay."""

    def timing(self) -> Timing:
        """Replay the launch."""
        call, held = self._call, self._held
        most = next((n for warps, n in _MAPS if self._warps <= warps), _LEAST_MAPS)
        # many waves are a mean of their own
        maps = 1 if self._more != 1 else max(most // (self._nth + 1), _LEAST_MAPS)
        call.first, call.seeds = self._nth * most, maps
        if function("gevolve_replay", _i32)(ctypes.byref(call)):
            raise DeviceError(
                f"{self._kernel}: the replay of a launch did not end; this is a fault of gevolve"
            )
        self._counters.idle = call.idle
        mean = (call.cycles + self._rest(call)) / maps
        spent = self._counters.cycles(self._code)
        sums = total(spent)
        scale = mean / max(sum(sums.values()), 1.0)
        return Timing(
            kernel=self._kernel,
            cycles=mean,
            estimate=self.estimate,
            kinds={kind: spent_on * scale for kind, spent_on in sums.items()},
            lines=by_line(spent, self._code, self._files, scale),
            occupancy=held.share,
            resident=held.blocks,
            bound=held.bound,
            registers=self._registers,
            instructions=self._instructions,
            share=self._share,
            work=self._work(),
            traffic={name: int(self._summary[name]) for name in TRAFFIC},
        )

    def _work(self) -> tuple[float, ...]:
        """What the whole launch executes, if what was not recorded is like what was."""
        each = np.repeat(self._runs, self._code.spans["count"]).astype(float)
        ops = self._code.ops
        memory, barrier = (ops["role"] == ROLES.index(name) for name in ("memory", "barrier"))
        counts = each.sum(), each[memory].sum(), each[barrier].sum(), (each * ops["stall"]).sum()
        return tuple(float(count) * self._more for count in counts)

    def _rest(self, call: _Replay) -> float:
        """Cycles of what was not recorded: it goes on at the pace of the middle third of what was."""
        waves = self._blocks // self._wave
        between = waves * 2 // 3 - waves // 3
        if self._more == 1 or not between or waves < _WAVES:
            return (self._more - 1) * call.cycles
        each = (call.late - call.early) / between
        return (self._more - 1) * self._blocks / self._wave * each


def _levels(call: _Replay, l1: Cache, l2: Cache) -> Array:
    """Say of every access where it finds its data."""
    summary = np.zeros((), SUMMARY)
    failed = function("gevolve_levels", _i32)(
        ctypes.byref(call),
        ctypes.byref(l1.tags),
        ctypes.byref(l2.tags),
        summary.ctypes.data,
    )
    if failed:
        raise DeviceError("there is no memory for the trace of a launch; use a smaller case")
    return summary


__all__ = ["KINDS", "TRAFFIC", "Replay", "Timing"]
