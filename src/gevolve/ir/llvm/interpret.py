"""Runs a piece of a function on given numbers: to see which function of them it computes.

Only what a value depends on is computed. A phi takes the value of the edge that the run came by; a branch on
something unknown ends the run. Results are as exact as Python's, which is enough to tell a sine from a cosine.
"""

import math
import re
import struct
from collections.abc import Callable, Mapping

import numpy as np

from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.model import Instr, Operand

Number = float | int
STEPS = 64
"""A run ends after so many blocks: there is a loop in it."""
_CALL = re.compile(r"@llvm\.(?:nvvm\.)?([a-z0-9]+)\b")
_INTEGER = re.compile(r"i(\d+)")
_COMPARE = re.compile(r"^[fi]cmp (?:[a-z]+ )*?([a-z]+) (?:[a-z0-9]+) $")
_OF_ONE: dict[str, Callable[[float], float]] = {
    "fabs": abs,
    "rint": lambda a: float(round(a)),
    "trunc": lambda a: float(math.trunc(a)),
    "floor": lambda a: float(math.floor(a)),
    "ceil": lambda a: float(math.ceil(a)),
    "sqrt": math.sqrt,
    "saturate": lambda a: min(max(a, 0.0), 1.0),
    "ex2": lambda a: 2.0**a,
    "lg2": math.log2,
    "rcp": lambda a: 1.0 / a,
    "rsqrt": lambda a: 1.0 / math.sqrt(a),
    "sin": math.sin,
    "cos": math.cos,
}
_OF_TWO: dict[str, Callable[[float, float], float]] = {
    "copysign": math.copysign,
    "minnum": min,
    "maxnum": max,
    "div": lambda a, b: a / b,
    "is": lambda a, classes: _class_of(a) & int(classes) != 0,
}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "fadd": lambda a, b: a + b,
    "fsub": lambda a, b: a - b,
    "fmul": lambda a, b: a * b,
    "fdiv": lambda a, b: a / b,
}
_WHOLE: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "xor": lambda a, b, _: a ^ b,
    "shl": lambda a, b, size: a << (b % size),
    "lshr": lambda a, b, size: a >> (b % size),
    "ashr": lambda a, b, size: _signed(a, size) >> (b % size),
}
_ORDER: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def result(index: LlvmIndex, start: str, target: str, inputs: Mapping[str, float]) -> float | None:
    """The value of an instruction if a function is entered at the block `start`; None if it is not known."""
    run = _Run(index, inputs)
    before, block, home = "", start, index.block_of[target]
    for _ in range(STEPS):
        run.enter(block, before)
        if block == home:
            return run.of(target)
        onward = run.leave(block)
        if onward is None:
            return None
        before, block = block, onward
    return None


class _Run:
    """The values that are known so far."""

    def __init__(self, index: LlvmIndex, inputs: Mapping[str, float]) -> None:
        self._index = index
        self._values: dict[str, Number | None] = dict(inputs)

    def enter(self, block: str, before: str) -> None:
        """Give the phis of a block the values that they have if the run comes from another block."""
        arrived: dict[str, Number | None] = {}
        for id_ in self._index.body[block]:
            phi = self._index.instr[id_]
            if phi.opcode != "phi":
                break
            if before in phi.blocks and id_ not in self._values:
                arrived[id_] = self._read(phi.operands[phi.blocks.index(before)])
        self._values |= arrived

    def leave(self, block: str) -> str | None:
        """The block that comes next."""
        last = self._index.instr[self._index.body[block][-1]]
        if last.opcode != "br":
            return None
        if len(last.blocks) == 1:
            return last.blocks[0]
        choice = self._read(last.operands[0])
        return None if choice is None else last.blocks[0 if choice else 1]

    def of(self, id_: str) -> float | None:
        """The value of an instruction."""
        if id_ not in self._values:
            self._values[id_] = None  # should it need itself
            instr = self._index.instr.get(id_)
            self._values[id_] = None if instr is None else self._value(instr)
        found = self._values[id_]
        return None if found is None else float(found)

    def _read(self, operand: Operand) -> Number | None:
        if operand.local is None:
            return _constant(operand)
        self.of(operand.local)
        return self._values[operand.local]

    def _value(self, instr: Instr) -> Number | None:
        if instr.opcode == "phi" or instr.type == "void" or not instr.operands:
            return None
        if instr.opcode == "select":
            choice = self._read(instr.operands[0])
            return None if choice is None else self._read(instr.operands[1 if choice else 2])
        operands = [self._read(operand) for operand in instr.operands]
        known = [number for number in operands if number is not None]
        if len(known) < len(operands):
            return None
        try:
            found = _computed(instr, known)
            return None if found is None else _rounded(found, instr.type)
        except (ArithmeticError, ValueError):
            return None


