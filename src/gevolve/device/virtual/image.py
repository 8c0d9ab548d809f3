"""What a program loads: PTX, a cubin, or a fat binary that holds several of both."""

import re
import struct
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from gevolve.device.sim.machine import cubin, elf
from gevolve.device.sim.machine.program import MachineProgram, load, load_ptx
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.wire import Program
from gevolve.errors import CompileError, GevolveError

_ELF, _FAT, _WRAPPED = b"\x7fELF", b"\x50\xed\x55\xba", b"\xb1\x43\x62\x46"
_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIIIII")
_PTX, _CUBIN = 1, 2
_LZ4, _ZSTD = 0x2000, 0x8000
_VERSION = re.compile(r"^(\s*\.version\s+)(\d+)\.(\d+)", re.MULTILINE)
_OLDEST = (3, 1)
"""The oldest version of PTX that can be assembled for linking; a driver takes all before as well."""
_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)", re.MULTILINE)


class _Entry(NamedTuple):
    """One program in a fat binary."""

    kind: int
    sm: int
    data: bytes
    flags: int
    size: int
    """Bytes when it is unpacked, if it is compressed."""

    def unpacked(self) -> bytes:
        """The program; raises `RejectedError` if it cannot be unpacked here."""
        if self.flags & _LZ4:
            return unpack(self.data, self.size)
        if not self.flags & _ZSTD:
            return self.data
        try:
            zstandard: Any = import_module("zstandard")
        except ModuleNotFoundError:
            raise RejectedError(
                Code.NOT_SUPPORTED,
                "error : the fat binary is compressed by Zstandard; pip install zstandard",
            ) from None
        try:
            return zstandard.ZstdDecompressor().decompress(self.data, max_output_size=self.size)
        except zstandard.ZstdError as error:
            raise RejectedError(Code.INVALID_IMAGE, "error : the fat binary is damaged") from error


def read_image(program: Program, address: int) -> bytes:
    """The whole image at an address: nothing but itself says how long it is."""
    if not address:
        raise Fault(Code.INVALID_VALUE)
    first = program.read(address, 4)
    if first == _WRAPPED:  # what nvcc's host code holds: the address of the fat binary
        address = int.from_bytes(program.read(address + 8, 8), "little")
        first = program.read(address, 4)
    if first == _FAT:
        _, _, start, size = _HEADER.unpack(program.read(address, _HEADER.size))
        return program.read(address, start + size)
    if first != _ELF:
        return program.text(address)
    head = program.read(address, 64)
    programs, sections = struct.unpack_from("<QQ", head, 32)
    each, count = struct.unpack_from("<HH", head, 54)
    wide, rows = struct.unpack_from("<HH", head, 58)
    table = program.read(address + sections, wide * rows)
    ends = [64, programs + each * count, sections + wide * rows]
    for at in range(0, len(table), wide):
        _, kind, _, _, start, size = struct.unpack_from("<IIQQQQ", table, at)
        ends.append(start + (0 if kind == 8 else size))
    return program.read(address, max(ends))


class RejectedError(Exception):
    """The image cannot be loaded; the message is for the log of the compiler."""

    def __init__(self, code: Code, words: str) -> None:
        super().__init__(words)
        self.code = code


def open_image(image: bytes, arch: str, *, registers: int = 0) -> MachineProgram:
    """The program in an image, for one architecture; raises `RejectedError`.

    A limit on registers counts where machine code is yet to be made.
    """
    if image.startswith(_FAT):
        return _open_fat(image, arch, registers)
    if image.startswith(_ELF):
        return _open_cubin(image, arch)
    return _open_ptx(image, arch, registers)


