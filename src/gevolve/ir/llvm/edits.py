"""The six kinds of edit of the GEVO paper: how each is drawn, and what it does to a draft.

Inserted instructions are named ``x`` and the edit's seed, so a later edit can find them whatever
else is in the patch.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gevolve.ir.choices import choose, rank
from gevolve.ir.llvm.draft import Draft
from gevolve.ir.llvm.index import Index
from gevolve.ir.llvm.model import TERMINATORS, Instr
from gevolve.ir.llvm.sites import Sites
from gevolve.patch import Edit

CONSTANT = "="
"""Marks an operand argument that is the text of a constant, not the id of a value."""
TRIES = 16
"""How many operands are looked at before a program is taken to have none to replace."""
_UNMOVABLE = frozenset({"phi", "alloca", *TERMINATORS})


class Skipped(Exception):  # noqa: N818  (an outcome: the patch says so and goes on)
    """An edit that does nothing here, and why."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of edit: its name, how to draw its arguments, and how to apply it."""

    name: str
    sentence: str
    """The edit in words, with a place for each argument."""
    draw: Callable[[Index, Sites, np.random.Generator], tuple[str, ...] | None]
    apply: Callable[[Draft, tuple[str, ...], int], None]

    @property
    def arity(self) -> int:
        """How many arguments it takes."""
        return self.sentence.count("{")


def alone(instr: Instr) -> bool:
    """Whether edits leave an instruction alone: inline asm, tokens, calls that must be in place."""
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
    return instr.opcode not in TERMINATORS and not alone(instr)


def movable(instr: Instr) -> bool:
    return instr.opcode not in _UNMOVABLE and not alone(instr)


def _find(draft: Draft, id_: str, allowed: Callable[[Instr], bool]) -> Instr:
    instr = draft.get(id_)
    if instr is None:
        raise Skipped(f"{id_} is gone")
    if not allowed(instr):
        raise Skipped(f"{id_} is a {instr.opcode} that this edit leaves alone")
    return instr


def _point_before(draft: Draft, id_: str) -> tuple[str, int]:
    """Where to insert before an instruction: after all phis if it is one."""
    if draft.get(id_) is None:
        raise Skipped(f"{id_} is gone")
    block, position = draft.position(id_)
    body = draft.body(block)
    while (instr := draft.get(body[position])) is not None and instr.opcode == "phi":
        position += 1
    return block, position


def _same_function(draft: Draft, one: str, other: str) -> None:
    owner = draft.index.owner
    if owner[draft.home(one)] != owner[draft.home(other)]:
        raise Skipped(f"{one} and {other} are in different functions")


def _clone(draft: Draft, source: str, block: str, position: int, seed: int) -> Instr:
    """Insert a repaired copy of an instruction."""
    instr = _find(draft, source, movable)
    name = f"x{seed:x}"
    if draft.get(name) is not None:
        raise Skipped(f"{name} is there already")
    copy = draft.repair_inputs(instr._replace(id=name), block, position, seed)
    draft.insert(copy, block, position)
    return copy


def _delete(draft: Draft, instr: Instr, seed: int) -> None:
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
        if own and rank(seed, "own", "") & 1:
            found = choose(seed, "delete", own)
            assert found is not None
        else:
            block, position = draft.position(instr.id)
            if instr.opcode == "phi":
                position = 0  # values of this block, other phis too, may come after it
            found = draft.substitute(instr.type, block, position, seed, "delete")
        draft.replace_uses(instr.id, found)
    draft.remove(instr.id)