def _computed(instr: Instr, numbers: list[Number]) -> Number | None:
    opcode, kind = instr.opcode, instr.operands[0].type
    if opcode in _ARITHMETIC:
        return _ARITHMETIC[opcode](numbers[0], numbers[1])
    size = _INTEGER.fullmatch(kind)
    if opcode in _WHOLE and size:
        return _WHOLE[opcode](int(numbers[0]), int(numbers[1]), int(size[1]))
    match opcode:
        case "fneg":
            return -numbers[0]
        case "fcmp" | "icmp":
            return _compared(instr, numbers, int(size[1]) if size else 0)
        case "bitcast":
            return _recast(numbers[0], kind, instr.type)
        case "sext" | "sitofp" if size:
            return _signed(int(numbers[0]), int(size[1]))
        case "zext" | "trunc" | "uitofp" | "freeze" | "fpext" | "fptrunc":
            return numbers[0]
        case "fptosi" | "fptoui":
            return math.trunc(numbers[0])
        case "call":
            name = _CALL.search(instr.parts[0])
            return _called(name[1], numbers) if name else None
        case _:
            return None


def _called(name: str, numbers: list[Number]) -> Number | None:
    match numbers:
        case [a] if name in _OF_ONE:
            return _OF_ONE[name](a)
        case [a, b] if name in _OF_TWO:
            return _OF_TWO[name](a, b)
        case [a, b, c] if name in ("fma", "fmuladd"):
            return a * b + c
        case _:
            return None


def _compared(instr: Instr, numbers: list[Number], size: int) -> bool | None:
    order = _COMPARE.match(instr.parts[0])
    if order is None:
        return None
    word = order[1]
    a, b = numbers
    if instr.opcode == "icmp":
        if word[0] == "s":
            a, b = _signed(int(a), size), _signed(int(b), size)
        return _ORDER[word if word in _ORDER else word[1:]](a, b)
    unordered = math.isnan(a) or math.isnan(b)
    if word in ("ord", "uno"):
        return unordered == (word == "uno")
    return word[0] == "u" if unordered else _ORDER[word[1:]](a, b)


def _constant(operand: Operand) -> Number | None:
    text = operand.value
    if text in ("true", "false"):
        return text == "true"
    size = _INTEGER.fullmatch(operand.type)
    try:
        if size:
            return int(text) % (1 << int(size[1]))
        if text.startswith("0x"):
            return float(struct.unpack(">d", int(text, 16).to_bytes(8, "big"))[0])
        return float(text) if operand.type in ("float", "double") else None
    except (ValueError, OverflowError):
        return None


def _rounded(number: Number, kind: str) -> Number | None:
    size = _INTEGER.fullmatch(kind)
    if size:
        return int(number) % (1 << int(size[1]))
    if kind == "float":
        with np.errstate(over="ignore", under="ignore"):
            return float(np.float32(number))
    return float(number) if kind == "double" else None


def _recast(number: Number, kind: str, to: str) -> Number | None:
    codes = {"float": ">f", "i32": ">I", "double": ">d", "i64": ">Q"}
    if kind not in codes or to not in codes or codes[kind] == codes[to]:
        return number if kind == to else None
    return struct.unpack(codes[to], struct.pack(codes[kind], number))[0]


def _class_of(number: float) -> int:
    """The bit of ``llvm.is.fpclass`` that a number has; what is too small to be normal does not occur."""
    if math.isnan(number):
        return 2
    size = 0 if number == 0 else 2 if math.isfinite(number) else 3
    negative = math.copysign(1.0, number) < 0
    return (32, 16, 8, 4)[size] if negative else (64, 128, 256, 512)[size]


def _signed(number: int, size: int) -> int:
    return number - (1 << size) if number >> (size - 1) & 1 else number
