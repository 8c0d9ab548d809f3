"""The text of NVIDIA's disassembler, read: one line in its syntax to the parts of an instruction.

Numbers are taken as the text has them, but for the bits of floating-point immediates, which the text
rounds (a NaN loses its payload): these come from the word.

Three names of ``IMAD`` (``.MOV``, ``.SHL``, ``.IADD``) are left out: the disassembler makes them up from
the values of the operands, and the hardware knows no such thing.
"""

import re
from dataclasses import dataclass

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
_REGISTER = re.compile(r"(U?)R(\d+|Z)((?:\.\w+)*)")
_PREDICATE = re.compile(r"(!?)(U?)P([0-7T])")
_INTEGER = re.compile(r"(-?)0x([0-9a-f]+)")
_FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|INF|QNAN|SNAN)")
_CONST = re.compile(r"c\[0x([0-9a-f]+)\]\[([^\]]*)\]((?:\.\w+)*)")
_BINDLESS = re.compile(r"cx\[UR(\d+|Z)\]\[([^\]]*)\]((?:\.\w+)*)")
_ADDRESS = re.compile(r"(?:([a-z]*)\[UR(\d+|Z)\])?(\w*)\[([^\]]*)\]")
_BARRIER = re.compile(r"B(\d+)")
_SCOREBOARD = re.compile(r"SB(\d+)")
_SET = re.compile(r"\{([\d,]*)\}")
_NAME = re.compile(r"[A-Za-z0-9_][\w.]*")
_PAIR = re.compile(r"(U?R\d+|U?RZ) (-?0x[0-9a-f]+)")

_JUMPS = frozenset({"BRA", "BSSY", "CALL", "RET", "JMP", "LEPC", "BRX", "BRXU", "JMX", "JMXU"})
_RELATIVE = frozenset({"BRX", "BRXU"})
"""The text has their target as it stands in the word: from the next instruction on."""
_MADE_UP = frozenset({"MOV", "SHL", "IADD"})


@dataclass(frozen=True, slots=True)
class Parts:
    """What the text of an instruction says."""

    guard: Pred | UPred | None
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]


def parse(text: str, word: int, address: int) -> Parts:
    """The parts of one line, such as ``@!P0 IADD3 R4, R4, -0x30, RZ``, for this word at this address."""
    guard: Pred | UPred | None = None
    rest = text.strip()
    if found := _GUARD.fullmatch(rest):
        guard = (UPred if found[2] else Pred)(_predicate(found[3]), negate=bool(found[1]))
        rest = found[4]
    name, _, tail = rest.partition(" ")
    opcode, *modifiers = name.split(".")
    if opcode == "IMAD":
        modifiers = [m for m in modifiers if m not in _MADE_UP]
    tokens = [part.strip() for part in _split(tail)]
    if tokens and (pair := _PAIR.fullmatch(tokens[-1])):
        tokens[-1:] = [pair[1], pair[2]]
    operands = [_operand(token, opcode, modifiers, word) for token in tokens]
    if operands and _jumps(opcode, modifiers) and isinstance(last := operands[-1], Imm):
        operands[-1] = Label(_target(tokens[-1], last, opcode, address))
    return Parts(guard, opcode, tuple(modifiers), _halves(operands, word))


def _split(text: str) -> list[str]:
    """Operands of a line; commas in braces do not separate."""
    return [part for part in re.split(r",(?![^{]*\})", text) if part.strip()]


def _jumps(opcode: str, modifiers: list[str]) -> bool:
    return opcode in _JUMPS or (opcode == "WARPSYNC" and "COLLECTIVE" in modifiers)


def _target(token: str, imm: Imm, opcode: str, address: int) -> int:
    if opcode not in _RELATIVE:
        return imm.bits
    offset = int(token, 16)
    return address + BYTES + offset


