"""Whole numbers divided as floats: right for small ones only, and so an approximation.

A GPU has no instruction for a quotient of whole numbers: the assembler writes 18, with a sign 24, and about a hundred for
numbers of 64 bits. A float times the hardware's reciprocal, with what converts between both, takes six. That is right up
to two million: half is added, so that the product is never just below a whole number.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.sites import LlvmSites

_RECIPROCAL = "llvm.nvvm.rcp.approx.ftz.f"
_DIVISIONS = frozenset({"udiv", "sdiv", "urem", "srem"})
_BITS = re.compile(r"i(32|64)")


@dataclass(frozen=True)
class Quotient(LlvmEdit):
    """A quotient or remainder of whole numbers from 0 to 2,000,000 is computed in floats."""

    name = "quotient"
    loose = True
    division: str

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        return (cls(instr.id) for instr in sites.hottest(_divides))

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [cls.sweep(sites)]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        division = draft.find(self.division, _divides)
        prefix = f"x{seed:x}.{self.division}"
        if draft.get(f"{prefix}.over") is not None:
            raise Skipped(f"{self.division} is done in floats already")
        draft.declare(_RECIPROCAL, f"declare float @{_RECIPROCAL}(float)")

        def add(
            name: str, opcode: str, kind: str, parts: tuple[str, ...], *operands: Operand
        ) -> Operand:
            made = Instr(f"{prefix}.{name}", opcode, kind, parts, operands)
            draft.insert(made, *draft.position(self.division))
            return Operand(kind, f"%{made.id}")

        def as_float(name: str, whole: Operand) -> Operand:
            if whole.type == "i64":
                whole = add(f"{name}32", "trunc", "i32", ("trunc i64 ", " to i32"), whole)
            return add(name, "sitofp", "float", ("sitofp i32 ", " to float"), whole)

        x, by = division.operands
        over = as_float("over", x)
        over = add(
            "half",
            "fadd",
            "float",
            ("fadd float ", ", ", ""),
            over,
            Operand("float", "5.000000e-01"),
        )
        part = add(
            "part", "call", "float", (f"call float @{_RECIPROCAL}(float ", ")"), as_float("by", by)
        )
        product = add("product", "fmul", "float", ("fmul float ", ", ", ""), over, part)
        kind = division.type
        whole = add("whole", "fptosi", "i32", ("fptosi float ", " to i32"), product)
        if kind == "i64":
            whole = add("whole64", "zext", "i64", ("zext i32 ", " to i64"), whole)
        if division.opcode in ("udiv", "sdiv"):
            draft.replace_uses(division.id, whole.value)
            draft.remove(division.id)
            return
        back = add("back", "mul", kind, (f"mul {kind} ", ", ", ""), whole, by)
        draft.put(Instr(division.id, "sub", kind, (f"sub {kind} ", ", ", ""), (x, back)))

    def describe(self, show: Show) -> str:
        return f"do {show(self.division)} in floats, which is right for numbers up to 2,000,000"


def _divides(instr: Instr) -> bool:
    """Whether an instruction divides whole numbers by one that varies: others the compiler does by products."""
    return (
        instr.opcode in _DIVISIONS
        and _BITS.fullmatch(instr.type) is not None
        and instr.operands[-1].local is not None
        and len(instr.operands) == 2
    )
