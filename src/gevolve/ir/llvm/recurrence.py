"""What a loop carries from step to step: its counters, and what it adds up."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.model import Instr, Operand

Get = Callable[[str], Instr | None]
MOST_TERMS = 64
"""So many terms of one step are looked through to see that they all go to one sum."""


class Sum(NamedTuple):
    """What a loop adds to in every step."""

    phi: Instr
    after: Instr
    """Its value after a step."""
    terms: tuple[tuple[Instr, int], ...]
    """The additions of a step, the last first, each with the operand that is added."""


def head_of(draft: LlvmDraft, latch: str) -> str | None:
    """The first block of the loop that a branch closes; None if it closes none."""
    instr = draft.get(latch)
    if instr is None or instr.opcode != "br":
        return None
    home = draft.block_of(latch)
    dominance = draft.index.dominance[draft.index.function_of[home]]
    return next((b for b in instr.blocks if dominance.dominates(b, home)), None)


def carried(draft: LlvmDraft, latch: str, head: str) -> Iterator[tuple[Instr, Instr]]:
    """The phis of a loop, with what computes their next values."""
    home = draft.block_of(latch)
    for id_ in draft.body(head):
        phi = draft.get(id_)
        if phi is None or phi.opcode != "phi" or home not in phi.blocks:
            continue
        after = draft.get(phi.operands[phi.blocks.index(home)].local or "")
        if after is not None:
            yield phi, after


def sums(draft: LlvmDraft, latch: str, head: str) -> Iterator[Sum]:
    """The sums of a loop; one that unrolling left with several terms a step is one, too."""
    for phi, after in carried(draft, latch, head):
        terms = _terms(draft.get, phi, after) if phi.type in ("float", "double") else None
        if terms:
            yield Sum(phi, after, terms)


def _terms(get: Get, phi: Instr, after: Instr) -> tuple[tuple[Instr, int], ...] | None:
    """The additions that lead from a phi to its next value, if nothing else does."""
    found: list[tuple[Instr, int]] = []
    at: Instr | None = after
    while at is not None and at.id != phi.id and len(found) < MOST_TERMS:
        step = _step(get, at, phi)
        if step is None:
            return None
        term, rest = step
        found.append((at, term))
        at = get(at.operands[rest].local or "")
    return tuple(found) if at is not None and at.id == phi.id else None


def _step(get: Get, add: Instr, phi: Instr) -> tuple[int, int] | None:
    """Of an addition the operand that is a term, and the one that is the sum so far."""
    if is_fma(add):
        return 0, 2
    if add.opcode not in ("fadd", "fsub"):
        return None
    for rest in (0, 1)[: len(_summed(add))]:
        other = get(add.operands[rest].local or "")
        if other is not None and (other.id == phi.id or _leads_to(get, other, phi)):
            return 1 - rest, rest
    return None


def _leads_to(get: Get, value: Instr, phi: Instr) -> bool:
    """Whether a value is the sum that a phi began, some terms later."""
    front, seen = [value], set[str]()
    while front and len(seen) < MOST_TERMS:
        one = front.pop()
        if one.id == phi.id:
            return True
        if one.id not in seen:
            seen.add(one.id)
            values = (get(part.local or "") for part in _summed(one))
            front += [other for other in values if other is not None]
    return False


def _summed(instr: Instr) -> tuple[Operand, ...]:
    """The operands of an addition that may be the sum so far."""
    if is_fma(instr):
        return instr.operands[2:]
    return instr.operands[: {"fadd": 2, "fsub": 1}.get(instr.opcode, 0)]


def is_fma(instr: Instr) -> bool:
    """Whether an instruction is a product and a sum in one."""
    return instr.opcode == "call" and "@llvm.fm" in instr.parts[0] and len(instr.operands) == 3