def _open_ptx(image: bytes, arch: str, registers: int) -> MachineProgram:
    text = _VERSION.sub(_newer, image.rstrip(b"\0").decode(errors="replace"))
    if ".version" not in text:
        raise RejectedError(Code.INVALID_IMAGE, "this is no PTX, no cubin and no fat binary")
    if _target(text) > _number(arch):
        raise RejectedError(
            Code.INVALID_PTX, f"error : the PTX is for sm_{_target(text)}, newer than {arch}"
        )
    try:
        return load_ptx(text.encode(), arch, registers=registers)
    except CompileError as error:
        version = "Unsupported .version" in str(error)
        code = Code.UNSUPPORTED_PTX_VERSION if version else Code.INVALID_PTX
        raise RejectedError(code, f"error : {error}") from error
    except GevolveError as error:
        raise RejectedError(Code.NOT_SUPPORTED, f"error : {error}") from error


def _open_cubin(image: bytes, arch: str) -> MachineProgram:
    try:
        made_for = _number(cubin.architecture(elf.read(image)))
        ours = _number(arch)
        if made_for // 10 != ours // 10 or made_for > ours:
            words = f"error : machine code for sm_{made_for}, and the GPU is {arch}"
            raise RejectedError(Code.NO_BINARY_FOR_GPU, words)
        return load(image)
    except GevolveError as error:
        raise RejectedError(Code.NOT_SUPPORTED, f"error : {error}") from error
    except (struct.error, ValueError, IndexError, KeyError) as error:
        raise RejectedError(Code.INVALID_IMAGE, "error : the cubin is damaged") from error


def _open_fat(image: bytes, arch: str, registers: int) -> MachineProgram:
    """The newest machine code that fits, else the newest PTX that is not too new."""
    ours = _number(arch)
    entries = [one for one in _entries(image) if one.sm <= ours]
    fits = [one for one in entries if one.kind == _CUBIN and one.sm // 10 == ours // 10]
    texts = [one for one in entries if one.kind == _PTX]
    if fits:
        return _open_cubin(max(fits, key=lambda one: one.sm).unpacked(), arch)
    if texts:
        return _open_ptx(max(texts, key=lambda one: one.sm).unpacked(), arch, registers)
    raise RejectedError(Code.NO_BINARY_FOR_GPU, f"error : the fat binary has no code for {arch}")


def _entries(image: bytes) -> Iterator[_Entry]:
    _, _, at, size = _HEADER.unpack_from(image)
    end = at + size
    while at + _ENTRY.size <= end:
        kind, _, start, length, packed, _, _, sm, _, _ = _ENTRY.unpack_from(image, at)
        flags, whole = struct.unpack_from("<QQQ", image, at + 40)[0], 0
        if start > 56:
            whole = struct.unpack_from("<Q", image, at + 56)[0]
        compressed = flags & (_LZ4 | _ZSTD)
        data = image[at + start : at + start + (packed if compressed else length)]
        yield _Entry(kind, sm, data, flags, whole)
        at += start + length


def unpack(data: bytes, size: int) -> bytes:
    """A block that LZ4 has compressed."""
    out = bytearray()
    at = 0
    while at < len(data) and len(out) < size:
        token = data[at]
        length, at = _length(data, at + 1, token >> 4)
        out += data[at : at + length]
        at += length
        if at >= len(data):
            break
        back = int.from_bytes(data[at : at + 2], "little")
        length, at = _length(data, at + 2, token & 15)
        for _ in range(length + 4):
            out.append(out[-back])
    return bytes(out)


def _length(data: bytes, at: int, first: int) -> tuple[int, int]:
    length = first
    while first == 15:
        length += data[at]
        at += 1
        if data[at - 1] != 255:
            break
    return length, at


def _newer(version: re.Match[str]) -> str:
    old = (int(version[2]), int(version[3])) < _OLDEST
    return f"{version[1]}{_OLDEST[0]}.{_OLDEST[1]}" if old else version[0]


def _target(text: str) -> int:
    found = _TARGET.search(text)
    return int(found[1]) if found else 0


def _number(arch: str) -> int:
    return int(arch.removeprefix("sm_").rstrip("af"))
