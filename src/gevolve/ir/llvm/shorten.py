"""Loops that end early: an approximation that costs nothing in the steps that are left."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit, insertion_point
from gevolve.ir.llvm.facts import latches
from gevolve.ir.llvm.loops import Loop, innermost
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.perforate import constant, steps
from gevolve.ir.llvm.recurrence import Sum, carried, head_of, sums
from gevolve.ir.llvm.sites import LlvmSites

_PARTS: tuple[Literal["2", "4", "8", "16", "32", "64", "128"], ...] = (
    "8",
    "64",
    "16",
    "128",
    "2",
    "32",
    "4",
)
"""The least steps that are left out are likeliest to pass, the most save most: tried in turns."""
_ZEROS = ("0.000000e+00", "-0.000000e+00")
_WAITS = ("eq", "ne")
"""Comparisons that wait for one number of a counter."""


class _End(NamedTuple):
    """Where a loop ends: a comparison of its counter with a number that it does not change."""

    compare: Instr
    operand: int
    """Which operand of the comparison is that number."""
    start: Operand
    by: Operand
    entry: str
    """The block before the loop."""


@dataclass(frozen=True)
class Shorten(LlvmEdit):
    """A loop leaves out the last n-th part of its steps; what it adds up is made larger in turn, if asked for."""

    name = "shorten"
    loose = True
    latch: str
    """The branch that goes back to the loop's first block."""
    part: Literal["2", "4", "8", "16", "32", "64", "128"]
    sums: Literal["scaled", "plain"]

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        draft = LlvmDraft(sites.index)
        loops = sorted(latches(sites), key=lambda latch: -sites.heat(sites.index.block_of[latch]))
        for part in _PARTS:
            for latch in loops:
                head = head_of(draft, latch)
                end = None if head is None else _end(draft, latch, head)
                if head is None or end is None or steps(sites, latch, head) < int(part):
                    continue  # it would say how long the loop runs here, and approximate nothing
                loop = _loop(draft, latch)
                some = any(_uses(draft, loop, one) for one in sums(draft, latch, head))
                yield cls(latch, part, "scaled" if some else "plain")

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        draft.find(self.latch, lambda instr: instr.opcode == "br")
        head = head_of(draft, self.latch)
        end = None if head is None else _end(draft, self.latch, head)
        prefix = f"x{seed:x}.{self.latch}"
        if head is None or end is None:
            raise Skipped(f"{self.latch} closes no loop that counts to a number known before it")
        if draft.get(f"{prefix}.end") is not None:
            raise Skipped(f"the loop of {self.latch} ends early already")
        found = list(sums(draft, self.latch, head)) if self.sums == "scaled" else []
        loop = _loop(draft, self.latch)
        uses = [(one, use) for one in found for use in _uses(draft, loop, one)]
        factor = _end_early(draft, end, int(self.part).bit_length() - 1, prefix)
        for one, use in uses:
            _scale(draft, loop, one, use, factor, prefix)

    def describe(self, show: Show) -> str:
        made_up = ", and make up for it in its sums" if self.sums == "scaled" else ""
        return (
            f"leave out the last of {self.part} parts of the steps of {show(self.latch)}{made_up}"
        )


def _loop(draft: LlvmDraft, latch: str) -> Loop:
    home = draft.block_of(latch)
    loop = innermost(draft.index.dominance[draft.index.function_of[home]], home)
    return loop or Loop(home, home, frozenset((home,)))


