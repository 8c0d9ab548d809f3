"""Device memory: mappings at fixed addresses, each with unmapped pages on both sides.

Every open `Gpu` has a slot of the address range that `layout` reserves, so the same sequence of
allocations gives the same addresses in any process, and even what a wild variant reads repeats.
"""

import ctypes
import mmap
from bisect import insort
from random import Random
from typing import Any

import numpy as np

from gevolve.device.base import Array, Stopped
from gevolve.device.sim import layout
from gevolve.errors import DeviceError

PAGE = mmap.PAGESIZE
ALIGN = 256
"""Buffers start on multiples of this, as those of cudaMalloc do."""
POISON = (0x7FFBADAD, 0, 0xFF7FFFFF, 0x7F7FFFFF)
"""The words that fill memory whose content must not be relied on.

They disagree on what a program might want of it: to be no number, zero, far below or far above all others.
"""

SLOT = 1 << 38
_SLOTS = layout.SPAN // SLOT
PARAMS, LOCAL, SHARED, LOCAL_WINDOW = 1 << 20, 1 << 30, 1 << 34, 1 << 35
VARIABLES, BUFFERS = 1 << 36, 1 << 37
"""Where in a slot each kind of memory begins. Machine code may take the lower half of an address in
shared memory for an offset; in the window for local memory every thread sees its own."""

_FIXED_NOREPLACE = 0x100000
_FAILED = (1 << 64) - 1
_PUNCH = 3
"""FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE: give back what a file held."""
_libc: Any = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_uint64
_libc.mmap.argtypes = [ctypes.c_uint64, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64]
_libc.munmap.argtypes = [ctypes.c_uint64, ctypes.c_size_t]
_libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
_libc.mprotect.argtypes = [ctypes.c_uint64, ctypes.c_size_t, ctypes.c_int]

_slots_in_use: set[int] = set()


def pages(size: int) -> int:
    """Bytes of the whole pages that hold so many bytes, at least one."""
    return max(-(-size // PAGE), 1) * PAGE


class Slot:
    """The memory of one open `Gpu`.

    A kernel that only works where its buffers lie a certain way (so far from each other, say) fails
    when they are `scattered`, as it may on a GPU.
    """

    def __init__(
        self, *, scattered: bool = False, shadowed: bool = False, file: int | None = None
    ) -> None:
        """With `shadowed`, all memory has a shadow: a bit is set there if nothing has written its own.

        With a `file`, memory at `base + n` is what the file holds at n, so that another process sees it.
        """
        slots = reversed(range(_SLOTS)) if scattered else range(_SLOTS)
        free = next((n for n in slots if n not in _slots_in_use), None)
        if free is None:
            raise DeviceError(f"{_SLOTS} sim devices are open in this process; close one")
        self._number = free
        _slots_in_use.add(free)
        self.base = layout.BASE + free * SLOT
        self.shadowed = shadowed
        self._file = file
        self._mapped: dict[int, int] = {}
        self.windows = {SHARED: 0, LOCAL: 0}
        """Bytes that the windows for shared and local memory have."""
        self._next = self.base + BUFFERS
        self._random = Random(1) if scattered else None  # noqa: S311  (no secret)
        self.buffers: list[tuple[int, int]] = []
        """(first address, first address after) of every live buffer, in order."""

    def map(self, address: int, size: int, what: str) -> None:
        """Map fresh zeroed pages at an address; `Stopped` if the system has no memory for it."""
        self._map(address, size, what, self._file)
        if self.shadowed:
            self._map(address + layout.SPAN, size, f"the shadow of {what}", None)

    def _map(self, address: int, size: int, what: str, file: int | None) -> None:
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS if file is None else mmap.MAP_SHARED
        rights = mmap.PROT_READ | mmap.PROT_WRITE
        fd, start = (-1, 0) if file is None else (file, address - self.base)
        got = _libc.mmap(address, pages(size), rights, kind | _FIXED_NOREPLACE, fd, start)
        if got == _FAILED:
            raise Stopped("memory", f"the system has no {size} bytes for {what}")
        assert got == address
        self._mapped[address] = pages(size)

    def unmap(self, address: int) -> None:
        if self._file is not None:
            _libc.fallocate(self._file, _PUNCH, address - self.base, self._mapped[address])
        for start in (address, address + layout.SPAN) if self.shadowed else (address,):
            _libc.munmap(start, self._mapped.pop(start))

    def has(self, address: int) -> bool:
        """Whether something was mapped that begins at this address."""
        return address in self._mapped

    def protect(self, address: int, size: int, *, writable: bool) -> None:
        rights = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        _libc.mprotect(address, pages(size), rights)

    def allocate(self, size: int) -> tuple[int, int]:
        """A buffer that ends as close to unmapped memory as alignment lets it: (mapping, address)."""
        whole, gap = -(-size // ALIGN) * ALIGN, PAGE
        if self._random:
            whole += self._random.randrange(PAGE // ALIGN) * ALIGN
            gap = self._random.randrange(2, 64) * PAGE
        room = pages(whole)
        mapping = self._place(gap, room)
        self.map(mapping, room, "a buffer")
        self._next = max(self._next, mapping + room)
        address = mapping + room - whole
        insort(self.buffers, (address, address + size))
        return mapping, address

    def _place(self, gap: int, room: int) -> int:
        """Where so many bytes are free, after a gap: behind all that was ever used, while there is room."""
        end = self.base + SLOT
        if self._next + gap + room + PAGE <= end:
            return self._next + gap
        at = self.base + BUFFERS
        for start in sorted(a for a in self._mapped if at <= a < end):
            if at + gap + room + PAGE <= start:
                break
            at = start + self._mapped[start]
        if at + gap + room + PAGE > end:
            raise Stopped("memory", f"there are no {room} bytes of addresses left in one piece")
        return at + gap

    def release(self, mapping: int, address: int, size: int) -> None:
        self.unmap(mapping)
        self.buffers.remove((address, address + size))

    def close(self) -> None:
        for address, size in self._mapped.items():
            _libc.munmap(address, size)
        self._mapped.clear()
        self.buffers.clear()
        _slots_in_use.discard(self._number)


def view(address: int, size: int) -> Array:
    """Device memory as an array of bytes."""
    if not size:
        return np.empty(0, np.uint8)
    memory: Any = (ctypes.c_ubyte * size).from_address(address)
    return np.frombuffer(memory, np.uint8)


def shadow(address: int, size: int) -> Array:
    """The shadow of device memory that has one."""
    return view(address + layout.SPAN, size)


def poison(address: int, size: int, pattern: int) -> None:
    """Fill memory with one of the poison patterns."""
    word = np.array([POISON[pattern]], "<u4")
    memory, whole = view(address, size), size & ~3
    memory[:whole].view("<u4")[:] = word
    memory[whole:] = word.view(np.uint8)[: size - whole]
