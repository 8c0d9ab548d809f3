"""Edits that take out work in one step: a load forwarded, a barrier weakened."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.addresses import Addresses, address_text, is_access, is_load, roots, value_type
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, forms, kept

NEIGHBOURS = 2
"""So many elements of its array are tried for a load."""


@dataclass(frozen=True)
class Forward(LlvmEdit):
    """A load takes the value that was loaded from, or stored to, the same address before."""

    name = "forward"
    load: str
    earlier: str
    """A load or a store."""

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        addresses = Addresses(sites.index)
        for instr in sites.hottest(is_load):
            earlier = addresses.nearest_access(instr)
            if earlier is not None:
                yield cls(instr.id, earlier)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        load = draft.find(self.load, is_load)
        earlier = draft.find(self.earlier, is_access)
        value = f"%{earlier.id}" if earlier.opcode == "load" else earlier.operands[0].value
        if self.load == self.earlier or value_type(earlier) != load.type:
            raise Skipped(f"{self.earlier} has no value for {self.load}")
        if not draft.available(self.earlier, *draft.position(self.load)):
            raise Skipped(f"{self.earlier} does not come before {self.load} on every path")
        if value.startswith("%") and not draft.available(value[1:], *draft.position(self.load)):
            raise Skipped(f"what {self.earlier} stores is gone")
        draft.replace_uses(self.load, value)
        draft.remove(self.load)

    def describe(self, show: Show) -> str:
        return f"reuse the value of {show(self.earlier)} instead of {show(self.load)}"

    def rewrite(self, source: SourceDraft) -> str:
        get = source.index.instr.get
        load, earlier = get(self.load), get(self.earlier)
        if load is None or earlier is None:
            raise Skipped(f"{self.load} is gone")
        return kept.kept(source, [earlier], [load], every=False)


@dataclass(frozen=True)
class Nearby(Forward):
    """A load takes the value of another element of the same array: an approximation."""

    name = "nearby"
    loose = True

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """The elements that were loaded or stored last before, of the same array."""
        get, draft = sites.index.instr.get, LlvmDraft(sites.index)
        arrays: dict[tuple[str, frozenset[str]], list[str]] = {}
        array_of: dict[str, list[str]] = {}
        texts: dict[str, str] = {}
        for one in filter(_moves_number, sites.index.instr.values()):
            place = one.operands[-1].value
            texts[one.id] = address_text(get, place)
            key = value_type(one), frozenset(roots(get, place))
            array_of[one.id] = arrays.setdefault(key, [])
            array_of[one.id].append(one.id)
        nearest: list[list[Self]] = []
        for load in sites.hottest(lambda instr: is_load(instr) and _moves_number(instr)):
            here = draft.position(load.id)
            others = [
                other
                for other in array_of[load.id]
                if texts[other] != texts[load.id] and draft.available(other, *here)
            ]
            same = [other for other in others if draft.block_of(other) == here[0]]
            above = [other for other in others if other not in same]
            nearest.append([cls(load.id, other) for other in [*same[::-1], *above][:NEIGHBOURS]])
        turns = (one for turn in zip_longest(*nearest) for one in turn)
        return (one for one in turns if one is not None)

    def describe(self, show: Show) -> str:
        return f"take the value of {show(self.earlier)}, an element nearby, for {show(self.load)}"

    def rewrite(self, source: SourceDraft) -> str:
        del source  # the form of what it is derived from says that both are one element
        raise Skipped("it has no form in the source")


@dataclass(frozen=True)
class SyncWarp(LlvmEdit):
    """A barrier of the whole block becomes one of each warp."""

    name = "syncwarp"
    barrier: str

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


def _moves_number(instr: Instr) -> bool:
    """Whether an instruction loads or stores a floating-point number."""
    return is_access(instr) and value_type(instr) in ("float", "double")


def _is_barrier(instr: Instr) -> bool:
    return instr.opcode == "call" and "@llvm.nvvm.barrier.cta.sync.aligned.all" in instr.parts[0]
