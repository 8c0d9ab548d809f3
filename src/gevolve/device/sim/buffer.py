"""Buffers and module variables of one open artefact, and what kernels did to them."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from gevolve.device.base import Array, Limits, Shape, Stopped
from gevolve.device.buffer import DeviceBuffer
from gevolve.device.sim import arguments, memory
from gevolve.device.sim.machine.program import MachineProgram
from gevolve.device.sim.memory import Slot, poison, shadow, view
from gevolve.device.sim.program import Program
from gevolve.errors import LaunchError
from gevolve.ir.llvm import names

REGION = np.dtype([("low", "<u8"), ("high", "<u8"), ("space", "<i4"), ("index", "<i4")])
"""`struct region` of the runtime."""
_GLOBAL, _SHARED, _LOCAL, _CONSTANT, _PARAM = range(5)
_PARAM_ROOM = 64 << 10
"""A constant bank: parameters, and what else a launch tells machine code there."""


class SimBuffer(DeviceBuffer):
    """An array in simulated device memory."""

    def __init__(
        self, owner: "Memory", mapping: int, ptr: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self._owner = owner
        self._mapping = mapping
        super().__init__(ptr, shape, dtype)
        self._written: bytes | None = None
        """What host code wrote last, for buffers that were uploaded."""

    def _view(self) -> Array:
        if self._owner.closed:
            raise LaunchError("the buffer's device is closed; open it again")
        if not self._ptr:
            raise LaunchError("the buffer was freed; do not use it again")
        return view(self._ptr, self.nbytes)

    def get(self) -> Array:
        self._owner.read_by_host(self)
        return self._view().view(self._dtype).reshape(self._shape).copy()

    def set(self, data: npt.ArrayLike) -> None:
        array = np.ascontiguousarray(data, self._dtype)
        if array.shape != self._shape:
            raise LaunchError(f"set: the data has shape {array.shape}, the buffer {self._shape}")
        self._write(np.frombuffer(array.tobytes(), np.uint8))

    def fill(self, value: float) -> None:
        self._write(np.full(self.size, value, self._dtype).view(np.uint8))

    def _write(self, data: Array) -> None:
        target = self._view()
        with self._owner.writable(self._ptr):
            target[:] = data
        self._owner.written_by_host(self._ptr, self.nbytes)
        if self._written is not None:
            self._written = data.tobytes()

    def upload(self, data: bytes) -> None:
        """Fill a fresh buffer and remember what it held, to tell later whether a kernel changed it."""
        self._written = data
        self._write(np.frombuffer(data, np.uint8))

    def changed(self) -> bool:
        """Whether the buffer differs from what host code wrote to it last."""
        return self._written is not None and self._view().tobytes() != self._written

    def free(self) -> None:
        if not self._mapping:
            raise LaunchError("only buffers that were allocated can be freed, once")
        self._owner.freed(self, self._mapping)
        self._mapping = self._ptr = 0


class Memory:
    """All device memory that an open artefact and its host code use."""

    def __init__(
        self,
        program: Program | MachineProgram,
        limits: Limits,
        pattern: int,
        *,
        scattered: bool = False,
        shadowed: bool = False,
        slot: Slot | None = None,
        place: int = 0,
    ) -> None:
        """With a `slot`, this is one of several modules there, its variables at `place` among theirs."""
        self.closed = False
        self.most = 0
        """The most bytes of buffers alive at once."""
        self.written: list[tuple[int, int]] = []
        """What host code wrote since the last launch: (first address, first address after)."""
        self._program = program
        self._limit = limits.memory
        self._pattern = pattern
        self._slot = slot or Slot(scattered=scattered, shadowed=shadowed)
        self._own_slot = slot is None
        self.unwritten: dict[str, int] = {}
        """How many bytes that nothing has written host code has read, by the buffer's name."""
        self._bytes = 0
        self._uploads: list[SimBuffer] = []
        self._changed_and_freed: set[int] = set()
        self.params = self._slot.base + memory.PARAMS
        self.shared = self._slot.base + memory.SHARED
        self.local = self._slot.base + memory.LOCAL
        self.local_window = self._slot.base + memory.LOCAL_WINDOW
        self.globals = self._slot.base + memory.VARIABLES + place
        self.others: tuple[Memory, ...] = ()
        """The other modules in the same slot, whose variables kernels may touch too."""
        self.end = self.globals + program.size
        if not self._slot.has(self.params):
            self._slot.map(self.params, _PARAM_ROOM, "parameters")
        if program.size:
            self._slot.map(self.globals, program.size, "module variables")
            content = np.frombuffer(program.image(self.globals), np.uint8)
            view(self.globals, program.size)[:] = content
            self._protect_constants(writable=False)

    @property
    def shadowed(self) -> bool:
        """Whether it has a shadow, which says what was written."""
        return self._slot.shadowed

    def array(self, data: npt.ArrayLike) -> SimBuffer:
        array = np.ascontiguousarray(data).reshape(np.shape(data))
        buffer = self._allocate(array.shape, array.dtype)
        buffer.upload(array.tobytes())
        self._uploads.append(buffer)
        return buffer

    def empty(self, shape: Shape, dtype: npt.DTypeLike) -> SimBuffer:
        buffer = self._allocate(_shape(shape), np.dtype(dtype))
        poison(buffer.ptr, buffer.nbytes, self._pattern)
        if self._slot.shadowed:
            shadow(buffer.ptr, buffer.nbytes)[:] = 0xFF
        return buffer

    def zeros(self, shape: Shape, dtype: npt.DTypeLike) -> SimBuffer:
        buffer = self._allocate(_shape(shape), np.dtype(dtype))
        self.written_by_host(buffer.ptr, buffer.nbytes)
        return buffer

    def symbol(self, name: str, dtype: npt.DTypeLike) -> SimBuffer:
        program = self._program
        found = arguments.lookup("variable", name, program.variables)
        variable, kind = program.variables[found], np.dtype(dtype)
        if variable.size % kind.itemsize:
            raise LaunchError(f"variable {name} has {variable.size} bytes: not whole {kind} values")
        shape = (variable.size // kind.itemsize,)
        return SimBuffer(self, 0, self.globals + program.places[found], shape, kind)

    def _allocate(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SimBuffer:
        if self.closed:
            raise LaunchError("the device is closed; open it again")
        if dtype.hasobject:
            raise LaunchError(f"a buffer cannot hold {dtype}; use numbers")
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if self._bytes + size > self._limit:
            raise Stopped("memory", f"buffers of {self._bytes + size} bytes are over the limit")
        mapping, address = self._slot.allocate(size)
        self._bytes += size
        self.most = max(self.most, self._bytes)
        return SimBuffer(self, mapping, address, shape, dtype)

    def written_by_host(self, address: int, size: int) -> None:
        """Host code has written to a buffer."""
        self.written.append((address, address + size))
        if self._slot.shadowed:
            shadow(address, size)[:] = 0

    def read_by_host(self, buffer: SimBuffer) -> None:
        """Host code reads a buffer: it uses what is there."""
        if self._slot.shadowed and buffer.ptr and not self.closed:
            count = int(np.count_nonzero(shadow(buffer.ptr, buffer.nbytes)))
            if count:
                name = self.name(buffer.ptr)
                self.unwritten[name] = max(self.unwritten.get(name, 0), count)

    def freed(self, buffer: SimBuffer, mapping: int) -> None:
        """Take back a buffer's memory, remembering whether kernels had changed it."""
        if buffer in self._uploads and buffer.changed():
            self._changed_and_freed.add(self._uploads.index(buffer))
        self._slot.release(mapping, buffer.ptr, buffer.nbytes)
        self._bytes -= buffer.nbytes

    def changed(self) -> tuple[int, ...]:
        """The uploads, by number, that differ from what host code wrote to them last."""
        now = {n for n, b in enumerate(self._uploads) if b.ptr and b.changed()}
        return tuple(sorted(now | self._changed_and_freed))

    @contextmanager
    def writable(self, address: int) -> Generator[None]:
        """Let the host write at an address, even to constants, which kernels may only read."""
        start, end = self._program.constants, self._program.size
        if not self.globals + start <= address < self.globals + end:
            yield
            return
        self._protect_constants(writable=True)
        yield
        self._protect_constants(writable=False)

    def _protect_constants(self, *, writable: bool) -> None:
        start, end = self._program.constants, self._program.size
        if end > start:
            self._slot.protect(self.globals + start, end - start, writable=writable)

    def stage(self, params: bytes, shared: int, local: int) -> Array:
        """Make ready for a launch: its parameters and windows; the regions that it may touch."""
        self._slot.protect(self.params, _PARAM_ROOM, writable=True)
        view(self.params, len(params))[:] = np.frombuffer(params, np.uint8)
        self._slot.protect(self.params, _PARAM_ROOM, writable=False)
        self._widen(memory.SHARED, shared, "shared memory")
        self._widen(memory.LOCAL, local, "local memory")
        rows = [
            (self.params, self.params + len(params), _PARAM, 0),
            (self.local, self.local + local, _LOCAL, 0),
            (self.shared, self.shared + shared, _SHARED, 0),
        ]
        for module in sorted((self, *self.others), key=lambda one: one.globals):
            rows += module.variable_regions()
        rows += [(low, high, _GLOBAL, i) for i, (low, high) in enumerate(self._slot.buffers)]
        return np.array(rows, REGION)

    def variable_regions(self) -> list[tuple[int, int, int, int]]:
        """Where the module's variables and constants are, in order."""
        found: list[tuple[int, int, int, int]] = []
        for place, size, constant in self._program.regions:
            start = self.globals + place
            found.append((start, start + size, _CONSTANT if constant else _GLOBAL, 0))
        return found

    def _widen(self, window: int, size: int, what: str) -> None:
        if size <= self._slot.windows[window]:
            return
        if self._slot.windows[window]:
            self._slot.unmap(self._slot.base + window)
        self._slot.map(self._slot.base + window, size, what)
        self._slot.windows[window] = size

    def describe(self, address: int, size: int) -> str:
        """Where an access that went wrong lies, for people."""
        if address % size:
            return f"at {address:#x}, which is not a multiple of {size}"
        constants = self.globals + self._program.constants
        if self.params <= address < self.local or constants <= address < self.end:
            return f"at {address:#x}, in memory that kernels only read, or beyond it"
        for number, (low, high) in enumerate(self._slot.buffers):
            if low <= address < high:
                return f"over the end of buffer {number}"
            if high <= address + size <= high + memory.PAGE:
                return f"{address - high} bytes after the end of buffer {number}"
            if low - memory.PAGE <= address < low:
                return f"{low - address} bytes before buffer {number}"
        return f"at {address:#x}, which is in no buffer"

    def name(self, address: int) -> str:
        """What lies at an address, for people."""
        if self.shared <= address < self.shared + self._slot.windows[memory.SHARED]:
            return "shared memory"
        if self.local <= address < self.local + self._slot.windows[memory.LOCAL]:
            return "local memory"
        for name, place in self._program.places.items():
            start = self.globals + place
            if start <= address < start + self._program.variables[name].size:
                return f"variable {names.demangle(name)}"
        found = (n for n, (low, high) in enumerate(self._slot.buffers) if low <= address < high)
        return f"buffer {next(found, '?')}"

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            if self._own_slot:
                self._slot.close()
            elif self._program.size:
                self._slot.unmap(self.globals)


def _shape(shape: Shape) -> tuple[int, ...]:
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    return tuple(int(size) for size in shape)
