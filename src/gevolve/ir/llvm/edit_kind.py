"""What the edit kinds of kernels have in common: their base, and what several of them do to a draft.

Inserted instructions are named ``x`` and the edit's seed, so a later edit can find them whatever else
is in the patch.
"""

from collections.abc import Sequence
from typing import Self, TypeVar

import numpy as np

from gevolve.ir.edit_kind import EditKind, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.model import TERMINATORS, Instr
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft
from gevolve.ir.seeded import seeded_choice, seeded_hash

_UNMOVABLE = frozenset({"phi", "alloca", *TERMINATORS})


EditT = TypeVar("EditT")


class LlvmEdit(EditKind[LlvmSites, LlvmDraft]):
    """The base of edit kinds for kernels in LLVM-IR."""

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        """Draw an edit of this kind; of those that are worth trying unless the kind knows better."""
        if cls not in sites.swept:
            sites.swept[cls] = list(cls.sweep(sites))
        return draw_from(sites.swept[cls], rng)

    def rewrite(self, source: SourceDraft) -> str:
        """Write the edit into the user's source, and say what it is there; `Skipped` if it has no such form."""
        del source
        raise Skipped("it has no form in the source")


def draw_from(edits: Sequence[EditT], rng: np.random.Generator) -> EditT | None:
    """One of some edits, each as likely as the others; None if there is none."""
    return edits[int(rng.integers(len(edits)))] if edits else None


def untouchable(instr: Instr) -> bool:
    """Whether no edit may touch an instruction: inline asm, tokens, calls that must stay in place."""
    if instr.opcode != "call":
        return instr.type == "token"
    head = instr.parts[0]
    return (
        instr.type == "token"
        or " asm " in head
        or head.startswith("musttail")
        or "@llvm.va_" in head
        or "@llvm.stack" in head
        or any(operand.type == "token" for operand in instr.operands)
    )


def deletable(instr: Instr) -> bool:
    """Whether an edit may delete an instruction."""
    return instr.opcode not in TERMINATORS and not untouchable(instr)


def movable(instr: Instr) -> bool:
    """Whether an edit may move, copy or replace an instruction."""
    return instr.opcode not in _UNMOVABLE and not untouchable(instr)


def insertion_point(draft: LlvmDraft, before: str) -> tuple[str, int]:
    """Where to insert before an instruction: after all phis if it is one."""
    if draft.get(before) is None:
        raise Skipped(f"{before} is gone")
    block, position = draft.position(before)
    body = draft.body(block)
    while (instr := draft.get(body[position])) is not None and instr.opcode == "phi":
        position += 1
    return block, position


def require_same_function(draft: LlvmDraft, one: str, other: str) -> None:
    function_of = draft.index.function_of
    if function_of[draft.block_of(one)] != function_of[draft.block_of(other)]:
        raise Skipped(f"{one} and {other} are in different functions")


def insert_copy(draft: LlvmDraft, source: str, block: str, position: int, seed: int) -> Instr:
    """Insert a repaired copy of an instruction."""
    instr = draft.find(source, movable)
    name = f"x{seed:x}"
    if draft.get(name) is not None:
        raise Skipped(f"{name} is there already")
    copy = draft.repair_inputs(instr._replace(id=name), block, position, seed)
    draft.insert(copy, block, position)
    return copy


def delete(draft: LlvmDraft, instr: Instr, seed: int) -> None:
    """Take out an instruction; its uses get one of its operands, or any value that dominates it."""
    if instr.type != "void":
        own = [
            operand.value
            for operand in instr.operands
            if operand.type == instr.type
            and operand.local != instr.id
            and (operand.local is None or instr.opcode != "phi")
            and not operand.fixed
        ]
        if own and seeded_hash(seed, "own", "") & 1:
            found = seeded_choice(seed, "delete", own)
            assert found is not None
        else:
            block, position = draft.position(instr.id)
            if instr.opcode == "phi":
                position = 0  # values of this block, other phis too, may come after it
            found = draft.substitute(instr.type, block, position, seed, "delete")
        draft.replace_uses(instr.id, found)
    draft.remove(instr.id)
