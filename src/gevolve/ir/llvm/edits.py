"""The six edit kinds of the GEVO paper."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.assumptions import Align, BlockSize, Divisor
from gevolve.ir.llvm.compare import CompareBits
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import (
    LlvmEdit,
    deletable,
    delete,
    insert_copy,
    insertion_point,
    movable,
    require_same_function,
    untouchable,
)
from gevolve.ir.llvm.facts import Invariant, NoAlias, Registers, Unroll
from gevolve.ir.llvm.fastmath import FastMath
from gevolve.ir.llvm.flatten import Flatten
from gevolve.ir.llvm.hardware import Hardware
from gevolve.ir.llvm.hoist import Hoist
from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.keep import Keep
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.newton import Newton
from gevolve.ir.llvm.nowrap import NoWrap
from gevolve.ir.llvm.omit import Ignore, Omit
from gevolve.ir.llvm.pad import Pad
from gevolve.ir.llvm.parameters import Parameter
from gevolve.ir.llvm.peel import Peel
from gevolve.ir.llvm.perforate import Perforate
from gevolve.ir.llvm.quotient import Quotient
from gevolve.ir.llvm.rounding import Narrow, Relax
from gevolve.ir.llvm.shorten import Shorten
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, conditions, forms
from gevolve.ir.llvm.structure import Forward, Nearby, SyncWarp
from gevolve.ir.registry import EditKinds
from gevolve.patch import is_word

CONSTANT = "="
"""Marks the value of a `SetOperand` edit that is the text of a constant, not the id of a value."""
TRIES = 16
"""How many operands are looked at before a program is taken to have none to replace."""


@dataclass(frozen=True)
class Copy(LlvmEdit):
    """Insert a copy of an instruction before another one, and let something use its result."""

    name = "copy"
    of_paper = True
    seeded = True
    source: str
    before: str

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        pair = _draw_pair(sites, rng, _not_phi)
        return None if pair is None else cls(*pair)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        block, position = insertion_point(draft, self.before)
        draft.find(self.source, movable)
        require_same_function(draft, self.source, self.before)
        inserted = insert_copy(draft, self.source, block, position, seed)
        if inserted.type != "void":
            draft.connect(inserted, seed)

    def describe(self, show: Show) -> str:
        return f"copy {show(self.source)} before {show(self.before)}"


@dataclass(frozen=True)
class Delete(LlvmEdit):
    """Take out an instruction; what used its result uses another value."""

    name = "delete"
    of_paper = True
    seeded = True
    target: str

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        target = sites.draw(rng, deletable)
        return None if target is None else cls(target)

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """Barriers and stores: what else is deleted leaves a gap that repair must fill."""
        return (cls(instr.id) for instr in sites.hottest(_has_effect_only))

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        delete(draft, draft.find(self.target, deletable), seed)

    def describe(self, show: Show) -> str:
        return f"delete {show(self.target)}"

    def rewrite(self, source: SourceDraft) -> str:
        instr = source.index.instr.get(self.target)
        if instr is None or not _has_effect_only(instr):
            raise Skipped("only barriers and stores are statements of the source")
        return forms.without(source, self.target)


@dataclass(frozen=True)
class Move(LlvmEdit):
    """Move an instruction before another one."""

    name = "move"
    of_paper = True
    seeded = True
    target: str
    before: str

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        pair = _draw_pair(sites, rng, _not_phi)
        return None if pair is None else cls(*pair)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        instr = draft.find(self.target, movable)
        if self.target == self.before:
            raise Skipped(f"{self.target} is moved before itself")
        block, position = insertion_point(draft, self.before)
        require_same_function(draft, self.target, self.before)
        home, at = draft.position(self.target)
        if home == block and at < position:
            position -= 1
        draft.move_to(self.target, block, position)
        draft.put(draft.repair_inputs(instr, block, position, seed))
        if instr.type != "void" and not draft.repair_uses(self.target, seed):
            moved = draft.get(self.target)
            assert moved is not None
            draft.connect(moved, seed)

    def describe(self, show: Show) -> str:
        return f"move {show(self.target)} before {show(self.before)}"


@dataclass(frozen=True)
class Replace(LlvmEdit):
    """Put a copy of another instruction in the place of one."""

    name = "replace"
    of_paper = True
    seeded = True
    target: str
    source: str

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        pair = _draw_pair(sites, rng, movable)
        return None if pair is None else cls(*pair)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        old = draft.find(self.target, movable)
        draft.find(self.source, movable)
        if self.target == self.source:
            raise Skipped(f"{self.target} is replaced by itself")
        require_same_function(draft, self.target, self.source)
        inserted = insert_copy(draft, self.source, *draft.position(self.target), seed)
        if inserted.type == old.type:
            draft.replace_uses(self.target, f"%{inserted.id}")
            draft.remove(self.target)
            return
        delete(draft, old, seed)
        if inserted.type != "void":
            current = draft.get(inserted.id)
            assert current is not None
            draft.connect(current, seed)

    def describe(self, show: Show) -> str:
        return f"replace {show(self.target)} by {show(self.source)}"


@dataclass(frozen=True)
class Swap(LlvmEdit):
    """Let two instructions change places."""

    name = "swap"
    of_paper = True
    seeded = True
    first: str
    second: str

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        pair = _draw_pair(sites, rng, movable)
        return None if pair is None else cls(*pair)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        both = [draft.find(id_, movable) for id_ in (self.first, self.second)]
        if self.first == self.second:
            raise Skipped(f"{self.first} is swapped with itself")
        require_same_function(draft, self.first, self.second)
        draft.exchange(self.first, self.second)
        for instr in both:
            draft.put(draft.repair_inputs(instr, *draft.position(instr.id), seed))
        for instr in both:
            draft.repair_uses(instr.id, seed)

    def describe(self, show: Show) -> str:
        return f"swap {show(self.first)} with {show(self.second)}"


@dataclass(frozen=True)
class SetOperand(LlvmEdit):
    """Let one operand of an instruction be another value, or a constant."""

    name = "operand"
    of_paper = True
    target: str
    number: int
    value: str
    """The id of a value, or ``=`` and the text of a constant."""

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        for _ in range(TRIES):
            target = sites.draw(rng, lambda instr: bool(_open_slots(instr)))
            if target is None:
                return None
            slots = _open_slots(sites.index.instr[target])
            number = slots[int(rng.integers(len(slots)))]
            values = _other_values(sites.index, sites.index.instr[target], number)
            if values:
                return cls(target, number, values[int(rng.integers(len(values)))])
        return None

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """Conditions of branches and selections, always true or never."""
        return (
            cls(instr.id, 0, f"{CONSTANT}{value}")
            for instr in sites.hottest(_has_condition)
            for value in ("true", "false")
        )

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed  # the edit names its value: there is nothing to choose
        target, number, value = self.target, self.number, self.value
        instr = draft.find(target, lambda instr: not untouchable(instr))
        if not 0 <= number < len(instr.operands):
            raise Skipped(f"{target} has no operand {number}")
        slot = instr.operands[number]
        if slot.fixed:
            raise Skipped(f"operand {number} of {target} must be the constant that it is")
        if value.startswith(CONSTANT):
            function = draft.index.function_of[draft.block_of(target)]
            text = value.removeprefix(CONSTANT)
            if text not in draft.index.constants_of(function, slot.type):
                raise Skipped(f"{text} is no constant of type {slot.type} here")
        else:
            text = f"%{value}"
            if draft.type_of(value) != slot.type:
                raise Skipped(f"{value} is gone or not of type {slot.type}")
            if value == target or not draft.available(value, *draft.use_point(instr, number)):
                raise Skipped(f"{value} is not available at {target}")
        if slot.value == text:
            raise Skipped(f"operand {number} of {target} is {text} already")
        draft.put(instr.with_operand(number, text))

    def describe(self, show: Show) -> str:
        constant = self.value.removeprefix(CONSTANT)
        if constant in ("true", "false") and constant != self.value and not self.number:
            return f"take the condition of {show(self.target)} as always {constant}"
        value = f"`{constant}`" if constant != self.value else show(self.value)
        return f"operand {self.number + 1} of {show(self.target)} becomes {value}"

    def rewrite(self, source: SourceDraft) -> str:
        instr = source.index.instr.get(self.target)
        truth = {f"{CONSTANT}true": True, f"{CONSTANT}false": False}.get(self.value)
        if instr is None or not _has_condition(instr) or self.number or truth is None:
            raise Skipped("it has no form in the source")
        return conditions.fixed(source, self.target, truth)


EDIT_KINDS = EditKinds(
    "llvm",
    LlvmEdit,
    (
        *(Copy, Delete, Move, Replace, Swap, SetOperand),
        *(
            Narrow,
            NoAlias,
            Invariant,
            Unroll,
            Relax,
            Newton,
            Hardware,
            Forward,
            SyncWarp,
            Registers,
        ),
        *(Keep, Hoist, Flatten, Pad, Align, Divisor, BlockSize, CompareBits, Parameter),
        *(NoWrap, Peel),
        *(FastMath, Quotient, Perforate, Shorten, Omit, Ignore, Nearby),
    ),
)
"""All edit kinds of kernels, in the order in which the search draws them."""


def _has_effect_only(instr: Instr) -> bool:
    """Whether an instruction is a store or a barrier, say: it gives no value."""
    return instr.type == "void" and deletable(instr)


def _has_condition(instr: Instr) -> bool:
    first = next(iter(instr.operands), None)
    decides = instr.opcode in ("select", "br") and first is not None and first.type == "i1"
    return decides and first is not None and first.local is not None


def _not_phi(instr: Instr) -> bool:
    return instr.opcode != "phi"


def _draw_pair(
    sites: LlvmSites, rng: np.random.Generator, second: Callable[[Instr], bool]
) -> tuple[str, str] | None:
    """Two instructions of one function."""
    first = sites.draw(rng, movable)
    if first is None:
        return None
    function = sites.index.function_of[sites.index.block_of[first]]
    other = sites.draw(rng, second, function=function, other_than=first)
    return None if other is None else (first, other)


def _open_slots(instr: Instr) -> list[int]:
    """The operands that may be replaced."""
    return [] if untouchable(instr) else [i for i, o in enumerate(instr.operands) if not o.fixed]


def _other_values(index: LlvmIndex, instr: Instr, number: int) -> list[str]:
    """What an operand could be instead, as the value of a `SetOperand` edit."""
    slot = instr.operands[number]
    draft = LlvmDraft(index)
    block, position = draft.use_point(instr, number)
    values = [
        value
        for value in draft.values(slot.type, block, position)
        if value not in {slot.local, instr.id}
    ]
    # A constant in a patch is one word, so vectors and expressions stay out of reach.
    constants = [
        CONSTANT + text
        for text in index.constants_of(index.function_of[block], slot.type)
        if text != slot.value and is_word(text)
    ]
    return values + constants