def _end(draft: LlvmDraft, latch: str, head: str) -> _End | None:
    """Where a loop ends, if it counts by the same number in every step."""
    blocks = _loop(draft, latch).blocks
    for phi, after in carried(draft, latch, head):
        entries = [number for number, block in enumerate(phi.blocks) if block not in blocks]
        if after.opcode != "add" or len(entries) != 1 or phi.type not in ("i32", "i64"):
            continue
        at = [number for number, operand in enumerate(after.operands) if operand.local == phi.id]
        entry = phi.blocks[entries[0]]
        start = phi.operands[entries[0]]
        if at not in ([0], [1]) or not _known(draft, after.operands[1 - at[0]], entry):
            continue
        by = after.operands[1 - at[0]]
        for id_ in dict.fromkeys((*draft.users(phi.id), *draft.users(after.id))):
            compare = draft.get(id_)
            if compare is None or not _leaves(draft, compare, blocks):
                continue
            number = 1 if compare.operands[0].local in (phi.id, after.id) else 0
            waits = compare.parts[0].split()[-2] in _WAITS
            if waits and _power(by) is None:
                continue  # it may step over the end
            if _known(draft, compare.operands[number], entry):
                return _End(compare, number, start, by, entry)
    return None


def _known(draft: LlvmDraft, value: Operand, block: str) -> bool:
    """Whether a value is known at the end of a block."""
    return value.local is None or draft.available(value.local, block, len(draft.body(block)))


def _leaves(draft: LlvmDraft, compare: Instr, blocks: frozenset[str]) -> bool:
    """Whether a comparison decides when a loop ends."""
    if compare.opcode != "icmp":
        return False
    users = (draft.get(user) for user in draft.users(compare.id))
    return any(
        user is not None
        and user.opcode == "br"
        and draft.block_of(user.id) in blocks
        and any(block not in blocks for block in user.blocks)
        for user in users
    )


def _power(by: Operand) -> int | None:
    """The size of a step, if it is a constant power of two."""
    text = by.value.removeprefix("-")
    size = int(text) if text.isdigit() else 0
    return size if size and not size & (size - 1) else None


class _Writer:
    """Inserts instructions one after another."""

    def __init__(self, draft: LlvmDraft, prefix: str, block: str, position: int) -> None:
        self._draft, self._prefix = draft, prefix
        self._block, self._position = block, position

    def add(self, name: str, opcode: str, kind: str, text: str, *operands: Operand) -> Operand:
        """Insert one; braces in its text stand for the operands."""
        made = Instr(f"{self._prefix}.{name}", opcode, kind, tuple(text.split("{}")), operands)
        self._draft.insert(made, self._block, self._position)
        self._position += 1
        return Operand(kind, f"%{made.id}")


def _end_early(draft: LlvmDraft, end: _End, shift: int, prefix: str) -> Operand:
    """Compare with a number that is nearer to the start by a part of the way; gives whole over way that is left."""
    kind, bound = end.start.type, end.compare.operands[end.operand]
    down, size = end.by.value.startswith("-"), _power(end.by)
    write = _Writer(draft, prefix, end.entry, len(draft.body(end.entry)) - 1)
    ends = (end.start, bound) if down else (bound, end.start)
    way = write.add("way", "sub", kind, f"sub {kind} {{}}, {{}}", *ends)
    less = write.add("less", "ashr", kind, f"ashr {kind} {{}}, {shift}", way)
    if size is not None and size > 1:  # whole steps
        less = write.add("whole", "and", kind, f"and {kind} {{}}, {-size}", less)
    opcode = "add" if down else "sub"
    new = write.add("end", opcode, kind, f"{opcode} {kind} {{}}, {{}}", bound, less)
    left = write.add("left", "sub", kind, f"sub {kind} {{}}, {{}}", way, less)
    some = write.add("some", "icmp", "i1", f"icmp sgt {kind} {{}}, 0", left)
    over = write.add("over", "sitofp", "float", f"sitofp {kind} {{}} to float", way)
    under = write.add("under", "sitofp", "float", f"sitofp {kind} {{}} to float", left)
    ratio = write.add("ratio", "fdiv", "float", "fdiv afn float {}, {}", over, under)
    one = constant("float", 1.0).value
    factor = write.add(
        "factor", "select", "float", f"select i1 {{}}, float {{}}, float {one}", some, ratio
    )
    draft.put(end.compare.with_operand(end.operand, new.value))
    return factor


