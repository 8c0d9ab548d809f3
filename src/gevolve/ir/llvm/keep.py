"""Keeps what a thread loads and stores in a register, where it comes back to the same address."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.addresses import address_text, is_access, is_shared, value_type
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.sites import LlvmSites


@dataclass(frozen=True)
class Keep(LlvmEdit):
    """All loads of one address take the value that the thread itself last loaded from it or stored to it.

    Stores stay, for other threads; the optimiser drops those of a shared array that nobody loads from any
    more. Paths that join are the optimiser's to see to: the value is kept in a variable.
    """

    name = "keep"
    access: str
    """A load or store of the address."""
    loads: Literal["sure", "all"]
    """The loads to which every path passes another access, or all of them."""

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """Each address with such loads; of shared arrays, whose first value nobody knows, also with others."""
        draft = LlvmDraft(sites.index)
        groups: dict[tuple[int, str, str], list[Instr]] = {}
        for instr in sites.hottest(is_access):
            groups.setdefault(_key(draft, instr), []).append(instr)
        for group in groups.values():
            loads = [one for one in group if one.opcode == "load"]
            sure = [one for one in loads if _passed(draft, one, group)]
            if sure:
                yield cls(group[0].id, "sure")
            if len(sure) < len(loads) < len(group) and is_shared(draft.get, group[0]):
                yield cls(group[0].id, "all")

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        target = draft.find(self.access, is_access)
        kind, group = value_type(target), _group(draft, target)
        later = [one for one in group if one.opcode == "load"]
        if self.loads == "sure":
            later = [one for one in later if _passed(draft, one, group)]
        name = f"x{seed:x}.{self.access}.kept"
        if not later or len(later) == len(group):
            raise Skipped(f"nothing comes back to the address of {self.access}")
        if draft.get(name) is not None:
            raise Skipped(f"{self.access} is kept already")
        number = draft.index.function_of[draft.block_of(self.access)]
        entry = draft.index.functions[number].blocks[0].id
        draft.insert(Instr(name, "alloca", "ptr", (f"alloca {kind}",), ()), entry, 0)
        place = Operand("ptr", f"%{name}")
        for one in group:
            if one in later:
                draft.put(Instr(one.id, "load", kind, (f"load {kind}, ptr ", ""), (place,)))
                continue
            value = Operand(kind, f"%{one.id}") if one.opcode == "load" else one.operands[0]
            parts = (f"store {kind} ", ", ptr ", "")
            store = Instr(f"{name}.{one.id}", "store", "void", parts, (value, place))
            block, position = draft.position(one.id)
            draft.insert(store, block, position + 1)

    def describe(self, show: Show) -> str:
        which = "later loads" if self.loads == "sure" else "all loads"
        return f"keep in a register what {show(self.access)} works on, for {which} of that address"


def _key(draft: LlvmDraft, access: Instr) -> tuple[int, str, str]:
    function = draft.index.function_of[draft.block_of(access.id)]
    return function, value_type(access), address_text(draft.get, access.operands[-1].value)


def _group(draft: LlvmDraft, target: Instr) -> list[Instr]:
    """The accesses of the same address and type in the same function."""
    key = _key(draft, target)
    blocks = draft.index.functions[key[0]].blocks
    instrs = (draft.get(id_) for block in blocks for id_ in draft.body(block.id))
    return [one for one in instrs if one is not None and is_access(one) and _key(draft, one) == key]


def _passed(draft: LlvmDraft, access: Instr, group: list[Instr]) -> bool:
    """Whether every path to a load has passed another access of the group."""
    at = draft.position(access.id)
    return access.opcode == "load" and any(
        other.id != access.id and draft.available(other.id, *at) for other in group
    )
