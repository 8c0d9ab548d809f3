"""The simulated GPU that a workload's host code sees: buffers, symbols, launches, what they used."""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from gevo.device import Array, Limits, Shape, Stopped, Usage
from gevo.device.sim import arguments, memory
from gevo.device.sim.launch import STOPS, Launch, launch_function
from gevo.device.sim.memory import Slot, poison, view
from gevo.device.sim.program import Compiled, Program
from gevo.device.sim.translate import Kernel
from gevo.device.sim.translate.callgraph import align
from gevo.errors import LaunchError

REGION = np.dtype([("low", "<u8"), ("high", "<u8"), ("space", "<i4"), ("index", "<i4")])
_GLOBAL, _SHARED, _LOCAL, _CONSTANT, _PARAM = range(5)
WARP_BYTES = 4096
"""Room for one `struct warp`."""


class SimBuffer:
    """An array in simulated device memory."""

    def __init__(
        self, gpu: "SimGpu", mapping: int, ptr: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self._gpu = gpu
        self._mapping = mapping
        self._ptr = ptr
        self._shape = shape
        self._dtype = dtype
        self._written: bytes | None = None
        """What host code wrote last, for buffers that were uploaded."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    @property
    def size(self) -> int:
        return int(np.prod(self._shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.size * self._dtype.itemsize

    @property
    def ptr(self) -> int:
        return self._ptr

    def _view(self) -> Array:
        if self._gpu.closed:
            raise LaunchError("the buffer's device is closed; open it again")
        if not self._ptr:
            raise LaunchError("the buffer was freed; do not use it again")
        return view(self._ptr, self.nbytes)

    def get(self) -> Array:
        return self._view().view(self._dtype).reshape(self._shape).copy()

    def set(self, data: npt.ArrayLike) -> None:
        array = np.ascontiguousarray(data, self._dtype)
        if array.shape != self._shape:
            raise LaunchError(f"set: the data has shape {array.shape}, the buffer {self._shape}")
        with self._gpu.writing(self):
            self._view()[:] = np.frombuffer(array.tobytes(), np.uint8)
        self._remember()

    def fill(self, value: float) -> None:
        with self._gpu.writing(self):
            self._view().view(self._dtype)[:] = value
        self._remember()

    def _remember(self) -> None:
        if self._written is not None:
            self._written = self._view().tobytes()

    def upload(self, data: bytes) -> None:
        """Fill a fresh buffer and remember what it held, to tell later whether a kernel changed it."""
        self._view()[:] = np.frombuffer(data, np.uint8)
        self._written = data

    def changed(self) -> bool:
        """Whether the buffer differs from what host code wrote to it last."""
        return self._written is not None and self._view().tobytes() != self._written

    def free(self) -> None:
        if not self._mapping:
            raise LaunchError("only buffers that were allocated can be freed, once")
        self._gpu.freed(self, self._mapping)
        self._mapping = self._ptr = 0


class SimGpu:
    """One artefact, open on the simulator."""

    def __init__(
        self, program: Program, limits: Limits, pattern: int, order: int, seed: int
    ) -> None:
        self.closed = False
        self._program = program
        self._limits = limits
        self._pattern = pattern
        self._order, self._seed = order, seed
        self._slot = Slot()
        self._uploads: list[SimBuffer] = []
        self._changed_and_freed: set[int] = set()
        self._used = Usage()
        self._launched: dict[str, None] = {}
        self._marks: dict[str, int] = {}
        self._bytes = 0
        self._shared_mapped = self._local_mapped = 0
        self._slot.map(self._slot.base + memory.PARAMS, memory.PAGE, "parameters")
        self._globals = self._slot.base + memory.VARIABLES
        if program.size:
            self._slot.map(self._globals, program.size, "module variables")
            view(self._globals, program.size)[:] = np.frombuffer(
                program.image(self._globals), np.uint8
            )
            self._guard_constants(writable=False)

    # --- memory

    def array(self, data: npt.ArrayLike) -> SimBuffer:
        array = np.ascontiguousarray(data)
        array = array.reshape(np.shape(data))
        buffer = self._allocate(array.shape, array.dtype)
        buffer.upload(array.tobytes())
        self._uploads.append(buffer)
        return buffer

    def empty(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> SimBuffer:
        buffer = self._allocate(_shape(shape), np.dtype(dtype))
        poison(buffer.ptr, buffer.nbytes, self._pattern)
        return buffer

    def zeros(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> SimBuffer:
        return self._allocate(_shape(shape), np.dtype(dtype))

    def symbol(self, name: str, dtype: npt.DTypeLike = np.uint8) -> SimBuffer:
        program = self._program
        found = arguments.lookup("variable", name, program.variables)
        variable, kind = program.variables[found], np.dtype(dtype)
        if variable.size % kind.itemsize:
            raise LaunchError(f"variable {name} has {variable.size} bytes: not whole {kind} values")
        shape = (variable.size // kind.itemsize,)
        return SimBuffer(self, 0, self._globals + program.places[found], shape, kind)

    def _allocate(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SimBuffer:
        if self.closed:
            raise LaunchError("the device is closed; open it again")
        if dtype.hasobject:
            raise LaunchError(f"a buffer cannot hold {dtype}; use numbers")
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if self._bytes + size > self._limits.memory:
            raise Stopped("memory", f"buffers of {self._bytes + size} bytes are over the limit")
        mapping, address = self._slot.allocate(size)
        self._bytes += size
        self._used.memory = max(self._used.memory, self._bytes)
        return SimBuffer(self, mapping, address, shape, dtype)

    def freed(self, buffer: SimBuffer, mapping: int) -> None:
        """Take back a buffer's memory, remembering whether kernels had changed it."""
        if buffer in self._uploads and buffer.changed():
            self._changed_and_freed.add(self._uploads.index(buffer))
        self._slot.release(mapping, buffer.ptr, buffer.nbytes)
        self._bytes -= buffer.nbytes

    def writing(self, buffer: SimBuffer) -> "_Writing":
        """Let host code write to a buffer that kernels may only read."""
        return _Writing(self, buffer)

    def is_constant(self, address: int) -> bool:
        start = self._globals + self._program.constants
        return start <= address < self._globals + self._program.size

    def _guard_constants(self, *, writable: bool) -> None:
        program = self._program
        if program.size > program.constants:
            start = self._globals + program.constants
            self._slot.protect(start, program.size - program.constants, writable=writable)

    guard_constants = _guard_constants

    # --- launches

    def launch(self, kernel: str, grid: Shape, block: Shape, *args: Any, shared: int = 0) -> None:
        if self.closed:
            raise LaunchError("the device is closed; open it again")
        name = arguments.lookup("kernel", kernel, self._program.kernels)
        found = self._program.kernels[name]
        blocks = arguments.shape3(f"{kernel}: grid", grid, arguments.MAX_GRID)
        threads = arguments.shape3(f"{kernel}: block", block, arguments.MAX_BLOCK)
        _check_limits(kernel, found, threads)
        total = align(found.shared, found.dynamic_align) + shared if shared else found.shared
        if shared < 0 or total > arguments.MAX_SHARED:
            raise LaunchError(
                f"{kernel} asks for {total} bytes of shared memory; the most is {arguments.MAX_SHARED}"
            )
        params = arguments.encode(kernel, found.params, args)
        if self._used.launches >= self._limits.launches:
            raise Stopped("fuel", f"more than {self._limits.launches} launches")
        self._used.launches += 1
        self._launched[name] = None
        self._run(found, self._program.compiled(name), blocks, threads, params, total, shared)

    def _run(
        self,
        kernel: Kernel,
        code: Compiled,
        blocks: tuple[int, int, int],
        threads: tuple[int, int, int],
        params: bytes,
        total: int,
        dynamic: int,
    ) -> None:
        count = threads[0] * threads[1] * threads[2]
        warps = -(-count // 32) if kernel.waits else 1
        base = self._slot.base
        self._reserve(total, warps * 32 * kernel.local)
        at = base + memory.PARAMS
        self._slot.protect(at, memory.PAGE, writable=True)
        view(at, len(params))[:] = np.frombuffer(params, np.uint8)
        self._slot.protect(at, memory.PAGE, writable=False)
        regions = self._regions(len(params), total, warps * 32 * kernel.local)
        n_blocks, n_sites = len(kernel.blocks), max(len(kernel.sites), 1)
        deepest = max((b.sites for b in kernel.blocks), default=0)
        trace = np.zeros((deepest + 1) * 32, np.uint64)
        marks = np.zeros(max(len(kernel.marks), 1), np.uint64)
        hits = np.zeros(n_sites, np.uint32)
        warp_memory = np.zeros(warps * WARP_BYTES, np.uint8)
        stacks = np.zeros(warps * 32 * kernel.stack, np.uint8)
        counts = np.zeros(warps * n_blocks * 34, np.uint32)
        launch = Launch(
            params=at,
            globals=self._globals,
            shared_size=total,
            trace=trace.ctypes.data,
            marks=marks.ctypes.data,
            clock=0,
            ntid=threads,
            nctaid=blocks,
            dynamic_size=dynamic,
            grid_id=self._used.launches,
            shared_base=base + memory.SHARED,
            dynamic_base=align(kernel.shared, kernel.dynamic_align),
            run=code.address,
            blocks=code.blocks.ctypes.data,
            sites=code.sites.ctypes.data,
            regions=regions.ctypes.data,
            hits=hits.ctypes.data,
            warps=warp_memory.ctypes.data,
            stacks=stacks.ctypes.data,
            counts=counts.ctypes.data,
            stack_size=kernel.stack,
            local_base=base + memory.LOCAL,
            local_size=kernel.local,
            fuel_limit=self._limits.fuel,
            n_blocks=n_blocks,
            n_regions=len(regions),
            n_sites=n_sites,
            entry=0,
            waits=kernel.waits,
            order=self._order,
            seed=self._seed,
            poison=self._pattern,
        )
        launch_function()(ctypes.byref(launch))
        self._account(kernel, launch, marks)
        if launch.stop:
            raise self._stopped(kernel, launch)

    def _reserve(self, shared: int, local: int) -> None:
        """Grow the windows of shared and local memory to what a launch needs."""
        base = self._slot.base
        if shared > self._shared_mapped:
            if self._shared_mapped:
                self._slot.unmap(base + memory.SHARED)
            self._slot.map(base + memory.SHARED, shared, "shared memory")
            self._shared_mapped = shared
        if local > self._local_mapped:
            if self._local_mapped:
                self._slot.unmap(base + memory.LOCAL)
            self._slot.map(base + memory.LOCAL, local, "local memory")
            self._local_mapped = local

    def _regions(self, params: int, shared: int, local: int) -> Array:
        base, program = self._slot.base, self._program
        rows = [
            (base + memory.PARAMS, base + memory.PARAMS + params, _PARAM, 0),
            (base + memory.SHARED, base + memory.SHARED + shared, _SHARED, 0),
            (base + memory.LOCAL, base + memory.LOCAL + local, _LOCAL, 0),
        ]
        for name, place in program.places.items():
            start = self._globals + place
            space = _CONSTANT if place >= program.constants else _GLOBAL
            rows.append((start, start + program.variables[name].size, space, 0))
        rows += [(low, high, _GLOBAL, i) for i, (low, high) in enumerate(self._slot.buffers)]
        return np.array(rows, REGION)

    def _account(self, kernel: Kernel, launch: Launch, marks: Array) -> None:
        # The price of a run, first form: warp instructions issued and sectors moved.
        self._used.time += float(launch.instructions + launch.sectors)
        self._used.fuel = max(self._used.fuel, int(launch.fuel))
        for name, times in zip(kernel.marks, marks.tolist(), strict=False):
            self._marks[name] = self._marks.get(name, 0) + times

    def _stopped(self, kernel: Kernel, launch: Launch) -> Stopped:
        verdict, words = STOPS[launch.stop]
        line = kernel.blocks[launch.bad_block].line if launch.bad_block >= 0 else 0
        if launch.bad_site >= 0:
            site = kernel.sites[launch.bad_site]
            line = site.line
            words = (
                f"{site.kind} of {site.size} bytes {self._describe(launch.bad_address, site.size)}"
            )
        place = f" (source line {line})" if line else ""
        return Stopped(verdict, f"{arguments.demangle(kernel.name)}: {words}{place}")

    def _describe(self, address: int, size: int) -> str:
        """Where an address lies, for people."""
        if address % size:
            return f"at {address:#x}, which is not a multiple of {size}"
        for number, (low, high) in enumerate(self._slot.buffers):
            if high <= address + size <= high + memory.PAGE:
                return f"{address - high} bytes after the end of buffer {number}"
            if low - memory.PAGE <= address < low:
                return f"{low - address} bytes before buffer {number}"
        return f"at {address:#x}, which is in no buffer"

    # --- afterwards

    def usage(self) -> Usage:
        used = self._used
        changed = {
            number for number, buffer in enumerate(self._uploads) if buffer.ptr and buffer.changed()
        }
        return Usage(
            used.time,
            used.fuel,
            used.launches,
            used.memory,
            tuple(self._launched),
            tuple(sorted(changed | self._changed_and_freed)),
            dict(self._marks),
        )

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._slot.close()


class _Writing:
    """Makes constant memory writable for the host while it writes."""

    def __init__(self, gpu: SimGpu, buffer: SimBuffer) -> None:
        self.gpu = gpu
        self.needed = gpu.is_constant(buffer.ptr)

    def __enter__(self) -> None:
        if self.needed:
            self.gpu.guard_constants(writable=True)

    def __exit__(self, *_: object) -> None:
        if self.needed:
            self.gpu.guard_constants(writable=False)


def _shape(shape: Shape) -> tuple[int, ...]:
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    return tuple(int(size) for size in shape)


def _check_limits(name: str, kernel: Kernel, threads: tuple[int, int, int]) -> None:
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
