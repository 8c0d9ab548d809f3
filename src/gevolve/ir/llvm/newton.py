"""Divisions of doubles by the hardware's reciprocal, made precise by Newton's method.

A division as the standard wants it takes nine operations on doubles or so, and a detour for very large and very
small numbers; on most GPUs each counts. This one takes five, is wrong in the last bit at times, and wrong for
divisors whose reciprocal is no normal number.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gevolve.ir.edit_kind import Show
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, forms

_RECIPROCAL = "llvm.nvvm.rcp.approx.ftz.d"
_FMA = "llvm.fma.f64"
STEPS = 2
"""Each doubles the number of bits that are right; the hardware's reciprocal has 20 or so."""


@dataclass(frozen=True)
class Newton(LlvmEdit):
    """A division of doubles becomes a product with a reciprocal that two steps of Newton's method made precise."""

    name = "newton"
    division: str

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        target = sites.draw(rng, _divides_doubles)
        return None if target is None else cls(target)

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        return (cls(instr.id) for instr in sites.hottest(_divides_doubles))

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [cls.sweep(sites)]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        division = draft.find(self.division, _divides_doubles)
        draft.declare(_RECIPROCAL, f"declare double @{_RECIPROCAL}(double)")
        draft.declare(_FMA, f"declare double @{_FMA}(double, double, double)")
        prefix = f"x{seed:x}.{self.division}"

        def add(name: str, opcode: str, parts: tuple[str, ...], *operands: Operand) -> Operand:
            made = Instr(f"{prefix}.{name}", opcode, "double", parts, operands)
            draft.insert(made, *draft.position(self.division))
            return Operand("double", f"%{made.id}")

        def fma(name: str, a: Operand, b: Operand, c: Operand) -> Operand:
            parts = (f"call double @{_FMA}(double ", ", double ", ", double ", ")")
            return add(name, "call", parts, a, b, c)

        over, by = division.operands
        one = Operand("double", "1.000000e+00")
        minus = add("minus", "fneg", ("fneg double ", ""), by)
        found = add("start", "call", (f"call double @{_RECIPROCAL}(double ", ")"), by)
        for step in range(STEPS):
            error = fma(f"error{step}", minus, found, one)
            found = fma(f"step{step}", found, error, found)
        parts = ("fmul contract double ", ", ", "")
        draft.put(Instr(self.division, "fmul", "double", parts, (over, found)))

    def describe(self, show: Show) -> str:
        return f"do {show(self.division)} by Newton's method from the hardware's reciprocal"

    def rewrite(self, source: SourceDraft) -> str:
        return forms.newton(source, self.division)


def _divides_doubles(instr: Instr) -> bool:
    return instr.opcode == "fdiv" and instr.type == "double"
