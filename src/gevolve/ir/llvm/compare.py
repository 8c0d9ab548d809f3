"""Compares doubles as whole numbers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, facts

_ORDER = re.compile(r"^fcmp (?:[a-z]+ )*?([ou])(eq|ne|lt|le|gt|ge) ")


@dataclass(frozen=True)
class CompareBits(LlvmEdit):
    """Doubles of which at most one is negative are compared as integers, which needs no double unit."""

    name = "bits"
    compare: str

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        return (cls(instr.id) for instr in sites.hottest(_compares_doubles))

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        instr = draft.find(self.compare, _compares_doubles)
        order = _ORDER.match(instr.parts[0])
        assert order is not None
        predicate = order[2] if order[2] in ("eq", "ne") else f"s{order[2]}"
        prefix = f"x{seed:x}.{self.compare}"
        if draft.get(f"{prefix}.0") is not None:
            raise Skipped(f"{self.compare} is compared by its bits already")
        operands: list[Operand] = []
        for number, operand in enumerate(instr.operands):
            name = f"{prefix}.{number}"
            cast = Instr(name, "bitcast", "i64", ("bitcast double ", " to i64"), (operand,))
            draft.insert(cast, *draft.position(self.compare))
            operands.append(Operand("i64", f"%{name}"))
        parts = (f"icmp {predicate} i64 ", *instr.parts[1:])
        draft.put(instr._replace(opcode="icmp", parts=parts, operands=tuple(operands)))

    def describe(self, show: Show) -> str:
        return f"compare the bits of {show(self.compare)} as whole numbers"

    def rewrite(self, source: SourceDraft) -> str:
        return facts.compared_bits(source, self.compare)


def _compares_doubles(instr: Instr) -> bool:
    plain = instr.opcode == "fcmp" and _ORDER.match(instr.parts[0]) is not None
    return plain and instr.operands[0].type == "double"
