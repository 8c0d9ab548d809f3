"""The text of NVIDIA's disassembler, read: one line in its syntax to the parts of an instruction.

Numbers are taken as the text has them, but for the bits of floating-point immediates, which the text
rounds (a NaN loses its payload): these come from the word, and must agree with the text.

Three names of ``IMAD`` (``.MOV``, ``.SHL``, ``.IADD``) are left out: the disassembler makes them up from
the values of the operands, and the hardware knows no such thing. For the same reason a zero register in
an address is left out: ``[RZ+0x10]`` is printed as ``[0x10]``, but ``[RZ]`` as it is.
"""

import math
import re
import struct
from dataclasses import dataclass
from typing import Literal

from gevolve.device.sim.machine.instruction import (
    PT,
    RZ,
    URZ,
    Address,
    Barrier,
    Const,
    Imm,
    Label,
    Numbers,
    Operand,
    Pred,
    Reg,
    Scoreboard,
    Special,
    UPred,
    UReg,
)
from gevolve.errors import UnsupportedError

BYTES = 16
"""Of an instruction."""

_GUARD = re.compile(r"@(!?)(U?)P([0-7T]) +(.*)")
_SEPARATOR = re.compile(r",(?![^{]*\})")
_PAIR = re.compile(r"(U?R\d+|U?RZ) (-?0x[0-9a-f]+)")
"""A jump by register and offset has no comma between them."""

_REGISTER = re.compile(r"(U?)R(\d+|Z)((?:\.\w+)*)")
_PREDICATE = re.compile(r"(!?)(U?)P([0-7T])")
_INTEGER = re.compile(r"-?0x[0-9a-f]+")
_FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|INF|[QS]NAN)")
_CONST = re.compile(r"c(?:\[0x([0-9a-f]+)\]|x\[UR(\d+|Z)\]) ?\[([^\]]*)\]((?:\.\w+)*)")
_ADDRESS = re.compile(r"([a-z]*)(?:\[UR(\d+|Z)\])?\[([^\]]*)\]")
_BARRIER = re.compile(r"B(\d+)")
_SCOREBOARD = re.compile(r"SB(\d+)")
_SET = re.compile(r"\{([\d,]*)\}")
_NAME = re.compile(r"[A-Za-z0-9_][\w.]*")

_JUMPS = frozenset({"BRA", "BSSY", "CALL", "RET", "JMP", "LEPC", "BRX", "BRXU", "JMX", "JMXU"})
_RELATIVE = frozenset({"BRX", "BRXU"})
"""The text has their target as it stands in the word: from the next instruction on."""
_MADE_UP = frozenset({"MOV", "SHL", "IADD"})

