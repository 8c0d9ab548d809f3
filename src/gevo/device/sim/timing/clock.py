"""The clock of one run on a named GPU: records each launch, replays it, adds up the cycles."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gevo.device.sim.timing.gpu import Gpu
from gevo.device.sim.timing.occupancy import Occupancy, occupancy
from gevo.device.sim.timing.replay import Timing, replay
from gevo.device.sim.timing.trace import Trace, l2_of

if TYPE_CHECKING:
    from gevo.device.sim.program import Program
    from gevo.device.sim.translate import Kernel

_LANES = 32
_WITHIN = (1 << 38) - 1
"""The part of an address that the trace keeps."""


@dataclass(slots=True)
class _Launch:
    program: "Program"
    kernel: "Kernel"
    held: Occupancy
    warps_per_block: int
    shared: int
    registers: int
    warps: int
    trace: Trace


class Clock:
    """Counts the cycles of a run, launch by launch."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._l2 = l2_of(gpu)
        self._launch: _Launch | None = None
        self.timings: list[Timing] = []

    @property
    def time(self) -> float:
        """Cycles of all launches, and of the gaps between them."""
        gaps = max(len(self.timings) - 1, 0) * self._gpu.launch
        return sum((timing.cycles for timing in self.timings), float(gaps))

    def begin(
        self,
        program: "Program",
        kernel: "Kernel",
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        written: list[tuple[int, int]],
    ) -> Trace:
        """Make ready to record a launch. `written` is what the host wrote before it."""
        for low, high in written:
            self._l2.warm(low & _WITHIN, high & _WITHIN)
        threads = block[0] * block[1] * block[2]
        registers = program.code(kernel.name).need
        held = occupancy(self._gpu, threads, registers, shared)
        warps = -(-threads // _LANES)
        blocks = grid[0] * grid[1] * grid[2]
        trace = Trace(held.blocks * self._gpu.sms, blocks, warps)
        self._launch = _Launch(
            program, kernel, held, warps, shared, registers, warps * blocks, trace
        )
        return trace

    def end(self, trace: Trace, instructions: int) -> None:
        """Replay what was recorded of a launch that issued so many warp instructions."""
        launch = self._launch
        assert launch is not None
        assert launch.trace is trace
        program, kernel = launch.program, launch.kernel
        self.timings.append(
            replay(
                self._gpu,
                program.code(kernel.name),
                program.compiled(kernel.name).blocks,
                trace,
                launch.held,
                warps_per_block=launch.warps_per_block,
                shared=launch.shared,
                l2=self._l2,
                kernel=kernel.name,
                registers=launch.registers,
                instructions=instructions,
                warps=launch.warps,
                files=program.files,
            )
        )
        self._launch = None


__all__ = ["Clock", "Timing"]