def copy(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    source, before = args
    block, position = _point_before(draft, before)
    _find(draft, source, movable)
    _same_function(draft, source, before)
    inserted = _clone(draft, source, block, position, seed)
    if inserted.type != "void":
        draft.connect(inserted, seed)


def delete(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    _delete(draft, _find(draft, args[0], deletable), seed)


def move(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    target, before = args
    instr = _find(draft, target, movable)
    if target == before:
        raise Skipped(f"{target} is moved before itself")
    block, position = _point_before(draft, before)
    _same_function(draft, target, before)
    home, at = draft.position(target)
    if home == block and at < position:
        position -= 1
    draft.place(target, block, position)
    draft.put(draft.repair_inputs(instr, block, position, seed))
    if instr.type != "void" and not draft.repair_uses(target, seed):
        moved = draft.get(target)
        assert moved is not None
        draft.connect(moved, seed)


def replace(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    target, source = args
    old = _find(draft, target, movable)
    _find(draft, source, movable)
    if target == source:
        raise Skipped(f"{target} is replaced by itself")
    _same_function(draft, target, source)
    inserted = _clone(draft, source, *draft.position(target), seed)
    if inserted.type == old.type:
        draft.replace_uses(target, f"%{inserted.id}")
        draft.remove(target)
        return
    _delete(draft, old, seed)
    if inserted.type != "void":
        current = draft.get(inserted.id)
        assert current is not None
        draft.connect(current, seed)


def swap(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    one, other = (_find(draft, id_, movable) for id_ in args)
    if one.id == other.id:
        raise Skipped(f"{one.id} is swapped with itself")
    _same_function(draft, one.id, other.id)
    draft.exchange(one.id, other.id)
    for instr in (one, other):
        draft.put(draft.repair_inputs(instr, *draft.position(instr.id), seed))
    for instr in (one, other):
        draft.repair_uses(instr.id, seed)


def operand(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    del seed  # the edit names its value: there is nothing to choose
    target, index, value = args
    instr = _find(draft, target, lambda instr: not alone(instr))
    if not index.isdecimal() or int(index) >= len(instr.operands):
        raise Skipped(f"{target} has no operand {index}")
    number = int(index)
    slot = instr.operands[number]
    if slot.fixed:
        raise Skipped(f"operand {index} of {target} must be the constant that it is")
    if value.startswith(CONSTANT):
        owner = draft.index.owner[draft.home(target)]
        text = value.removeprefix(CONSTANT)
        if text not in draft.index.constants_of(owner, slot.type):
            raise Skipped(f"{text} is no constant of type {slot.type} here")
    else:
        text = f"%{value}"
        if draft.type_of(value) != slot.type:
            raise Skipped(f"{value} is gone or not of type {slot.type}")
        if value == target or not draft.available(value, *draft.use_point(instr, number)):
            raise Skipped(f"{value} is not available at {target}")
    if slot.value == text:
        raise Skipped(f"operand {index} of {target} is {text} already")
    draft.put(instr.with_operand(number, text))


def _draw_pair(
    index: Index, sites: Sites, rng: np.random.Generator, second: Callable[[Instr], bool]
) -> tuple[str, ...] | None:
    first = sites.draw(rng, movable)
    if first is None:
        return None
    owner = index.owner[index.home[first]]
    other = sites.draw(rng, second, function=owner, other_than=first)
    return None if other is None else (first, other)


def _draw_one(index: Index, sites: Sites, rng: np.random.Generator) -> tuple[str, ...] | None:
    del index
    target = sites.draw(rng, deletable)
    return None if target is None else (target,)


def _draw_with_point(
    index: Index, sites: Sites, rng: np.random.Generator
) -> tuple[str, ...] | None:
    return _draw_pair(index, sites, rng, lambda instr: instr.opcode != "phi")


def _draw_with_instr(
    index: Index, sites: Sites, rng: np.random.Generator
) -> tuple[str, ...] | None:
    return _draw_pair(index, sites, rng, movable)


def _open_slots(instr: Instr) -> list[int]:
    return [] if alone(instr) else [i for i, o in enumerate(instr.operands) if not o.fixed]


def _draw_operand(index: Index, sites: Sites, rng: np.random.Generator) -> tuple[str, ...] | None:
    for _ in range(TRIES):
        target = sites.draw(rng, lambda instr: bool(_open_slots(instr)))
        if target is None:
            return None
        slots = _open_slots(index.instr[target])
        number = slots[int(rng.integers(len(slots)))]
        choices = _other_values(index, index.instr[target], number)
        if choices:
            return target, str(number), choices[int(rng.integers(len(choices)))]
    return None


def _other_values(index: Index, instr: Instr, number: int) -> list[str]:
    """What an operand could be instead, as arguments of an edit."""
    slot = instr.operands[number]
    draft = Draft(index)
    block, position = draft.use_point(instr, number)
    values = [
        value
        for value in draft.values(slot.type, block, position)
        if value not in {slot.local, instr.id}
    ]
    # A constant in a patch is one word, so vectors and expressions stay out of reach.
    constants = [
        CONSTANT + text
        for text in index.constants_of(index.owner[block], slot.type)
        if text != slot.value and not any(char in text for char in " ;#\t\n")
    ]
    return values + constants


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("copy", "copy {} before {}", _draw_with_point, copy),
        Kind("delete", "delete {}", _draw_one, delete),
        Kind("move", "move {} before {}", _draw_with_point, move),
        Kind("replace", "replace {} by {}", _draw_with_instr, replace),
        Kind("swap", "swap {} with {}", _draw_with_instr, swap),
        Kind("operand", "operand {1} of {0} becomes {2}", _draw_operand, operand),
    )
}


def apply_edit(draft: Draft, edit: Edit) -> None:
    """Change the draft as the edit says; raises `Skipped` if that is not possible here."""
    kind = KINDS.get(edit.kind)
    if kind is None:
        raise Skipped(f"kernels have no edit {edit.kind!r}")
    if len(edit.args) != kind.arity:
        raise Skipped(f"{edit.kind} takes {kind.arity} arguments, not {len(edit.args)}")
    kind.apply(draft, edit.args, edit.seed)
