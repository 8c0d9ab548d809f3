"""Source lines of machine code: the DWARF line table that ``-lineinfo`` leaves in a cubin.

The table is a program for a small machine that moves through addresses and lines at once. NVIDIA adds
instructions about inlined calls; these are skipped, so a line is that of the innermost function.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gevolve.device.sim.machine.elf import Elf
from gevolve.errors import UnsupportedError

Line = tuple[str, int]

_SECTION = ".debug_line"
_BYTES = 16
_VERSIONS = (2, 3)
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _CONST_ADD_PC, _FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
_END_SEQUENCE, _SET_ADDRESS = 1, 2


def read(file: Elf) -> dict[str, dict[int, Line]]:
    """For each section of code, the lines that begin at its offsets."""
    data = next((s.data for s in file.sections if s.name == _SECTION), b"")
    homes = {r.offset: r.symbol.section for r in file.relocations if r.section == _SECTION}
    found: dict[str, dict[int, Line]] = {}
    cursor = _Cursor(data)
    while cursor.at < len(data):
        end = cursor.number(4) + cursor.at
        for section, offset, line in _unit(cursor, end, homes):
            found.setdefault(section, {})[offset] = line
        cursor.at = end
    return found


def spread(starts: Mapping[int, Line], count: int) -> list[Line | None]:
    """The line of each of `count` instructions: that of the last start before it."""
    found: list[Line | None] = []
    line: Line | None = None
    for n in range(count):
        line = starts.get(_BYTES * n, line)
        found.append(line)
    return found


@dataclass(slots=True)
class _Cursor:
    """A place in bytes that are read one after the other."""

    data: bytes
    at: int = 0

    def number(self, size: int, *, signed: bool = False) -> int:
        self.at += size
        if self.at > len(self.data):
            raise UnsupportedError("the line table of this cubin is cut short")
        return int.from_bytes(self.data[self.at - size : self.at], "little", signed=signed)

    def leb(self, *, signed: bool = False) -> int:
        """A number in groups of seven bits, lowest first."""
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def string(self) -> str:
        end = self.data.find(b"\0", self.at)
        text = self.data[self.at : end].decode(errors="replace")
        self.at = end + 1
        return text


@dataclass(frozen=True, slots=True)
class _Header:
    step: int
    """Bytes that an address advances by."""
    line_base: int
    line_range: int
    lengths: Sequence[int]
    """Operands of each standard instruction, from 1 on."""
    files: Sequence[str]


def _header(cursor: _Cursor) -> _Header:
    version = cursor.number(2)
    if version not in _VERSIONS:
        raise UnsupportedError(f"the line table of this cubin has version {version}, not 2 or 3")
    program = cursor.number(4) + cursor.at
    step, _, base, span, first = struct.unpack("<BBbBB", cursor.data[cursor.at : cursor.at + 5])
    cursor.at += 5
    lengths = [0, *(cursor.number(1) for _ in range(first - 1))]
    while cursor.string():
        pass
    files = [""]
    while name := cursor.string():
        files.append(name)
        for _ in ("folder", "time", "size"):
            cursor.leb()
    cursor.at = program
    return _Header(step, base, span, lengths, files)


def _unit(cursor: _Cursor, end: int, homes: Mapping[int, str]) -> Iterator[tuple[str, int, Line]]:
    header = _header(cursor)
    special = len(header.lengths)
    section, address, file, line = "", 0, 1, 1
    while cursor.at < end:
        code = cursor.number(1)
        if code >= special:
            steps, lines = divmod(code - special, header.line_range)
            address += steps * header.step
            line += header.line_base + lines
            yield section, address, (header.files[file], line)
        elif code == 0:
            size = cursor.leb()
            after = cursor.at + size
            what = cursor.number(1)
            if what == _SET_ADDRESS:
                section, address = homes.get(cursor.at, ""), cursor.number(size - 1)
            elif what == _END_SEQUENCE:
                section, address, file, line = "", 0, 1, 1
            cursor.at = after
        elif code == _COPY:
            yield section, address, (header.files[file], line)
        elif code == _ADVANCE_PC:
            address += cursor.leb() * header.step
        elif code == _ADVANCE_LINE:
            line += cursor.leb(signed=True)
        elif code == _SET_FILE:
            file = cursor.leb()
        elif code == _CONST_ADD_PC:
            address += (255 - special) // header.line_range * header.step
        elif code == _FIXED_ADVANCE_PC:
            address += cursor.number(2)
        else:
            for _ in range(header.lengths[code]):
                cursor.leb()
