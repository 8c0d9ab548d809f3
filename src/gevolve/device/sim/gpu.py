"""The simulated GPU that a workload's host code sees: buffers, symbols, launches, what they used."""

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gevolve.device.base import Array, Hazard, Limits, Shape, Stopped, Usage
from gevolve.device.parameters import parameter
from gevolve.device.sim import arguments
from gevolve.device.sim.buffer import Memory, SimBuffer
from gevolve.device.sim.hazards import Watch, spot_of
from gevolve.device.sim.launch import STOPS, Launch, launch_function
from gevolve.device.sim.machine.part import MachineKernel
from gevolve.device.sim.machine.program import MachineProgram
from gevolve.device.sim.memory import POISON
from gevolve.device.sim.program import Program
from gevolve.device.sim.said import ROOM, pieces
from gevolve.device.sim.timing.clock import Clock, Timing
from gevolve.device.sim.translate import Kernel
from gevolve.device.sim.translate.callgraph import align
from gevolve.device.sim.uses import Uses
from gevolve.errors import LaunchError
from gevolve.ir.llvm import names

WARP_BYTES = 8192
"""Room for one `struct warp`."""
LANES = 32
_LATER, _TURN = 1_000_000_007, 3
"""By how much the clock, and the numbers of warps and of SMs, differ from one poison to the next."""


class LaunchStopped(Stopped):
    """A kernel was stopped, and why."""

    def __init__(
        self, verdict: str, detail: str, stop: int, words: str, place: str, *, misaligned: bool
    ) -> None:
        super().__init__(verdict, detail)
        self.stop = stop
        """The number of the reason, as in `STOPS`."""
        self.words = words
        self.place = place
        """The source line of the access that went wrong, such as ``hotspot.cu:44``; "?" if not known."""
        self.misaligned = misaligned


