"""Buffers on the GPU, each between two guard zones, since a GPU has no guard pages.

The zones hold the poison pattern of the run. A kernel that reads beyond a buffer reads poison; writes
to the zones are detected at the end of the run.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gevolve.device.base import Array, Limits, Shape, Stopped
from gevolve.device.buffer import DeviceBuffer
from gevolve.device.cuda.driver import Driver
from gevolve.device.sim.memory import ALIGN, POISON
from gevolve.errors import LaunchError

ZONE = 4096
"""The size of the guard zone on each side of a buffer, in bytes."""


class CudaBuffer(DeviceBuffer):
    """An array in a GPU's memory."""

    def __init__(
        self,
        owner: "CudaMemory",
        ptr: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        block: Any,
    ) -> None:
        self._owner = owner
        super().__init__(ptr, shape, dtype)
        self.block = block
        """The allocation, with its guard zones; None for a module variable or a freed buffer."""
        self.written: bytes | None = None
        """The last bytes that host code wrote, if the buffer was uploaded."""

    def get(self) -> Array:
        self._usable()
        data = self._owner.read(self._ptr, self.nbytes)
        return data.view(self._dtype).reshape(self._shape)

    def set(self, data: npt.ArrayLike) -> None:
        array = np.ascontiguousarray(data, self._dtype)
        if array.shape != self._shape:
            raise LaunchError(f"set: the data has shape {array.shape}, the buffer {self._shape}")
        self.write(array.tobytes())

    def fill(self, value: float) -> None:
        self.write(np.full(self.size, value, self._dtype).tobytes())

    def write(self, data: bytes) -> None:
        """Copy bytes from the host, and remember them if this is an upload."""
        self._usable()
        self._owner.write(self._ptr, data)
        if self.written is not None:
            self.written = data

    def changed(self) -> bool:
        """Whether the buffer differs from what host code wrote to it last."""
        return (
            self.written is not None
            and self._owner.read(self._ptr, self.nbytes).tobytes() != self.written
        )

    def free(self) -> None:
        self._usable()
        if self.block is None:
            raise LaunchError("only buffers that were allocated can be freed, once")
        self._owner.free(self)
        self.block, self._ptr = None, 0

    def _usable(self) -> None:
        if self._owner.closed:
            raise LaunchError("the buffer's device is closed; open it again")
        if not self._ptr:
            raise LaunchError("the buffer was freed; do not use it again")


