"""Terms and factors that are left out, with all that computes them: an approximation."""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
FLOATS = ("float", "double")
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
        own = _own_sums(sites)
        found = [
            (cls(instr.id, kept, what), saved(sites, [(instr, kept)]))
            for instr in sites.hottest(lambda instr: instr.type in FLOATS)
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


@dataclass(frozen=True)
class Ignore(LlvmEdit):
    """A value is left out wherever it is a term, or wherever it is a factor: in a loop that was unrolled, say."""

    name = "ignore"
    loose = True
    value: str
    what: What

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """First what saves most, of values that are used several times and for nothing else."""
        index, own = sites.index, _own_sums(sites)
        values = [instr.id for instr in sites.hottest(lambda instr: instr.type in FLOATS)]
        for number in sites.functions:
            values += [arg for kind in FLOATS for arg in index.args[number].get(kind, ())]
        kinds: tuple[What, ...] = ("term", "factor")
        found: list[tuple[float, Self]] = []
        for value in values:
            for what in kinds:
                uses = _uses(index.instr.get, index.users.get(value, ()), value, what)
                if len(uses) > 1 and not (what == "term" and any(one.id in own for one, _ in uses)):
                    found.append((saved(sites, uses), cls(value, what)))
        return (one for _, one in sorted(found, key=lambda pair: -pair[0]))

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        uses = _uses(draft.get, draft.users(self.value), self.value, self.what)
        if not uses:
            raise Skipped(f"{self.value} is used for more than as a {self.what}")
        for instr, kept in uses:
            Omit(instr.id, kept, self.what).apply(draft, seed)

    def describe(self, show: Show) -> str:
        return f"leave out {show(self.value)} wherever it is a {self.what}"


def _uses(
    get: Callable[[str], Instr | None], users: Iterable[str], value: str, what: What
) -> list[tuple[Instr, int]]:
    """The operations in which a value can be left out, and what is left of each; empty if it is used otherwise, too."""
    found: list[tuple[Instr, int]] = []
    for user in users:
        instr = get(user)
        options = [] if instr is None else [kept for kept, how in _choices(instr) if how == what]
        fits = [k for k in options if instr and [o.local for o in _omitted(instr, k)] == [value]]
        if instr is None or not fits or instr.operands[fits[0]].local == value:
            return []
        found.append((instr, fits[0]))
    return found


def _own_sums(sites: LlvmSites) -> set[str]:
    """The additions of loops to what they add up."""
    draft = LlvmDraft(sites.index)
    return {
        add.id
        for latch in latches(sites)
        if (head := head_of(draft, latch)) is not None
        for one in sums(draft, latch, head)
        for add, _ in one.terms
    }


def _choices(instr: Instr) -> list[tuple[int, What]]:
    """What may be left of an operation; no constant is left out, for that saves next to nothing."""
    if instr.type not in FLOATS:
        return []
    choices: dict[str, list[tuple[int, What]]] = {
        "fadd": [(0, "term"), (1, "term")],
        "fsub": [(0, "term")],
        "fmul": [(0, "factor"), (1, "factor")],
        "fdiv": [(0, "factor")],
    }
    fused: list[tuple[int, What]] = [(2, "term"), (0, "term")]
    found = fused if is_fma(instr) else choices.get(instr.opcode, [])
    written = len(instr.operands)  # a constant may be part of the text instead
    return [
        (kept, what)
        for kept, what in found
        if kept < written and any(o.local for o in _omitted(instr, kept))
    ]


def _omitted(instr: Instr, kept: int) -> Iterator[Operand]:
    """The operands that an operation loses."""
    product = is_fma(instr) and kept == 0
    for number, operand in enumerate(instr.operands):
        if number == 2 if product else number != kept:
            yield operand


def saved(sites: LlvmSites, uses: Sequence[tuple[Instr, int]]) -> float:
    """What is not computed any more if so much is left of some operations, by cost and how often it runs."""
    index = sites.index
    changed = {instr.id for instr, _ in uses}
    omitted = (one.local for instr, kept in uses for one in _omitted(instr, kept))
    behind = _behind(index, [local for local in omitted if local])
    front = list(behind)
    while front:  # what something else uses, or what that is computed from, stays
        one = front.pop()
        users = index.users.get(one, ())
        if one not in behind or all(user in behind or user in changed for user in users):
            continue
        behind.discard(one)
        front += [operand.local for operand in index.instr[one].operands if operand.local]
    gone = behind | {instr.id for instr, kept in uses if not (is_fma(instr) and kept == 0)}
    return sum(_cost(index, id_) * sites.heat(index.block_of[id_]) for id_ in gone)


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
