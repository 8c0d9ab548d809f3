"""Takes the first steps of a loop out of it, before the loop."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.facts import latches
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites

_WEIGHTS = re.compile(r", !prof !\d+")
_OFTEN = 1000
_MOST = 7
"""LLVM peels no more steps than that."""


@dataclass(frozen=True)
class Peel(LlvmEdit):
    """The first steps of a loop are done before it, where what they start with is known.

    LLVM does so where a profile says that a loop has few steps; so that is what it is told. The loop is
    there as before for whatever steps are left.
    """

    name = "peel"
    latch: str
    """The branch that goes back to the loop's first block."""
    steps: int

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        loops = [one for one in latches(sites) if _decides(sites.index.instr[one])]
        loops.sort(key=lambda latch: -sites.heat(sites.index.block_of[latch]))
        return (cls(latch, steps) for steps in (1, 2) for latch in loops)

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [[edit for edit in cls.sweep(sites) if edit.steps == 1]]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        instr = draft.find(self.latch, _decides)
        home = draft.block_of(self.latch)
        number = draft.index.function_of[home]
        back = [draft.index.dominance[number].dominates(to, home) for to in instr.blocks]
        if back not in ([True, False], [False, True]):
            raise Skipped(f"{self.latch} closes no loop")
        if not 1 <= self.steps <= _MOST:
            raise Skipped(f"{self.steps} steps cannot be taken out")
        again = _OFTEN * (self.steps - 1) + 1
        weights = [again if goes_back else _OFTEN for goes_back in back]
        node = draft.add_node(f'!{{!"branch_weights", i32 {weights[0]}, i32 {weights[1]}}}')
        *first, last = instr.parts
        draft.put(instr._replace(parts=(*first, f"{_WEIGHTS.sub('', last)}, !prof {node}")))
        header = draft.header(number)
        if " !prof " not in header:  # without it LLVM takes weights for guesses
            count = draft.add_node(f'!{{!"function_entry_count", i64 {_OFTEN}}}')
            draft.set_header(number, f"{header.removesuffix(' {')} !prof {count} {{")

    def describe(self, show: Show) -> str:
        steps = "first step" if self.steps == 1 else f"first {self.steps} steps"
        return f"do the {steps} of {show(self.latch)} before it (peeling)"


def _decides(instr: Instr) -> bool:
    return instr.opcode == "br" and len(instr.blocks) == 2