class CudaMemory:
    """All buffers of one open artefact."""

    def __init__(
        self, driver: Driver, limits: Limits, pattern: int, await_launches: Callable[[], None]
    ) -> None:
        self.closed = False
        self.most = 0
        """The peak size of all buffers, in bytes."""
        self._driver = driver
        self._limit = limits.memory
        self._word = POISON[pattern]
        self._await = await_launches
        self._bytes = 0
        self._made = 0
        self._alive: dict[int, CudaBuffer] = {}
        """Buffers by their number, in order of allocation."""
        self._uploads: list[CudaBuffer] = []
        self._changed_and_freed: set[int] = set()

    def array(self, data: npt.ArrayLike) -> CudaBuffer:
        array = np.ascontiguousarray(data).reshape(np.shape(data))
        buffer = self.empty(array.shape, array.dtype)
        buffer.written = b""
        buffer.write(array.tobytes())
        self._uploads.append(buffer)
        return buffer

    def zeros(self, shape: Shape, dtype: npt.DTypeLike) -> CudaBuffer:
        buffer = self.empty(shape, dtype)
        if buffer.nbytes:
            self._driver.call("cuMemsetD8", self._pointer(buffer.ptr), 0, buffer.nbytes)
        return buffer

    def empty(self, shape: Shape, dtype: npt.DTypeLike) -> CudaBuffer:
        """A buffer filled with poison."""
        if self.closed:
            raise LaunchError("the device is closed; open it again")
        sizes, kind = _shape(shape), np.dtype(dtype)
        if kind.hasobject:
            raise LaunchError(f"a buffer cannot hold {kind}; use numbers")
        size = int(np.prod(sizes, dtype=np.int64)) * kind.itemsize
        if self._bytes + size > self._limit:
            raise Stopped("memory", f"buffers of {self._bytes + size} bytes are over the limit")
        padded = _padded_size(size)
        block = self._allocate(padded)
        buffer = CudaBuffer(self, int(block) + ZONE, sizes, kind, block)
        self._alive[self._made] = buffer
        self._made += 1
        self._bytes += size
        self.most = max(self.most, self._bytes)
        self._driver.call("cuMemsetD32", block, self._word, padded // 4)
        return buffer

    def symbol(self, address: int, size: int, name: str, dtype: npt.DTypeLike) -> CudaBuffer:
        """A module variable as a buffer."""
        kind = np.dtype(dtype)
        if size % kind.itemsize:
            raise LaunchError(f"variable {name} has {size} bytes: not whole {kind} values")
        return CudaBuffer(self, address, (size // kind.itemsize,), kind, None)

    def read(self, address: int, size: int) -> Array:
        """Bytes of the GPU's memory, after all launches."""
        self._await()
        data = np.empty(size, np.uint8)
        if size:
            self._driver.call("cuMemcpyDtoH", data.ctypes.data, self._pointer(address), size)
        return data

    def write(self, address: int, data: bytes) -> None:
        """Write to the GPU's memory, after all launches."""
        self._await()
        source = np.frombuffer(data, np.uint8)
        if data:
            place = self._pointer(address)
            self._driver.call("cuMemcpyHtoD", place, source.ctypes.data, len(data))

    def free(self, buffer: CudaBuffer) -> None:
        """Free a buffer, and remember whether kernels had changed it."""
        number = next(n for n, one in self._alive.items() if one is buffer)
        self._check_zones(number, buffer)
        if buffer in self._uploads and buffer.changed():
            self._changed_and_freed.add(self._uploads.index(buffer))
        del self._alive[number]
        self._bytes -= buffer.nbytes
        self._driver.give_back("cuMemFree", buffer.block)

    def check(self) -> None:
        """Raise `Stopped` if a kernel wrote to the zones around a buffer."""
        for number, buffer in self._alive.items():
            self._check_zones(number, buffer)

    def changed(self) -> tuple[int, ...]:
        """The uploads, by number, that differ from what host code wrote to them last."""
        now = {n for n, b in enumerate(self._uploads) if b.ptr and b.changed()}
        return tuple(sorted(now | self._changed_and_freed))

    def close(self) -> None:
        self.closed = True
        while self._alive:
            _, buffer = self._alive.popitem()
            self._driver.give_back("cuMemFree", buffer.block)

    def _allocate(self, padded: int) -> Any:
        try:
            return self._driver.call("cuMemAlloc", padded)
        except Stopped as error:
            if error.verdict != "memory":
                raise
            free, total = self._driver.call("cuMemGetInfo")
            raise Stopped(
                "memory",
                f"a buffer of {padded >> 10} KB, and the GPU has {int(free) >> 20} of"
                f" {int(total) >> 20} MB free; make the cases smaller, or end what else uses it",
            ) from error

    def _check_zones(self, number: int, buffer: CudaBuffer) -> None:
        start, after = buffer.ptr - ZONE, buffer.ptr + buffer.nbytes
        end = start + _padded_size(buffer.nbytes)
        before, behind = self.read(start, ZONE), self.read(after, end - after)
        poison = np.resize(np.array([self._word], "<u4").view(np.uint8), end - start)
        broken = np.flatnonzero(before != poison[:ZONE])
        if broken.size:
            distance = ZONE - int(broken[-1])
            raise Stopped("crash", f"a write {distance} bytes before buffer {number}")
        broken = np.flatnonzero(behind != poison[after - start :])
        if broken.size:
            raise Stopped(
                "crash", f"a write {int(broken[0])} bytes after the end of buffer {number}"
            )

    def _pointer(self, address: int) -> Any:
        return self._driver.api.CUdeviceptr(address)


def _padded_size(size: int) -> int:
    """The size of an allocation for a buffer and its guard zones, in bytes."""
    return 2 * ZONE + -(-size // ALIGN) * ALIGN


def _shape(shape: Shape) -> tuple[int, ...]:
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    return tuple(int(size) for size in shape)
