"""Edits that take out work in one step: a load forwarded, a barrier weakened."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit, draw_from
from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, forms

DEEP = 6
"""How many address computations are looked through to see that two addresses are one."""


@dataclass(frozen=True)
class Forward(LlvmEdit):
    """A load takes the value that was loaded from, or stored to, the same address before."""

    name = "forward"
    load: str
    earlier: str
    """A load or a store."""

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        return draw_from(list(cls.sweep(sites)), rng)

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        addresses = _Addresses(sites.index)
        for instr in sites.hottest(_is_load):
            earlier = addresses.nearest_access(instr)
            if earlier is not None:
                yield cls(instr.id, earlier)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        load = draft.find(self.load, _is_load)
        earlier = draft.find(self.earlier, _is_access)
        value = f"%{earlier.id}" if earlier.opcode == "load" else earlier.operands[0].value
        if self.load == self.earlier or _value_type(earlier) != load.type:
            raise Skipped(f"{self.earlier} has no value for {self.load}")
        if not draft.available(self.earlier, *draft.position(self.load)):
            raise Skipped(f"{self.earlier} does not come before {self.load} on every path")
        if value.startswith("%") and not draft.available(value[1:], *draft.position(self.load)):
            raise Skipped(f"what {self.earlier} stores is gone")
        draft.replace_uses(self.load, value)
        draft.remove(self.load)

    def describe(self, show: Show) -> str:
        return f"reuse the value of {show(self.earlier)} instead of {show(self.load)}"


@dataclass(frozen=True)
class SyncWarp(LlvmEdit):
    """A barrier of the whole block becomes one of each warp."""

    name = "syncwarp"
    barrier: str

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        return draw_from(list(cls.sweep(sites)), rng)

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        return (cls(instr.id) for instr in sites.hottest(_is_barrier))

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        barrier = draft.find(self.barrier, _is_barrier)
        draft.declare("llvm.nvvm.bar.warp.sync", "declare void @llvm.nvvm.bar.warp.sync(i32)")
        tail = barrier.parts[-1].partition(")")[2]
        part = f"tail call void @llvm.nvvm.bar.warp.sync(i32 -1){tail}"
        draft.put(barrier._replace(parts=(part,), operands=()))

    def describe(self, show: Show) -> str:
        return f"__syncwarp() instead of {show(self.barrier)}"

    def rewrite(self, source: SourceDraft) -> str:
        return forms.sync_warp(source, self.barrier)


def _is_load(instr: Instr) -> bool:
    return instr.opcode == "load" and not instr.parts[0].startswith(
        ("load volatile", "load atomic")
    )


def _is_store(instr: Instr) -> bool:
    plain = not instr.parts[0].startswith(("store volatile", "store atomic"))
    return instr.opcode == "store" and plain


def _is_access(instr: Instr) -> bool:
    return _is_load(instr) or _is_store(instr)


def _is_barrier(instr: Instr) -> bool:
    return instr.opcode == "call" and "@llvm.nvvm.barrier.cta.sync.aligned.all" in instr.parts[0]


def _value_type(access: Instr) -> str:
    return access.type if access.opcode == "load" else access.operands[0].type


class _Addresses:
    """Which accesses of the unedited program go to the same address, as far as the text shows."""

    def __init__(self, index: LlvmIndex) -> None:
        self._index = index
        self._by_address: dict[tuple[str, str], list[str]] = {}
        for instr in index.instr.values():
            if _is_access(instr):
                key = (_value_type(instr), self._address(instr.operands[-1].value, DEEP))
                self._by_address.setdefault(key, []).append(instr.id)

    def nearest_access(self, load: Instr) -> str | None:
        """The last access of this address that every path to the load has passed."""
        index, home = self._index, self._index.block_of[load.id]
        dominance = index.dominance[index.function_of[home]]
        key = (load.type, self._address(load.operands[0].value, DEEP))
        best: str | None = None
        for other in self._by_address[key]:
            block = index.block_of[other]
            same = block == home and index.body[home].index(other) < index.body[home].index(load.id)
            before = same or (block != home and dominance.dominates(block, home))
            if before and (best is None or self._later(other, best)):
                best = other
        return best

    def _later(self, one: str, other: str) -> bool:
        index = self._index
        block, other_block = index.block_of[one], index.block_of[other]
        if block == other_block:
            return index.body[block].index(one) > index.body[block].index(other)
        return index.dominance[index.function_of[block]].dominates(other_block, block)

    def _address(self, value: str, deep: int) -> str:
        """An address in a form in which equal computations have equal texts."""
        instr = self._index.instr.get(value[1:]) if value.startswith("%") else None
        if instr is None or deep == 0 or instr.opcode not in _PURE:
            return value
        return "(" + instr.opcode + "".join(self._words(instr, deep - 1)) + ")"

    def _words(self, instr: Instr, deep: int) -> Iterator[str]:
        for part, operand in zip(instr.parts, instr.operands, strict=False):
            yield part.replace("inbounds ", "").replace("nuw ", "").replace("nsw ", "")
            yield self._address(operand.value, deep)


_PURE = frozenset(
    {
        "getelementptr",
        "add",
        "sub",
        "mul",
        "shl",
        "sext",
        "zext",
        "trunc",
        "addrspacecast",
        "or",
        "and",
    }
)
