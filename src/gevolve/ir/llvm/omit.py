"""Terms and factors that are left out, with all that computes them: an approximation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.facts import latches
from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.model import TERMINATORS, Instr, Operand
from gevolve.ir.llvm.recurrence import head_of, is_fma, sums
from gevolve.ir.llvm.sites import LlvmSites

What = Literal["term", "factor"]
_DEAR = {"load": 8.0, "fdiv": 8.0, "frem": 16.0, "call": 4.0}
"""What operations cost beside a sum, roughly: it decides only what is tried first."""

MOST = 500
"""So many instructions are looked at to see what a term takes."""


@dataclass(frozen=True)
class Omit(LlvmEdit):
    """A sum leaves out a term, or a product a factor, as if they were 0 and 1."""

    name = "omit"
    loose = True
    target: str
    kept: int
    """The operand that is left; of a product and sum in one, 0 for the product and 2 for what is added to it."""
    what: What

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """First what saves most; nothing of a loop's own sums, of which no term is small."""
        draft = LlvmDraft(sites.index)
        own = {
            add.id
            for latch in latches(sites)
            if (head := head_of(draft, latch)) is not None
            for one in sums(draft, latch, head)
            for add, _ in one.terms
        }
        found = [
            (cls(instr.id, kept, what), _saved(sites, instr, kept))
            for instr in sites.hottest(lambda instr: instr.type in ("float", "double"))
            for kept, what in _choices(instr)
            if not (instr.id in own and what == "term")
        ]
        return (one for one, _ in sorted(found, key=lambda pair: -pair[1]))

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        instr = draft.find(self.target, lambda instr: bool(_choices(instr)))
        if (self.kept, self.what) not in _choices(instr):
            raise Skipped(f"{self.target} has no {self.what} to leave out beside {self.kept}")
        if is_fma(instr) and self.kept == 0:
            product = (f"fmul contract {instr.type} ", ", ", "")
            draft.put(Instr(instr.id, "fmul", instr.type, product, instr.operands[:2]))
            return
        kept = instr.operands[self.kept]
        if kept.local == self.target:
            raise Skipped(f"{self.target} is computed from itself")
        draft.replace_uses(self.target, kept.value)
        draft.remove(self.target)

    def describe(self, show: Show) -> str:
        return f"leave out a {self.what} of {show(self.target)}, and all that computes it"


def _choices(instr: Instr) -> list[tuple[int, What]]:
    """What may be left of an operation; no constant is left out, for that saves next to nothing."""
    if instr.type not in ("float", "double"):
        return []
    choices: dict[str, list[tuple[int, What]]] = {
        "fadd": [(0, "term"), (1, "term")],
        "fsub": [(0, "term")],
        "fmul": [(0, "factor"), (1, "factor")],
        "fdiv": [(0, "factor")],
    }
    fused: list[tuple[int, What]] = [(2, "term"), (0, "term")]
    found = fused if is_fma(instr) else choices.get(instr.opcode, [])
    return [(kept, what) for kept, what in found if any(o.local for o in _omitted(instr, kept))]


def _omitted(instr: Instr, kept: int) -> Iterator[Operand]:
    """The operands that an operation loses."""
    product = is_fma(instr) and kept == 0
    for number, operand in enumerate(instr.operands):
        if number == 2 if product else number != kept:
            yield operand


def _saved(sites: LlvmSites, instr: Instr, kept: int) -> float:
    """What is no longer computed without some operands of an instruction, by cost and how often it runs."""
    index = sites.index
    behind = _behind(index, [o.local for o in _omitted(instr, kept) if o.local])
    front = list(behind)
    while front:  # what something else uses, or what that is computed from, stays
        one = front.pop()
        if one not in behind or all(u in behind or u == instr.id for u in index.users.get(one, ())):
            continue
        behind.discard(one)
        front += [o.local for o in index.instr[one].operands if o.local]
    return sum(_cost(index, id_) * sites.heat(index.block_of[id_]) for id_ in behind)


def _behind(index: LlvmIndex, values: list[str]) -> set[str]:
    """All that some values are computed from, as far as it has no other effect."""
    found: set[str] = set()
    while values and len(found) < MOST:
        one = index.instr.get(values.pop())
        if one is not None and one.id not in found and _pure(one):
            found.add(one.id)
            values += [operand.local for operand in one.operands if operand.local]
    return found


def _cost(index: LlvmIndex, id_: str) -> float:
    return _DEAR.get(index.instr[id_].opcode, 1.0)


def _pure(instr: Instr) -> bool:
    """Whether an instruction is gone once nothing uses its value."""
    if instr.opcode == "call":
        return "@llvm." in instr.parts[0] and "convergent" not in instr.parts[-1]
    return instr.type != "void" and instr.opcode not in (
        *TERMINATORS,
        "alloca",
        "atomicrmw",
        "cmpxchg",
    )
