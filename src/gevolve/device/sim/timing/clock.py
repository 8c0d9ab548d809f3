"""The clock of one run on a named GPU: records each launch, replays it, adds up the cycles."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gevolve.device.sim.timing.gpu import Gpu
from gevolve.device.sim.timing.occupancy import Occupancy, occupancy
from gevolve.device.sim.timing.portion import portion
from gevolve.device.sim.timing.registers import Registers
from gevolve.device.sim.timing.replay import Replay, Timing
from gevolve.device.sim.timing.trace import ROOM, Trace, is_sampled, l2_of

if TYPE_CHECKING:
    from gevolve.device.sim.machine.part import MachineKernel
    from gevolve.device.sim.machine.program import MachineProgram
    from gevolve.device.sim.program import Program
    from gevolve.device.sim.translate import Kernel

_LANES = 32
_WITHIN = (1 << 38) - 1
"""The part of an address that the trace keeps."""


PENDING = 16
"""Launches that are kept to be replayed later, unless their traces take too much memory before."""


@dataclass(slots=True)
class _Launch:
    gpu: Gpu
    """Or the part of it that stands for it."""
    program: "Program | MachineProgram"
    kernel: "Kernel | MachineKernel"
    held: Occupancy
    warps_per_block: int
    shared: int
    registers: Registers
    warps: int
    trace: Trace
    written: list[tuple[int, int]]
    instructions: int = 0


class Clock:
    """Counts the cycles of a run, launch by launch.

    A launch is recorded when it is made and replayed when somebody asks for the time: the outputs of
    most variants are wrong, and then nobody does. A formula comes before the replay, which is spared
    where the formula, times `scale`, says that the time is beyond what is `enough` to know.
    """

    def __init__(
        self, gpu: Gpu, enough: float = math.inf, scale: float = 1.0, *, whole: bool = True
    ) -> None:
        self._gpu = gpu
        self._whole = whole
        self._enough = enough
        self._scale = scale
        self._estimates: list[float] = []
        self._l2 = l2_of(gpu)
        self._pending: list[_Launch] = []
        self._timings: list[Timing] = []
        self._launches = Counter[str]()

    @property
    def timings(self) -> list[Timing]:
        """One for each launch so far, unless the time is beyond what is enough to know."""
        self._settle()
        return self._timings

    @property
    def time(self) -> float:
        """Cycles of all launches, without the gaps between them."""
        self._settle()
        guess = self._scale * self.estimate
        if guess > self._enough:
            return guess
        return sum((timing.cycles for timing in self._timings), 0.0)

    @property
    def work(self) -> tuple[float, ...]:
        """What all launches executed, kind by kind; () where they were not replayed."""
        return tuple(map(sum, zip(*(timing.work for timing in self.timings), strict=True)))

    @property
    def estimate(self) -> float:
        """The same by the formula alone."""
        self._settle()
        return sum(self._estimates, 0.0)

    @property
    def gap(self) -> float:
        """Cycles between two launches, which no edit of a kernel changes."""
        return float(self._gpu.launch)

    def begin(
        self,
        program: "Program | MachineProgram",
        kernel: "Kernel | MachineKernel",
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        written: list[tuple[int, int]],
    ) -> Trace:
        """Make ready to record a launch. `written` is what the host wrote before it."""
        kept = sum(launch.trace.record.words for launch in self._pending)
        if len(self._pending) >= PENDING or kept >= ROOM:
            self._settle()
        threads = block[0] * block[1] * block[2]
        registers = program.registers(kernel.name, self._gpu)
        held = occupancy(self._gpu, threads, registers.number, shared)
        warps = -(-threads // _LANES)
        blocks = grid[0] * grid[1] * grid[2]
        gpu = self._gpu
        if is_sampled(gpu.sms * held.blocks, blocks, warps):
            gpu = portion(gpu)
        parts = round(self._gpu.sms / gpu.sms)
        wave = held.blocks * gpu.sms
        trace = Trace(wave, blocks, warps, parts=parts, only=not self._whole)
        self._pending.append(
            _Launch(
                gpu, program, kernel, held, warps, shared, registers, warps * blocks, trace, written
            )
        )
        return trace

    def end(self, instructions: int) -> None:
        """The launch that was begun last is over; it issued so many warp instructions."""
        launch = self._pending[-1]
        if not self._whole:  # only what is recorded has run: the rest is like it
            record = launch.trace.record
            each = record.instructions / max(record.blocks, 1)
            instructions = round(each * (launch.warps // launch.warps_per_block))
        launch.instructions = instructions

    def cancel(self) -> None:
        """The launch that was begun last was stopped: it has no time."""
        self._pending.pop().trace.close()

    def close(self) -> None:
        """Give up what was not asked for."""
        for launch in self._pending:
            launch.trace.close()
        self._pending.clear()

    def _settle(self) -> None:
        """Replay what was recorded, in order: each launch finds in L2 what the last one left."""
        ready: list[Replay] = []
        for launch in self._pending:
            for low, high in launch.written:
                self._l2.warm(low & _WITHIN, high & _WITHIN)
            ready.append(self._place(launch))
            self._estimates.append(ready[-1].estimate)
        if self._scale * sum(self._estimates) <= self._enough:
            self._timings += [one.timing() for one in ready]
        self.close()

    def _place(self, launch: _Launch) -> Replay:
        program, kernel = launch.program, launch.kernel
        self._launches[kernel.name] += 1
        return Replay(
            launch.gpu,
            program.code(kernel.name).spilling(launch.registers.spilled),
            program.compiled(kernel.name).blocks,
            launch.trace,
            launch.held,
            warps_per_block=launch.warps_per_block,
            shared=launch.shared,
            l2=self._l2,
            kernel=kernel.name,
            registers=launch.registers.number,
            instructions=launch.instructions,
            warps=launch.warps,
            part=launch.gpu.sms / self._gpu.sms,
            nth=self._launches[kernel.name] - 1,
            files=program.files,
        )


__all__ = ["Clock", "Timing"]
