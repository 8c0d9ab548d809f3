"""LLVM-IR of IREE's LLVM as the LLVM of llvmlite reads it, which is older: it spells numbers otherwise.

A newer LLVM writes a number in decimal if it is the nearest one of its type, or else as ``f0x`` and its bits. An
older one takes a decimal only if it is exact, and bits only as those of a double.
"""

import re
import struct

_TYPE = re.compile(r"\b(half|bfloat|float|double)\b")
_NUMBER = re.compile(
    r'(?P<string>"[^"]*")|(?<![\w.%@])'
    r"(?:(?P<decimal>-?\d+\.\d+(?:e[+-]\d+)?)"
    r"|f0x(?P<bits>[0-9A-F]+)"
    r"|(?P<sign>[+-])(?:(?P<inf>inf)\b|(?P<nan>q?nan)\b(?:\(0x(?P<payload>[0-9A-Fa-f]+)\))?))"
)
_SIZES = {"half": (2, "e", "0xH"), "bfloat": (2, "", "0xR"), "float": (4, "f", "0x"), "double": (8, "d", "0x")}  # fmt: skip
"""Bytes of a type, what `struct` calls it, and how its bits begin."""
_MANTISSA = {"half": 10, "bfloat": 7, "float": 23, "double": 52}


def older(text: str) -> str:
    """A module with its numbers as an older LLVM writes them."""
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    if line.startswith((";", "!", "source_filename", "target ")):
        return line

    def number(found: re.Match[str]) -> str:
        if found["string"]:
            return found[0]
        types = _TYPE.findall(line, 0, found.start())
        kind: str = types[-1] if types else "double"
        return _spelled(kind, _bits(kind, found))

    return _NUMBER.sub(number, line)


def _bits(kind: str, found: re.Match[str]) -> int:
    """The bits of a number in its type."""
    size, code, _ = _SIZES[kind]
    if found["bits"]:
        return int(found["bits"], 16)
    if found["decimal"]:
        value = float(found["decimal"])
        if kind == "bfloat":  # which is the first half of a float
            return int.from_bytes(struct.pack(">f", value)[:2], "big")
        return int.from_bytes(struct.pack(f">{code}", value), "big")
    mantissa = _MANTISSA[kind]
    sign = (found["sign"] == "-") << (8 * size - 1)
    exponent = ((1 << (8 * size - 1 - mantissa)) - 1) << mantissa
    if found["inf"]:
        return sign | exponent
    quiet = 1 << (mantissa - 1) if found["payload"] is None or found["nan"] == "qnan" else 0
    return sign | exponent | quiet | int(found["payload"] or "0", 16)


def _spelled(kind: str, bits: int) -> str:
    size, _, sign = _SIZES[kind]
    if kind == "float":
        bits, size = _widened(bits), 8
    return f"{sign}{bits:0{2 * size}X}"


def _widened(bits: int) -> int:
    """The bits of a float as those of a double, a NaN's included, which no conversion must touch."""
    exponent, mantissa = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return (bits >> 31) << 63 | 0x7FF << 52 | mantissa << 29
    (value,) = struct.unpack(">f", bits.to_bytes(4, "big"))
    return int.from_bytes(struct.pack(">d", value), "big")
