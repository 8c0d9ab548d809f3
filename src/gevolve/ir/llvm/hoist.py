"""Moves loads up, with the computation of their addresses: out of a loop, or before a branch or a barrier."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.addresses import DEEP, PURE, is_load
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.loops import innermost
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, early


@dataclass(frozen=True)
class Hoist(LlvmEdit):
    """A load happens earlier: before the loop that it is in, before the branch above it, or first in its block."""

    name = "hoist"
    load: str
    where: Literal["loop", "branch", "block"]

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """Where something is gained: out of each loop, before each branch, and before each barrier."""
        draft = LlvmDraft(sites.index)
        loads = sites.hottest(is_load)
        places: tuple[Literal["loop", "branch", "block"], ...] = ("loop", "block", "branch")
        for where in places:
            for load in loads:
                edit = cls(load.id, where)
                if where == "block" and not _behind_barrier(draft, load):
                    continue
                try:
                    edit._plan(draft, load)
                except Skipped:
                    continue
                yield edit

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        load = draft.find(self.load, is_load)
        moved, block, position = self._plan(draft, load)
        for one in (*moved, load):
            home, at = draft.position(one.id)
            if home == block and at < position:
                continue
            draft.move_to(one.id, block, position)
            position += 1

    def describe(self, show: Show) -> str:
        where = {
            "loop": "before its loop",
            "branch": "before the branch above it",
            "block": "before what comes first in its block",
        }
        return f"do {show(self.load)} {where[self.where]}"

    def rewrite(self, source: SourceDraft) -> str:
        draft = LlvmDraft(source.index)
        load = draft.find(self.load, is_load)
        home, _ = draft.position(load.id)
        above = self._block(draft, home)
        if above != home:
            return early.above(source, self.load, draft.body(above)[-1])
        barriers = [id_ for id_ in draft.body(home) if _is_barrier(draft.get(id_))]
        if not barriers or not _behind_barrier(draft, load):
            raise Skipped("it has no form in the source")
        return early.above(source, self.load, barriers[0])

    def _plan(self, draft: LlvmDraft, load: Instr) -> tuple[list[Instr], str, int]:
        """What moves along, and where to; raises `Skipped` if it cannot."""
        home, at = draft.position(load.id)
        block = self._block(draft, home)
        body = draft.body(block)
        if block == home:
            position = sum(1 for id_ in body if _opcode(draft, id_) == "phi")
            if position == at:
                raise Skipped(f"{load.id} is first in its block")
        else:
            position = len(body) - 1
        needed: list[Instr] = []
        for operand in load.operands:
            need(draft, operand.local, block, position, needed)
        return needed, block, position

    def _block(self, draft: LlvmDraft, home: str) -> str:
        dominance = draft.index.dominance[draft.index.function_of[home]]
        if self.where == "block":
            return home
        if not dominance.reachable(home):
            raise Skipped(f"{home} is never reached")
        if self.where == "loop":
            loop = innermost(dominance, home)
            if loop is None:
                raise Skipped("it is in no loop")
            return loop.above
        above = next(dominance.dominators(home), None)
        if above is None:
            raise Skipped("there is nothing above it")
        return above


def need(
    draft: LlvmDraft,
    value: str | None,
    block: str,
    position: int,
    needed: list[Instr],
    deep: int = DEEP,
) -> None:
    """Add what must be computed before a value is there, the first first; `Skipped` if it cannot be."""
    if value is None or draft.available(value, block, position):
        return
    instr = draft.get(value)
    if instr is None or instr.opcode not in PURE or deep == 0:
        raise Skipped(f"{value} is not there yet")
    if instr in needed:
        return
    for operand in instr.operands:
        need(draft, operand.local, block, position, needed, deep - 1)
    needed.append(instr)


def _opcode(draft: LlvmDraft, id_: str) -> str:
    instr = draft.get(id_)
    return "" if instr is None else instr.opcode


def _behind_barrier(draft: LlvmDraft, load: Instr) -> bool:
    home, at = draft.position(load.id)
    return any(_is_barrier(draft.get(id_)) for id_ in draft.body(home)[:at])


def _is_barrier(instr: Instr | None) -> bool:
    return instr is not None and "@llvm.nvvm.barrier" in instr.parts[0]