class SimGpu:
    """One artefact, open on the simulator."""

    def __init__(
        self,
        program: Program | MachineProgram,
        limits: Limits,
        pattern: int,
        order: int,
        seed: int,
        clock: Clock | None = None,
        watch: Watch | None = None,
        uses: Uses | None = None,
        most_shared: int = arguments.MAX_SHARED,
        memory: Memory | None = None,
        choice: Mapping[str, int] | None = None,
        hear: Callable[[int, bytes], None] | None = None,
    ) -> None:
        """`hear` gets what kernels print, and what their assertions say, with the number of a stream."""
        self._hear = hear
        self._said = np.empty(ROOM if hear else 0, np.uint8)
        self._choice = choice or {}
        self._most_shared = most_shared
        self._program = program
        self._limits = limits
        self._pattern = pattern
        self._order, self._seed = order, seed
        self._memory = memory or Memory(
            program,
            limits,
            pattern,
            scattered=bool(order or pattern),
            shadowed=watch is not None or uses is not None,
        )
        self._clock, self._watch, self._uses = clock, watch, uses
        self._used = Usage()
        self._launched: dict[str, None] = {}
        self._marks: dict[str, int] = {}

    def array(self, data: npt.ArrayLike) -> SimBuffer:
        return self._memory.array(data)

    def empty(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> SimBuffer:
        return self._memory.empty(shape, dtype)

    def zeros(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> SimBuffer:
        return self._memory.zeros(shape, dtype)

    def symbol(self, name: str, dtype: npt.DTypeLike = np.uint8) -> SimBuffer:
        return self._memory.symbol(name, dtype)

    def parameter(self, name: str, *values: int) -> int:
        if any(kernel.marks for kernel in self._program.kernels.values()):
            offer = f"parameter {name}={','.join(map(str, values))}"
            self._marks[offer] = self._marks.get(offer, 0) + 1
        return parameter(self._choice, name, values)

    def launch(self, kernel: str, grid: Shape, block: Shape, *args: Any, shared: int = 0) -> None:
        if self._memory.closed:
            raise LaunchError("the device is closed; open it again")
        name = arguments.lookup("kernel", kernel, self._program.kernels)
        found = self._program.kernels[name]
        blocks = arguments.shape3(f"{kernel}: grid", grid, arguments.MAX_GRID)
        threads = arguments.shape3(f"{kernel}: block", block, arguments.MAX_BLOCK)
        _check_limits(kernel, found, threads)
        total = align(found.shared, found.dynamic_align) + shared if shared else found.shared
        if shared < 0 or total > self._most_shared:
            raise LaunchError(
                f"{kernel} asks for {total} bytes of shared memory; the most is {self._most_shared}"
            )
        if found.shared > arguments.MAX_STATIC:
            raise LaunchError(
                f"{kernel} declares {found.shared} bytes of shared memory; the most is "
                f"{arguments.MAX_STATIC}, and more can only be asked for at launch"
            )
        params = arguments.encode(kernel, found.params, args)
        self.launch_encoded(name, blocks, threads, params, shared)

    def launch_encoded(
        self,
        name: str,
        blocks: tuple[int, int, int],
        threads: tuple[int, int, int],
        params: bytes,
        shared: int,
    ) -> None:
        """Run a kernel whose parameters are laid out as it reads them; nothing of it is checked."""
        found = self._program.kernels[name]
        total = align(found.shared, found.dynamic_align) + shared if shared else found.shared
        if self._used.launches >= self._limits.launches:
            raise Stopped("fuel", f"more than {self._limits.launches} launches")
        self._used.launches += 1
        self._launched[name] = None
        if isinstance(found, MachineKernel):
            assert isinstance(self._program, MachineProgram)
            windows = self._memory.shared, self._memory.local_window
            base = self._memory.globals
            params = self._program.bank(found, params, blocks, threads, windows, shared, base)
        self._run(found, blocks, threads, params, total, shared)

    def _run(
        self,
        kernel: Kernel | MachineKernel,
        blocks: tuple[int, int, int],
        threads: tuple[int, int, int],
        params: bytes,
        total: int,
        dynamic: int,
    ) -> None:
        code, store = self._program.compiled(kernel.name), self._memory
        warps = -(-(threads[0] * threads[1] * threads[2]) // LANES) if kernel.waits else 1
        regions = store.stage(params, total, warps * LANES * kernel.local)
        written, store.written = store.written, []
        trace = (
            self._clock.begin(self._program, kernel, blocks, threads, total, written)
            if self._clock
            else None
        )
        most_sites = max((b.sites for b in kernel.blocks), default=0)
        # What the runtime works on; it must stay alive until the launch is over.
        addresses = np.zeros((most_sites + 1) * LANES, np.uint64)
        marks = np.zeros(max(len(kernel.marks), 1), np.uint64)
        hits = np.zeros(max(len(kernel.sites), 1), np.uint32)
        states, stacks = warps * WARP_BYTES, warps * LANES * kernel.stack
        mirror = states + stacks if self._uses else 0
        state = np.zeros(states + stacks + mirror, np.uint8)
        used = self._uses.begin(kernel) if self._uses else np.zeros(1, np.uint64)
        word = POISON[self._pattern]
        began = self._pattern * _LATER
        counts = np.zeros(warps * len(kernel.blocks) * (LANES + 2), np.uint32)
        launch = Launch(
            params=store.params,
            globals=store.globals,
            shared_size=total,
            trace=addresses.ctypes.data,
            marks=marks.ctypes.data,
            clock=began,
            ntid=threads,
            nctaid=blocks,
            dynamic_size=dynamic,
            grid_id=self._used.launches + began,
            shared_base=store.shared,
            dynamic_base=align(kernel.shared, kernel.dynamic_align),
            mirror=mirror,
            used=used.ctypes.data,
            noise=(word << 32 | word, word << 32 | word),
            turn=_TURN * self._pattern,
            run=code.code.run,
            code=code.code.blocks.ctypes.data,
            blocks=code.blocks.ctypes.data,
            sites=code.sites.ctypes.data,
            regions=regions.ctypes.data,
            hits=hits.ctypes.data,
            warps=state.ctypes.data,
            stacks=state.ctypes.data + states,
            counts=counts.ctypes.data,
            stack_size=kernel.stack,
            local_base=store.local,
            local_size=kernel.local,
            fuel_limit=self._limits.fuel,
            n_blocks=len(kernel.blocks),
            n_regions=len(regions),
            n_sites=len(kernel.sites),
            waits=kernel.waits,
            order=self._order,
            seed=self._seed,
            poison=self._pattern,
            shadowed=store.shadowed,
            record=trace.address if trace else 0,
            hazards=self._watch.address if self._watch else 0,
            said=self._said.ctypes.data if self._hear else 0,
            said_room=self._said.size,
        )
        if isinstance(kernel, MachineKernel):
            assert isinstance(self._program, MachineProgram)
            banks = self._program.bank_addresses(kernel, store.params, store.globals)
            launch.banks = (ctypes.c_uint64 * 8)(*banks)
            launch.machine, launch.local_window = 1, store.local_window
        launch_function()(ctypes.byref(launch))
        if self._hear:
            for stream, words in pieces(self._said, launch.said_size):
                self._hear(stream, words)
        self._account(kernel, launch, marks)
        if self._watch:
            self._watch.collect(kernel, self._program.files)
        if self._uses:
            self._uses.collect(kernel, self._program.files, used, store)
        if launch.stop:
            raise self._stopped(kernel, launch)
        if self._clock:
            self._clock.end(launch.clock - began)

    def _account(self, kernel: Kernel | MachineKernel, launch: Launch, marks: Array) -> None:
        # The price of a run, first form: warp instructions issued and sectors moved.
        self._used.time += float(launch.instructions + launch.sectors)
        self._used.fuel = max(self._used.fuel, int(launch.fuel))
        for name, times in zip(kernel.marks, marks.tolist(), strict=False):
            self._marks[name] = self._marks.get(name, 0) + times
        if kernel.marks:  # how it was launched is worth knowing, too
            for axis, size in zip("xyz", launch.ntid, strict=False):
                name = f"{kernel.name} ntid.{axis}={size}"
                self._marks[name] = self._marks.get(name, 0) + 1

    def _stopped(self, kernel: Kernel | MachineKernel, launch: Launch) -> Stopped:
        verdict, words = STOPS[launch.stop]
        line = kernel.blocks[launch.bad_block].line if launch.bad_block >= 0 else 0
        spot, misaligned = "", False
        if launch.bad_site >= 0:
            site = kernel.sites[launch.bad_site]
            where = self._memory.describe(launch.bad_address, site.size)
            words, line = f"{site.kind} of {site.size} bytes {where}", site.line
            spot = spot_of(site.kind, site.code, self._program.files).place
            misaligned = launch.bad_address % site.size != 0
        place = f" (source line {line})" if line else ""
        text = f"{names.demangle(kernel.name)}: {words}{place}"
        return LaunchStopped(verdict, text, launch.stop, words, spot, misaligned=misaligned)

    def usage(self, *, timed: bool = True) -> Usage:
        used = self._used
        time, estimate, gaps = used.time, 0.0, 0.0
        if self._clock:
            gaps = self._clock.gap * max(used.launches - 1, 0)
            time, estimate = (self._clock.time, self._clock.estimate) if timed else (0.0, 0.0)
        return Usage(
            time=time,
            estimate=estimate,
            fuel=used.fuel,
            launches=used.launches,
            gaps=gaps,
            work=self._clock.work if self._clock and timed else (),
            memory=self._memory.most,
            kernels=tuple(self._launched),
            changed=self._memory.changed(),
            marks=dict(self._marks),
            hazards=self._hazards(),
            doubts=("values",) if self._watch and self._watch.unwritten else (),
        )

    def _hazards(self) -> tuple[Hazard, ...]:
        if self._uses:
            return (*self._uses.hazards, *self._uses.by_host(self._memory.unwritten))
        return tuple(self._watch.hazards) if self._watch else ()

    @property
    def timings(self) -> tuple[Timing, ...]:
        """The cycles of each launch and where they went, if the device is a named GPU."""
        return tuple(self._clock.timings) if self._clock else ()

    def close(self) -> None:
        self._memory.close()
        if self._clock:
            self._clock.close()
        if self._watch:
            self._watch.close()


def _check_limits(name: str, kernel: Kernel | MachineKernel, threads: tuple[int, int, int]) -> None:
    count = threads[0] * threads[1] * threads[2]
    if count > arguments.MAX_THREADS:
        raise LaunchError(
            f"{name}: a block of {count} threads; the most is {arguments.MAX_THREADS}"
        )
    most = kernel.limits.get("maxntid")
    if most and count > int(np.prod(most)):
        raise LaunchError(f"{name}: a block of {count} threads; it was built for {np.prod(most)}")
    exactly = kernel.limits.get("reqntid")
    if exactly and (*exactly, 1, 1)[:3] != threads:
        raise LaunchError(f"{name}: a block of {threads}; it was built for exactly {exactly}")
