"""If-conversion: one side of a small branch is computed on every path, so that a choice is left of the branch."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.addresses import PURE, is_load
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites

MOST = 24
"""A side with more instructions than this is no small one."""
_HARMLESS = PURE | {
    *("fadd", "fsub", "fmul", "fdiv", "fneg", "icmp", "fcmp", "select", "freeze", "xor"),
    *("lshr", "ashr", "fptrunc", "fpext", "sitofp", "uitofp", "bitcast"),
}


@dataclass(frozen=True)
class Flatten(LlvmEdit):
    """What one side of a branch computes is computed before the branch; the optimiser makes choices of the rest."""

    name = "flatten"
    branch: str
    side: str
    """The block that goes up."""

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        draft = LlvmDraft(sites.index)
        for branch in sites.hottest(_decides):
            for side in dict.fromkeys(branch.blocks):
                edit = cls(branch.id, side)
                try:
                    edit._plan(draft, branch)
                except Skipped:
                    continue
                yield edit

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        branch = draft.find(self.branch, _decides)
        home = draft.block_of(branch.id)
        for one in self._plan(draft, branch):
            draft.move_to(one.id, home, len(draft.body(home)) - 1)

    def _plan(self, draft: LlvmDraft, branch: Instr) -> list[Instr]:
        """All that the side computes; `Skipped` if it is not small, or does more than compute."""
        if self.side not in branch.blocks or len(set(branch.blocks)) < 2:
            raise Skipped(f"{self.side} is no side of {self.branch}")
        home = draft.block_of(branch.id)
        successors = draft.index.dominance[draft.index.function_of[home]].successors
        if [one for one, after in successors.items() if self.side in after] != [home]:
            raise Skipped(f"{self.side} is reached from elsewhere, too")
        *body, last = (draft.get(id_) for id_ in draft.body(self.side))
        found = [one for one in body if one is not None]
        if last is None or len(last.blocks) != 1 or not 0 < len(found) <= MOST:
            raise Skipped(f"{self.side} is no small side")
        if not all(is_load(one) or one.opcode in _HARMLESS or _is_function(one) for one in found):
            raise Skipped(f"{self.side} does more than compute")
        return found

    def describe(self, show: Show) -> str:
        return f"compute one side of {show(self.branch)} on every path, and then choose"


def _decides(instr: Instr) -> bool:
    return instr.opcode == "br" and len(instr.blocks) == 2


def _is_function(instr: Instr) -> bool:
    """Whether it is a mathematical function of LLVM's, which may be computed at any time."""
    names = ("fabs", "fma", "fmuladd", "sqrt", "minnum", "maxnum", "smin", "smax", "umin", "umax")
    return instr.opcode == "call" and any(f"@llvm.{name}." in instr.parts[0] for name in names)