_MASK32, _MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
_FORMATS = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}
_Kind = Literal["f16", "bf16", "f32", "f64"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the text of an instruction says."""

    guard: Pred | UPred | None
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]


def parse(text: str, word: int, address: int, urz: int = URZ) -> Parts:
    """The parts of one line, such as ``@!P0 IADD3 R4, R4, -0x30, RZ``, for this word at this address.

    `urz` is the index that stands for ``URZ``. `UnsupportedError` names what is not known.
    """
    guard: Pred | UPred | None = None
    rest = text.strip()
    if found := _GUARD.fullmatch(rest):
        guard = (UPred if found[2] else Pred)(_predicate(found[3]), negate=bool(found[1]))
        rest = found[4]
    name, _, tail = rest.partition(" ")
    opcode, *modifiers = name.split(".")
    tokens = [token for part in _SEPARATOR.split(tail) if (token := part.strip())]
    if tokens and (pair := _PAIR.fullmatch(tokens[-1])):
        tokens[-1:] = [pair[1], pair[2]]
    elif len(tokens) == 1 and opcode in _RELATIVE:
        tokens.append("0x0")
    line = _Line(opcode, tuple(modifiers), urz)
    floats = iter(line.floats(word))
    operands = [
        _float(token, *next(floats)) if _FLOAT.fullmatch(token) else line.operand(token)
        for token in tokens
    ]
    if tokens and line.jumps and _INTEGER.fullmatch(tokens[-1]):
        origin = address + BYTES if opcode in _RELATIVE else 0
        operands[-1] = Label(origin + int(tokens[-1], 16))
    if opcode == "IMAD":
        modifiers = [m for m in modifiers if m not in _MADE_UP]
    return Parts(guard, opcode, tuple(modifiers), tuple(operands))


@dataclass(frozen=True, slots=True)
class _Line:
    """What the meaning of an operand's text depends on."""

    opcode: str
    modifiers: tuple[str, ...]
    urz: int

    @property
    def jumps(self) -> bool:
        collective = self.opcode == "WARPSYNC" and "COLLECTIVE" in self.modifiers
        return self.opcode in _JUMPS or collective

    def floats(self, word: int) -> tuple[tuple[int, _Kind], ...]:
        """The floating-point immediates that the word would have, in the order of the text."""
        bits = word >> 32 & _MASK32
        if self.opcode.startswith("H"):
            brain = any(m.startswith("BF16") for m in self.modifiers)
            half: _Kind = "bf16" if brain else "f16"
            return (bits >> 16, half), (bits & 0xFFFF, half)
        wide = self.opcode.startswith("D") or (
            self.opcode == "MUFU" and any(m.endswith("64H") for m in self.modifiers)
        )
        return ((bits << 32, "f64") if wide else (bits, "f32"),)

    def operand(self, token: str) -> Operand:
        body, negate, absolute, invert = _marks(token)
        if found := _REGISTER.fullmatch(body):
            make = UReg if found[1] else Reg
            return make(self._index(found), negate, absolute, invert, _part(found[3]))
        if found := _PREDICATE.fullmatch(token):
            make = UPred if found[2] else Pred
            return make(_predicate(found[3]), negate=bool(found[1]))
        if _INTEGER.fullmatch(token):
            value = int(token, 16)
            return Imm(value & (_MASK32 if abs(value) <= _MASK32 else _MASK64))
        if found := _CONST.fullmatch(body):
            bank, descriptor, inside, part = found.groups()
            named = None if descriptor is None else self._uniform(descriptor)
            register, offset = self._inside(inside, token)
            return Const(
                int(bank or "0", 16), offset, register, named, negate, absolute, invert, _part(part)
            )
        if found := _ADDRESS.fullmatch(token):
            return self._address(found, token)
        if found := _BARRIER.fullmatch(token):
            return Barrier(int(found[1]))
        if found := _SCOREBOARD.fullmatch(token):
            return Scoreboard(int(found[1]))
        if found := _SET.fullmatch(token):
            return Numbers(tuple(sorted(int(n) for n in found[1].split(",") if n)))
        if _NAME.fullmatch(token):
            return Special(token)
        raise self._unknown(token)

    def _unknown(self, token: str) -> UnsupportedError:
        return UnsupportedError(f"the operand {token!r} of {self.opcode} is not known")

    def _uniform(self, text: str) -> int:
        return self.urz if text == "Z" else int(text)

    def _index(self, register: re.Match[str]) -> int:
        if register[1]:
            return self._uniform(register[2])
        return RZ if register[2] == "Z" else int(register[2])

    def _inside(self, text: str, token: str) -> tuple[Reg | UReg | None, int]:
        """Register and offset of the second bracket of a constant."""
        register: Reg | UReg | None = None
        offset = 0
        for term in text.split("+"):
            if found := _REGISTER.fullmatch(term):
                index = self._index(found)
                if index != (self.urz if found[1] else RZ):
                    register = (UReg if found[1] else Reg)(index, part=_part(found[3]))
            elif _INTEGER.fullmatch(term):
                offset = int(term, 16)
            else:
                raise self._unknown(token)
        return register, offset

    def _address(self, found: re.Match[str], token: str) -> Address:
        space, descriptor, inside = found.groups()
        register: int | None = None
        uniform: int | None = None
        part = uniform_part = ""
        offset = 0
        for term in inside.split("+"):
            if held := _REGISTER.fullmatch(term.removesuffix(".reuse")):
                if held[1]:
                    uniform, uniform_part = self._index(held), _part(held[3])
                else:
                    register, part = self._index(held), _part(held[3])
            elif _INTEGER.fullmatch(term):
                offset = int(term, 16)
            else:
                raise self._unknown(token)
        if register == RZ:
            register, part = None, ""
        # Before sm_80 the text leaves out that the register of an extended address is a pair.
        extended = "E" in self.modifiers and uniform is None and register is not None and not part
        return Address(
            register,
            uniform,
            offset,
            wide=part == "64" or extended,
            part="" if part == "64" else part,
            uniform_part=uniform_part,
            descriptor=None if descriptor is None else self._uniform(descriptor),
            space="" if space == "desc" else space,
        )


def _marks(token: str) -> tuple[str, bool, bool, bool]:
    """A token without its signs: ``-|R4|.H0_H0`` is ``R4.H0_H0``, negated, absolute."""
    body = token.replace(".reuse", "")
    negate, invert = body.startswith("-"), body.startswith("~")
    absolute = "|" in body
    return body.lstrip("-~").replace("|", ""), negate, absolute, invert


def _predicate(text: str) -> int:
    return PT if text == "T" else int(text)


def _part(suffixes: str) -> str:
    return suffixes.removeprefix(".")


def _float(token: str, bits: int, kind: _Kind) -> Imm:
    """A floating-point immediate, if these bits are what the text shows."""
    # The upper half of a float is a number in bfloat16.
    number, raw = _FORMATS["f32" if kind == "bf16" else kind]
    (value,) = struct.unpack(number, struct.pack(raw, bits << 16 if kind == "bf16" else bits))
    same = math.isnan(value) if token.endswith("NAN") else value == float(token)
    if not same or (value == 0 and (math.copysign(1, value) < 0) != token.startswith("-")):
        raise UnsupportedError(f"the number {token} is not where an immediate should be")
    return Imm(bits, "f16" if kind == "bf16" else kind)
