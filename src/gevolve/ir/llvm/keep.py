"""Keeps what a thread loads and stores in a register, where it comes back to the same address."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.addresses import address_text, is_access, is_shared, value_type
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.hoist import need
from gevolve.ir.llvm.loops import Loop, innermost
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, kept


@dataclass(frozen=True)
class Keep(LlvmEdit):
    """All loads of one address take the value that the thread itself last loaded from it or stored to it.

    Stores stay, for other threads; the optimiser drops those of a shared array that nobody loads from any
    more. Paths that join are the optimiser's to see to: the value is kept in a variable.
    """

    name = "keep"
    access: str
    """A load or store of the address."""
    loads: Literal["sure", "all", "loop"]
    """The loads to which every path passes another access; all of them; or all in the loop that the access is in,
    with a first load before it."""

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """Each address with such loads; of shared arrays, whose first value nobody knows, also with others.

        Then each that a loop loads and stores in every step.
        """
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
        for group in groups.values():
            if any(one.opcode == "store" for one in group):
                yield from cls._in_loops(draft, group)

    @classmethod
    def _in_loops(cls, draft: LlvmDraft, group: list[Instr]) -> Iterable[Self]:
        """One edit for each loop that loads from the address before it has stored to it."""
        heads: set[str] = set()
        for one in group:
            if one.opcode != "load" or _passed(draft, one, group):
                continue
            try:
                loop, accesses, _ = _plan(draft, one, group)
            except Skipped:
                continue
            if loop.head not in heads and any(other.opcode == "store" for other in accesses):
                heads.add(loop.head)
                yield cls(one.id, "loop")

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        target = draft.find(self.access, is_access)
        if self.loads == "loop":
            self._promote(draft, target, seed)
            return
        kind, (noted, later) = value_type(target), self._parts(draft, target)
        place = self._variable(draft, kind, seed)
        for one in later:
            draft.put(Instr(one.id, "load", kind, (f"load {kind}, ptr ", ""), (place,)))
        for one in noted:
            _note(draft, one, place)

    def _parts(self, draft: LlvmDraft, target: Instr) -> tuple[list[Instr], list[Instr]]:
        """The accesses whose values are kept, and the loads that take what was kept."""
        group = _group(draft, target)
        later = [one for one in group if one.opcode == "load"]
        if self.loads == "sure":
            later = [one for one in later if _passed(draft, one, group)]
        if not later or len(later) == len(group):
            raise Skipped(f"nothing comes back to the address of {self.access}")
        return [one for one in group if one not in later], later

    def _promote(self, draft: LlvmDraft, target: Instr, seed: int) -> None:
        """Load once before the loop; in the loop, take what was last loaded or stored."""
        loop, group, moved = _plan(draft, target, _group(draft, target))
        if target.opcode != "load" or not any(one.opcode == "store" for one in group):
            raise Skipped(f"the loop of {self.access} does not load and store there")
        kind = value_type(target)
        place = self._variable(draft, kind, seed)
        for one in moved:
            draft.move_to(one.id, loop.above, len(draft.body(loop.above)) - 1)
        first = target._replace(id=f"{place.value[1:]}.first")
        draft.insert(first, loop.above, len(draft.body(loop.above)) - 1)
        _note(draft, first, place)
        for one in group:
            if one.opcode == "load":
                draft.put(Instr(one.id, "load", kind, (f"load {kind}, ptr ", ""), (place,)))
            else:
                _note(draft, one, place)

    def _variable(self, draft: LlvmDraft, kind: str, seed: int) -> Operand:
        """A new variable of the thread; the optimiser makes a register of it."""
        name = f"x{seed:x}.{self.access}.kept"
        if draft.get(name) is not None:
            raise Skipped(f"{self.access} is kept already")
        number = draft.index.function_of[draft.block_of(self.access)]
        entry = draft.index.functions[number].blocks[0].id
        draft.insert(Instr(name, "alloca", "ptr", (f"alloca {kind}",), ()), entry, 0)
        return Operand("ptr", f"%{name}")

    def describe(self, show: Show) -> str:
        if self.loads == "loop":
            return f"keep in a register what {show(self.access)} works on, while its loop runs"
        which = "later loads" if self.loads == "sure" else "all loads"
        return f"keep in a register what {show(self.access)} works on, for {which} of that address"

    def rewrite(self, source: SourceDraft) -> str:
        draft = LlvmDraft(source.index)
        target = draft.find(self.access, is_access)
        if self.loads != "loop":
            return kept.kept(source, *self._parts(draft, target), every=True)
        loop, accesses, _ = _plan(draft, target, _group(draft, target))
        dominance = draft.index.dominance[draft.index.function_of[loop.head]]
        back = next(
            block for block in sorted(loop.blocks) if loop.head in dominance.successors[block]
        )
        return kept.kept_in_loop(source, accesses, target, draft.body(back)[-1])


def _note(draft: LlvmDraft, access: Instr, place: Operand) -> None:
    """Keep what an access has loaded or stored."""
    kind = value_type(access)
    value = Operand(kind, f"%{access.id}") if access.opcode == "load" else access.operands[0]
    parts = (f"store {kind} ", ", ptr ", "")
    store = Instr(f"{place.value[1:]}.{access.id}", "store", "void", parts, (value, place))
    block, position = draft.position(access.id)
    draft.insert(store, block, position + 1)


def _plan(
    draft: LlvmDraft, target: Instr, group: list[Instr]
) -> tuple[Loop, list[Instr], list[Instr]]:
    """The loop of an access, those of the group that are in it, and what must be computed before it."""
    home = draft.block_of(target.id)
    loop = innermost(draft.index.dominance[draft.index.function_of[home]], home)
    if loop is None:
        raise Skipped(f"{target.id} is in no loop")
    moved: list[Instr] = []
    need(draft, target.operands[-1].local, loop.above, len(draft.body(loop.above)) - 1, moved)
    accesses = [one for one in group if draft.block_of(one.id) in loop.blocks]
    return loop, accesses, moved


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