def _start(loop: Loop, one: Sum) -> Operand | None:
    """What a sum begins with, if that is one value."""
    pairs = zip(one.phi.operands, one.phi.blocks, strict=True)
    found = [operand for operand, block in pairs if block not in loop.blocks]
    return found[0] if len(found) == 1 else None


class _Use(NamedTuple):
    """Where a sum is used when its loop is over."""

    user: str
    operand: int
    """-1 for a phi that takes it straight from the loop: it is then the phi that is made larger."""


def _place(draft: LlvmDraft, use: _Use) -> tuple[str, int]:
    """Where a sum can be made larger before it is used."""
    user = draft.get(use.user)
    assert user is not None
    if user.opcode != "phi":
        return draft.position(use.user)
    if use.operand < 0:
        return insertion_point(draft, use.user)
    block = user.blocks[use.operand]
    return block, len(draft.body(block)) - 1


def _uses(draft: LlvmDraft, loop: Loop, one: Sum) -> list[_Use]:
    """Where a sum is used when its loop is over; empty if it cannot be made larger at all of them."""
    start = _start(loop, one)
    if start is None:
        return []
    sum_ = {f"%{one.after.id}", f"%{one.phi.id}"}
    found: list[_Use] = []
    for id_ in dict.fromkeys((*draft.users(one.after.id), *draft.users(one.phi.id))):
        user = draft.get(id_)
        if user is None or draft.block_of(id_) in loop.blocks:
            continue
        straight = user.opcode == "phi" and not loop.blocks.isdisjoint(user.blocks)
        if straight and not {op.value for op in user.operands} <= {*sum_, start.value}:
            return []
        numbers = [number for number, op in enumerate(user.operands) if op.value in sum_]
        found += [_Use(id_, -1)] if straight else [_Use(id_, number) for number in numbers]
    places = (_place(draft, use) for use in found)
    known = start.local is None or all(draft.available(start.local, *place) for place in places)
    return found if known else []


def _scale(draft: LlvmDraft, loop: Loop, one: Sum, use: _Use, factor: Operand, prefix: str) -> None:
    """Make what a loop has added larger, where it is used: sum · f + start · (1 - f)."""
    user, start, kind = draft.get(use.user), _start(loop, one), one.phi.type
    assert user is not None
    assert start is not None
    users, name = draft.users(use.user), f"{prefix}.{use.user}.{max(use.operand, 0)}"
    value = Operand(kind, f"%{use.user}") if use.operand < 0 else user.operands[use.operand]
    if use.operand < 0:  # a path that goes round the loop has left nothing out
        factors = [
            factor.value if block in loop.blocks else constant("float", 1.0).value
            for block in user.blocks
        ]
        operands = tuple(Operand("float", text) for text in factors)
        joints = [f", %{block} ], [ " for block in user.blocks[:-1]]
        parts = ("phi float [ ", *joints, f", %{user.blocks[-1]} ]")
        phi = Instr(f"{name}.factor", "phi", "float", parts, operands, user.blocks)
        draft.insert(phi, draft.block_of(use.user), 0)
        factor = Operand("float", f"%{phi.id}")
    write = _Writer(draft, name, *_place(draft, use))
    if kind == "double":
        factor = write.add("wide", "fpext", kind, "fpext float {} to double", factor)
    made = write.add("more", "fmul", kind, f"fmul contract {kind} {{}}, {{}}", value, factor)
    if start.value not in _ZEROS:
        unit = constant(kind, 1.0)
        rest = write.add("rest", "fsub", kind, f"fsub contract {kind} {{}}, {{}}", unit, factor)
        own = write.add("own", "fmul", kind, f"fmul contract {kind} {{}}, {{}}", start, rest)
        made = write.add("sum", "fadd", kind, f"fadd contract {kind} {{}}, {{}}", made, own)
    if use.operand >= 0:
        draft.put(user.with_operand(use.operand, made.value))
        return
    for id_ in users:
        instr = draft.get(id_)
        assert instr is not None
        for number, operand in enumerate(instr.operands):
            if operand.local == use.user:
                instr = instr.with_operand(number, made.value)
        draft.put(instr)