def _operand(token: str, opcode: str, modifiers: list[str], word: int) -> Operand:
    body, negate, absolute, invert = _marks(token)
    if found := _REGISTER.fullmatch(body):
        index, part = _index(found[2], found[1]), _part(found[3])
        make = UReg if found[1] else Reg
        return make(index, negate=negate, absolute=absolute, invert=invert, part=part)
    if found := _PREDICATE.fullmatch(token):
        make = UPred if found[2] else Pred
        return make(_predicate(found[3]), negate=bool(found[1]))
    if found := _INTEGER.fullmatch(token):
        value = int(found[2], 16)
        return Imm((-value if found[1] else value) & (_MASK64 if value > _MASK32 else _MASK32))
    if _FLOAT.fullmatch(token):
        return _float(opcode, modifiers, word)
    if found := _CONST.fullmatch(body):
        register, offset = _inside(found[2], token)
        return Const(
            int(found[1], 16),
            offset,
            register,
            negate=negate,
            absolute=absolute,
            invert=invert,
            part=_part(found[3]),
        )
    if found := _BINDLESS.fullmatch(body):
        register, offset = _inside(found[2], token)
        return Const(
            0,
            offset,
            register,
            _index(found[1], "U"),
            negate=negate,
            absolute=absolute,
            invert=invert,
            part=_part(found[3]),
        )
    if found := _ADDRESS.fullmatch(token):
        return _address(found, modifiers, token)
    if found := _BARRIER.fullmatch(token):
        return Barrier(int(found[1]))
    if found := _SCOREBOARD.fullmatch(token):
        return Scoreboard(int(found[1]))
    if found := _SET.fullmatch(token):
        return Numbers(tuple(sorted(int(n) for n in found[1].split(",") if n)))
    if _NAME.fullmatch(token):
        return Special(token)
    raise UnsupportedError(f"the disassembler's operand {token!r} of {opcode} is not known")


_MASK32, _MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def _marks(token: str) -> tuple[str, bool, bool, bool]:
    """A token without its signs: ``-|R4|.H0_H0`` is ``R4.H0_H0``, negated, absolute."""
    body = token.removesuffix(".reuse")
    negate, invert = body.startswith("-"), body.startswith("~")
    body = body.lstrip("-~")
    absolute = body.startswith("|")
    if absolute:
        body = body.replace("|", "").replace(".reuse", "")
    return body.replace(".reuse", ""), negate, absolute, invert


def _index(text: str, uniform: str) -> int:
    return (URZ if uniform else RZ) if text == "Z" else int(text)


def _predicate(text: str) -> int:
    return PT if text == "T" else int(text)


def _part(suffixes: str) -> str:
    return suffixes.removeprefix(".")


def _inside(text: str, token: str) -> tuple[Reg | UReg | None, int]:
    """Register and offset of the second bracket of a constant."""
    register: Reg | UReg | None = None
    offset = 0
    for term in text.split("+"):
        if found := _REGISTER.fullmatch(term):
            make = UReg if found[1] else Reg
            register = make(_index(found[2], found[1]), part=_part(found[3]))
        elif found := _INTEGER.fullmatch(term):
            offset = int(term, 16)
        else:
            raise UnsupportedError(f"the disassembler's operand {token!r} is not known")
    return register, offset


def _address(found: re.Match[str], modifiers: list[str], token: str) -> Address:
    kind, descriptor, space, inside = found.groups()
    register: int | None = None
    uniform: int | None = None
    part = uniform_part = ""
    offset = 0
    for term in inside.split("+"):
        if held := _REGISTER.fullmatch(term.replace(".reuse", "")):
            index = _index(held[2], held[1])
            if held[1]:
                uniform, uniform_part = index, _part(held[3])
            else:
                register, part = index, _part(held[3])
        elif _INTEGER.fullmatch(term):
            offset = int(term, 16)
        else:
            raise UnsupportedError(f"the disassembler's operand {token!r} is not known")
    # Before sm_80 the text leaves out that the register of an extended address is a pair.
    extended = "E" in modifiers and uniform is None and not part and register is not None
    wide = part == "64" or extended
    return Address(
        register,
        uniform,
        offset,
        wide,
        "" if part == "64" else part,
        uniform_part,
        None if descriptor is None else _index(descriptor, "U"),
        space or ("" if kind in {None, "desc"} else kind),
    )


def _float(opcode: str, modifiers: list[str], word: int) -> Imm:
    bits = word >> 32 & _MASK32
    if opcode.startswith("D"):
        return Imm(bits << 32, "f64")
    if opcode.startswith("H"):
        return Imm(bits, "f16")
    if opcode == "MUFU" and "RCP64H" in modifiers:
        return Imm(bits << 32, "f64")
    return Imm(bits, "f32")


def _halves(operands: list[Operand], word: int) -> tuple[Operand, ...]:
    """The text splits an immediate pair of halves in two, the high one first."""
    halves = [
        n
        for n, operand in enumerate(operands)
        if isinstance(operand, Imm) and operand.kind == "f16"
    ]
    bits = word >> 32 & _MASK32
    for n, value in zip(halves, (bits >> 16, bits & 0xFFFF), strict=False):
        operands[n] = Imm(value, "f16")
    return tuple(operands)
