"""Reads the small parts of PTX: literals, operands, modifiers, initial values."""

import re
import struct
from functools import lru_cache

from gevolve.device.sim.ptx import (
    Address,
    Float,
    Group,
    Not,
    Operand,
    Pair,
    Reloc,
    Scalar,
    Vector,
)
from gevolve.errors import CompileError, UnsupportedError

NAME = r"[A-Za-z_$%][\w$]*"
_ADDRESS = re.compile(rf"\[\s*({NAME}(?:\.[xyzw])?)?\s*\+?\s*(-?\s*\w+)?\s*\]")
_INITIAL = re.compile(
    rf"\s*(?:(0x[0-9A-Fa-f]+)\s*\(\s*({NAME})\s*(?:\+\s*(-?\w+))?\s*\)"
    rf"|(?:generic\s*\(\s*({NAME})\s*\)|({NAME}))\s*(?:\+\s*(-?\w+))?"
    rf"|(-?\s*[0-9]\w*))\s*"
)
_FLOAT = re.compile(r"0([fFdD])([0-9A-Fa-f]+)\Z")


def number(text: str) -> int | Float:
    """A literal: decimal, hexadecimal, octal, binary, or a float by its bits."""
    text = text.replace(" ", "")
    if match := _FLOAT.match(text):
        return Float(int(match[2], 16), 4 if match[1] in "fF" else 8)
    body = text.rstrip("Uu")
    try:
        if body.lstrip("-").startswith("0") and body.lstrip("-").isdigit() and len(body) > 1:
            return int(body, 8)
        return int(body, 0)
    except ValueError:
        return _decimal(body)


def _decimal(text: str) -> Float:
    try:
        return Float(int.from_bytes(struct.pack("<d", float(text)), "little"), 8)
    except ValueError:
        raise CompileError(f"not a PTX literal: {text!r}") from None


@lru_cache(maxsize=1 << 16)
def operand(text: str) -> Operand:
    text = text.strip()
    first = text[0]
    if first == "[":
        match = _ADDRESS.match(text)
        if match is None:
            return text  # of an instruction that nobody translates
        base, offset = match.groups()
        value = number(offset) if offset else 0
        assert isinstance(value, int)
        return Address(base, value)
    if first == "{":
        return Vector(tuple(_scalar(part) for part in text[1:-1].split(",")))
    if first == "(":
        return Group(tuple(part.strip() for part in text[1:-1].split(",") if part.strip()))
    if first == "!":
        return Not(text[1:].strip())
    if "|" in text:
        left, _, right = text.partition("|")
        return Pair(left.strip(), right.strip())
    return _scalar(text)


def _scalar(text: str) -> Scalar:
    text = text.strip()
    return number(text) if text[:1].isdigit() or text[:1] == "-" else text


@lru_cache(maxsize=1 << 12)
def modifiers(text: str | None) -> tuple[str, ...]:
    if not text:
        return ()
    return tuple(part for part in text.split(".") if part)


def initial_values(text: str, *, byte: bool) -> tuple[int | Float | Reloc, ...]:
    values: list[int | Float | Reloc] = []
    for part in re.sub(r"[{}]", " ", text).split(","):
        if not part.strip():
            continue
        match = _INITIAL.fullmatch(part)
        if match is None:
            raise UnsupportedError(f"PTX initial value {part.strip()!r} is not known to sim")
        mask, masked, plus, generic, plain, offset, literal = match.groups()
        if literal:
            values.append(number(literal))
        elif masked:
            shift = (int(mask, 16).bit_length() - 8) if byte else 0
            values.append(Reloc(masked, int(plus or "0", 0), shift))
        else:
            values.append(Reloc(generic or plain, int(offset or "0", 0)))
    return tuple(values)
