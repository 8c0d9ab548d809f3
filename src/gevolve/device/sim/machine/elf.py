"""Sections, symbols and relocations of an ELF file with 64-bit little-endian words: what a cubin is."""

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gevolve.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_REL = struct.Struct("<QQ")
_RELA = struct.Struct("<QQq")

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL = 2, 4, 8, 9


@dataclass(frozen=True, slots=True)
class Section:
    """Bytes with a name; `data` is empty where the file has none (`size` says how many there will be)."""

    name: str
    type: int
    flags: int
    size: int
    link: int
    info: int
    align: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for a place in a section."""

    name: str
    section: str
    """Empty if it is defined elsewhere."""
    value: int
    size: int
    type: int
    """1: a variable, 2: a function, 3: a section, and NVIDIA's own."""
    other: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """A place in a section that wants the address of a symbol."""

    section: str
    offset: int
    type: int
    symbol: Symbol
    addend: int


@dataclass(frozen=True, slots=True)
class Elf:
    """An ELF file."""

    abi: int
    flags: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]


def read(data: bytes) -> Elf:
    """The parts of an ELF file; `UnsupportedError` if it is none, or cut short."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise UnsupportedError("this is no cubin: it does not begin as a 64-bit ELF file does")
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError):
        raise UnsupportedError("this cubin is broken: its tables point outside the file") from None


def _read(data: bytes) -> Elf:
    header: tuple[int, ...] = _HEADER.unpack_from(data)
    table, flags, each, count, names = header[5], header[6], header[10], header[11], header[12]
    headers: list[tuple[int, ...]] = [
        _SECTION.unpack_from(data, table + each * n) for n in range(count)
    ]
    strings = headers[names][4]
    sections = tuple(_section(data, strings, header) for header in headers)
    tables = [section for section in sections if section.type == SHT_SYMTAB]
    symbols = tuple(symbol for table in tables for symbol in _symbols(table, sections))
    relocations = tuple(
        relocation
        for section in sections
        if section.type in {SHT_REL, SHT_RELA}
        for relocation in _relocations(section, sections[section.info].name, symbols)
    )
    return Elf(data[8], flags, sections, symbols, relocations)


def _string(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _section(data: bytes, strings: int, header: tuple[int, ...]) -> Section:
    name, kind, flags, _, offset, size, link, info, align, _ = header
    content = b"" if kind == SHT_NOBITS else data[offset : offset + size]
    return Section(_string(data, strings + name), kind, flags, size, link, info, align, content)


def _symbols(table: Section, sections: tuple[Section, ...]) -> list[Symbol]:
    strings = sections[table.link].data
    symbols: list[Symbol] = []
    entries: Iterator[tuple[int, ...]] = _SYMBOL.iter_unpack(table.data)
    for name, info, other, home, value, size in entries:
        where = sections[home].name if 0 < home < len(sections) else ""
        symbols.append(Symbol(_string(strings, name), where, value, size, info & 15, other))
    return symbols


def _relocations(section: Section, target: str, symbols: tuple[Symbol, ...]) -> list[Relocation]:
    layout = _RELA if section.type == SHT_RELA else _REL
    entries: Iterator[tuple[int, ...]] = layout.iter_unpack(section.data)
    return [
        Relocation(target, offset, info & 0xFFFFFFFF, symbols[info >> 32], rest[0] if rest else 0)
        for offset, info, *rest in entries
    ]
