"""Mathematical functions by what the hardware has for them: good to 20 bits or so, and many times as fast."""

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit, insertion_point
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.recognize import Name, calls
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, forms

_INTRINSICS = {
    "ex2": "llvm.nvvm.ex2.approx.ftz.f32",
    "lg2": "llvm.nvvm.lg2.approx.ftz.f",
    "sin": "llvm.nvvm.sin.approx.f",
    "cos": "llvm.nvvm.cos.approx.f",
    "rcp": "llvm.nvvm.rcp.approx.ftz.f",
    "sqrt": "llvm.sqrt.f32",
    "rint": "llvm.rint.f32",
}
_WORDS: dict[Name, str] = {
    "exp": "exponential",
    "log": "logarithm",
    "pow": "power",
    "sin": "sine",
    "cos": "cosine",
    "sincos": "sine and cosine",
    "tan": "tangent",
    "tanh": "hyperbolic tangent",
}
_TURN = (6.28125, 0.0019353071795864769)
"""2π in two parts: a small number times the first is exact."""
_MOST_PRODUCTS = 16
"""The largest power that is computed by products."""


@dataclass(frozen=True)
class Hardware(LlvmEdit):
    """A function is computed as ``__expf`` and the like do; a power of a whole number by products."""

    name = "hardware"
    value: str
    """The function's result."""
    function: Name
    x: str
    other: str
    """The second argument of a power, or the number that belongs to the function; see `recognize.Call`."""

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        return (cls(*call) for call in calls(sites))

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [cls.sweep(sites)]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        if self.function != "sincos":
            self.check(draft, seed)
            self.replace(draft, seed)
            return
        sine = Hardware(self.value, "sin", self.x, "1.0")
        cosine = Hardware(self.other, "cos", self.x, "1.0")
        sine.check(draft, seed)
        cosine.check(draft, seed)
        sine.replace(draft, seed)
        cosine.replace(draft, seed)

    def check(self, draft: LlvmDraft, seed: int) -> None:
        """Raise `Skipped` if the function cannot be replaced."""
        target = draft.find(self.value, lambda instr: instr.type in ("float", "double"))
        place = insertion_point(draft, self.value)
        for one in (self.x, *((self.other,) if _number(self.other) is None else ())):
            if draft.type_of(one) != target.type or not draft.available(one, *place):
                raise Skipped(f"{one} is no {target.type} that is known at {self.value}")
        if draft.get(f"{_prefix(seed, self.value)}.0") is not None:
            raise Skipped(f"{self.value} is computed by the hardware already")

    def replace(self, draft: LlvmDraft, seed: int) -> None:
        """Let all that uses the function's result use the hardware's."""
        kind = draft.type_of(self.value) or ""
        users, number = draft.users(self.value), _number(self.other)
        build = _Builder(draft, _prefix(seed, self.value), *insertion_point(draft, self.value))
        x = build.narrowed(self.x, kind)
        other = build.narrowed(self.other, kind) if number is None else _constant(number)
        found = build.widened(_compute(build, self.function, x, other, number), kind)
        for user in users:
            instr = draft.get(user)
            assert instr is not None
            for at, operand in enumerate(instr.operands):
                if operand.local == self.value:
                    instr = instr.with_operand(at, found.value)
            draft.put(instr)

    def describe(self, show: Show) -> str:
        how = "by products" if _halves(self.function, _number(self.other)) else "by the hardware"
        return f"compute {show(self.value)}, the {_WORDS[self.function]} of {show(self.x)}, {how}"

    def rewrite(self, source: SourceDraft) -> str:
        if _halves(self.function, _number(self.other)):
            raise Skipped("it has no form in the source")
        return forms.approximate(source, self.value)


class _Builder:
    """Inserts instructions one after the other."""

    def __init__(self, draft: LlvmDraft, prefix: str, block: str, position: int) -> None:
        self._draft = draft
        self._prefix = prefix
        self._block = block
        self._position = position
        self._count = 0

    def add(self, opcode: str, kind: str, parts: tuple[str, ...], *operands: Operand) -> Operand:
        name = f"{self._prefix}.{self._count}"
        self._draft.insert(Instr(name, opcode, kind, parts, operands), self._block, self._position)
        self._count += 1
        self._position += 1
        return Operand(kind, f"%{name}")

    def call(self, function: str, x: Operand) -> Operand:
        name = _INTRINSICS[function]
        self._draft.declare(name, f"declare float @{name}(float)")
        flags = "afn " if function == "sqrt" else ""
        return self.add("call", "float", (f"call {flags}float @{name}(float ", ")"), x)

    def times(self, a: Operand, b: Operand) -> Operand:
        return self.add("fmul", "float", ("fmul contract float ", ", ", ""), a, b)

    def plus(self, a: Operand, b: Operand) -> Operand:
        return self.add("fadd", "float", ("fadd contract float ", ", ", ""), a, b)

    def narrowed(self, id_: str, kind: str) -> Operand:
        whole = Operand(kind, f"%{id_}")
        if kind == "float":
            return whole
        return self.add("fptrunc", "float", ("fptrunc double ", " to float"), whole)

    def widened(self, value: Operand, kind: str) -> Operand:
        if kind == "float":
            return value
        return self.add("fpext", "double", ("fpext float ", " to double"), value)


def _compute(
    build: _Builder, function: Name, x: Operand, other: Operand, number: float | None
) -> Operand:
    match function:
        case "exp":
            return build.call("ex2", build.times(x, other))
        case "log":
            return build.times(build.call("lg2", x), other)
        case "pow":
            halves = _halves(function, number)
            if halves:
                return _power(build, x, halves)
            return build.call("ex2", build.times(build.call("lg2", x), other))
        case "sin" | "cos" | "sincos":
            return build.call("cos" if function == "cos" else "sin", _within_turn(build, x))
        case "tan":
            x = _within_turn(build, x)
            return build.times(build.call("sin", x), build.call("rcp", build.call("cos", x)))
        case "tanh":  # 1 - 2 / (e^2x + 1)
            power = build.call("ex2", build.times(x, _constant(2 * math.log2(math.e))))
            rest = build.call("rcp", build.plus(power, _constant(1.0)))
            return build.plus(build.times(rest, _constant(-2.0)), _constant(1.0))


def _within_turn(build: _Builder, x: Operand) -> Operand:
    """An angle less whole turns: the hardware loses digits of large ones."""
    turns = build.call("rint", build.times(x, _constant(1 / sum(_TURN))))
    for part in _TURN:
        x = build.plus(x, build.times(turns, _constant(-part)))
    return x


def _power(build: _Builder, x: Operand, halves: int) -> Operand:
    """A power of so many halves."""
    result = build.call("sqrt", x) if halves % 2 else None
    left, square = abs(halves) // 2, x
    while left:
        if left & 1:
            result = square if result is None else build.times(result, square)
        left >>= 1
        if left:
            square = build.times(square, square)
    assert result is not None
    return result if halves > 0 else build.call("rcp", result)


def _halves(function: Name, number: float | None) -> int:
    """Of a power that products can compute, twice the exponent; else 0."""
    if function != "pow" or number is None or number * 2 != round(number * 2):
        return 0
    return round(number * 2) if abs(number) <= _MOST_PRODUCTS else 0


def _prefix(seed: int, value: str) -> str:
    return f"x{seed:x}.{value}"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _constant(number: float) -> Operand:
    rounded = float(np.float32(number))
    return Operand("float", f"0x{struct.unpack('>Q', struct.pack('>d', rounded))[0]:016X}")
