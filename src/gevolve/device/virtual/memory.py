"""Memory of the virtual GPU: a file that the program maps too, cut into allocations with gaps between.

What only the GPU may use is poisoned, and its shadow says that nothing has written it; what the host may
write at any moment, without a call, counts as written.
"""

import os
import re
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gevolve.device.base import Array, Stopped
from gevolve.device.sim.buffer import Memory
from gevolve.device.sim.memory import PAGE, SLOT, Slot, pages, poison, shadow, view
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.wire import Program

Kind = Literal["device", "host", "managed", "registered"]
_SPARE = 1 << 30
"""Bytes that are left to the rest of the machine."""


_GRAIN = 256
"""What a card's allocations are multiples of; with a sanitizer, whoever reads beyond what was asked for is told."""


class Allocation(NamedTuple):
    """A piece of memory."""

    address: int
    size: int
    mapping: int
    """Where its pages begin."""
    kind: Kind
    host: int
    """What the program calls it; 0 if it cannot use it."""

    @property
    def end(self) -> int:
        return self.address + self.size


class DeviceMemory:
    """All memory of one program on the GPU."""

    def __init__(self, total: int, *, watched: bool = True) -> None:
        """With `watched`, it has a shadow that says what was written."""
        self.total = total
        self._watched = watched
        self.poisons = watched
        """Whether what nothing has written is poisoned."""
        self.used = 0
        self.file = os.memfd_create("gevolve-gpu")
        os.ftruncate(self.file, SLOT)
        self.slot = Slot(shadowed=watched, file=self.file)
        self.allocations: dict[int, Allocation] = {}
        self.modules: list[Memory] = []
        self.written: list[tuple[int, int]] = []
        """What host code wrote since the last launch: (first address, first address after)."""
        self.unwritten: dict[str, int] = {}
        """How many bytes that nothing has written the host has read, by what they are in."""

    # --- allocations -----------------------------------------------------------------------------

    @property
    def free_bytes(self) -> int:
        """What a program may still have: of the card's memory, and of this machine's."""
        each = 2 if self._watched else 1  # a shadow is as large as what it is of
        return max(min(self.total - self.used, (_available() - _SPARE) // each), 0)

    def allocate(self, size: int, kind: Kind, program: Program) -> Allocation:
        """Memory that the host may use by the same address, unless it is the GPU's alone."""
        if not size:
            raise Fault(Code.INVALID_VALUE)
        if not self._watched:  # a card gives whole grains, and compilers count on it
            size = -(-size // _GRAIN) * _GRAIN
        if size > self.free_bytes:
            raise Fault(Code.OUT_OF_MEMORY)
        try:
            mapping, address = self.slot.allocate(size)
        except Stopped:
            raise Fault(Code.OUT_OF_MEMORY) from None
        host = 0
        if kind == "device":
            if self.poisons:
                poison(address, size, 0)
            if self._watched:
                shadow(address, size)[:] = 0xFF
        elif program.map(mapping, _room(mapping, address, size)):
            host = address
        else:
            self.slot.release(mapping, address, size)
            raise Fault(Code.OUT_OF_MEMORY)
        return self._keep(Allocation(address, size, mapping, kind, host))

    def register(self, host: int, size: int, program: Program) -> Allocation:
        """Let the GPU use memory that the program has allocated itself."""
        if not host or not size:
            raise Fault(Code.INVALID_VALUE)
        if any(one.host < host + size and host < one.host + one.size for one in self._hosted()):
            raise Fault(Code.HOST_MEMORY_ALREADY_REGISTERED)
        first = host & ~(PAGE - 1)
        room = pages(host + size - first)
        mapping, address = self.slot.allocate(room)
        self.slot.buffers.remove((address, address + room))
        if not program.adopt(first, address, room):
            raise Fault(Code.OUT_OF_MEMORY)
        address += host - first
        self.slot.buffers.append((address, address + size))
        self.slot.buffers.sort()
        return self._keep(Allocation(address, size, mapping, "registered", host))

    def _keep(self, one: Allocation) -> Allocation:
        self.allocations[one.address] = one
        self.used += one.size
        return one

    def free(self, one: Allocation, program: Program) -> None:
        room = _room(one.mapping, one.address, one.size)
        if one.kind == "registered":
            program.abandon(one.host & ~(PAGE - 1), room)
        elif one.host:
            program.unmap(one.mapping, room)
        self.slot.release(one.mapping, one.address, one.size)
        del self.allocations[one.address]
        self.used -= one.size

    def by_host(self, host: int) -> Allocation | None:
        """What the program calls by this address, if it begins there."""
        return next((one for one in self._hosted() if one.host == host), None)

    def _hosted(self) -> list[Allocation]:
        return [one for one in self.allocations.values() if one.host]

    def holder(self, address: int, size: int = 1) -> Allocation | None:
        """The allocation that holds these bytes, by an address of the GPU's or of the host's."""
        for one in self.allocations.values():
            if one.address <= address and address + size <= one.end:
                return one
            if one.host and one.host <= address and address + size <= one.host + one.size:
                return one
        return None

    # --- content ---------------------------------------------------------------------------------

    def is_device(self, address: int) -> bool:
        """Whether an address is one of the GPU's."""
        return self.slot.base <= address < self.slot.base + SLOT

    def is_private(self, address: int) -> bool:
        """Whether only the GPU may use what is at an address."""
        held = self.holder(address) if self.is_device(address) else None
        return held.kind == "device" if held else self.is_device(address)

    def check(self, address: int, size: int) -> None:
        """Raise a fault unless these bytes are all in one piece of memory, or in a module's variables."""
        if size and self.holder(address, size) is None and self._variable(address, size) is None:
            raise Fault(Code.INVALID_VALUE)

    def copy(self, to: int, source: int, size: int, program: Program) -> None:
        """Copy bytes from anywhere to anywhere."""
        inside, outside = self.is_device(to), self.is_device(source)
        for address, device in ((to, inside), (source, outside)):
            if device:
                self.check(address, size)
            elif not address and size:
                raise Fault(Code.INVALID_VALUE)
        if not size:
            return
        if inside and outside:
            unset = shadow(source, size).copy() if self._watched else 0
            program.copy(to, source, size)
            self._note(to, size, unset)
            return
        program.copy(to, source, size)
        if inside:
            self._note(to, size)
        elif outside:
            self._read_by_host(source, size)

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Repeat a pattern."""
        if address % len(pattern):
            raise Fault(Code.INVALID_VALUE)
        size = count * len(pattern)
        held = self.holder(address, size) if size else None
        address = (
            held.address + address - held.host if held and not self.is_device(address) else address
        )
        self.check(address, size)
        if not size:
            return
        variables = self._variable(address, size)
        if variables is not None:
            with variables.writable(address):
                _repeat(view(address, size), pattern)
        else:
            _repeat(view(address, size), pattern)
        self._note(address, size)

    def _note(self, address: int, size: int, unset: Any = 0) -> None:
        if self._watched:
            self.written.append((address, address + size))
            shadow(address, size)[:] = unset

    def _read_by_host(self, address: int, size: int) -> None:
        count = int((shadow(address, size) != 0).sum()) if self._watched else 0
        if count:
            numbers = (
                n for n, (low, high) in enumerate(self.slot.buffers) if low <= address < high
            )
            name = f"buffer {next(numbers, '?')}"
            self.unwritten[name] = max(self.unwritten.get(name, 0), count)

    def _variable(self, address: int, size: int) -> Memory | None:
        for module in self.modules:
            if module.globals <= address and address + size <= module.end:
                return module
        return None

    def close(self) -> None:
        self.slot.close()
        os.close(self.file)


def _room(mapping: int, address: int, size: int) -> int:
    return pages(address + size - mapping)


def _repeat(memory: Array, pattern: bytes) -> None:
    memory.view({1: "<u1", 2: "<u2", 4: "<u4"}[len(pattern)])[:] = int.from_bytes(pattern, "little")


def _available() -> int:
    """Bytes that this machine has left."""
    text = Path("/proc/meminfo").read_text()
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) << 10 if found else os.sysconf("SC_AVPHYS_PAGES") * PAGE
