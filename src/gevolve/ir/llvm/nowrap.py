"""A fact about whole numbers: a sum or product in the computation of an address does not wrap round.

C++ promises that for numbers with a sign. Those of ``threadIdx`` and its kin have none, so the compiler
must keep each step in 32 bits where an address has 64. Whether a number wrapped is counted when the
unedited program is profiled: what is known to be false is not proposed.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, facts

How = Literal["signed", "unsigned"]

_ARITHMETIC = frozenset({"add", "sub", "mul", "shl"})
_PASSED_ON = frozenset({*_ARITHMETIC, "phi", "select", "or"})
"""What hands a number on to the address that is computed from it."""
_FLAGS = re.compile(r"(add|sub|mul|shl) ((?:nuw |nsw )*)")
_FLAG: dict[How, str] = {"signed": "nsw", "unsigned": "nuw"}
_WIDEN: dict[How, str] = {"signed": "sext", "unsigned": "zext"}
_MOST_WATCHED = 256
"""So many operations are watched while a program is profiled."""


@dataclass(frozen=True)
class NoWrap(LlvmEdit):
    """A sum, difference, product or shift does not wrap round, as a number with a sign or as one without."""

    name = "nowrap"
    value: str
    how: How

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """All that lead to an address and did not wrap when they were watched, those with a sign first."""
        addressed = set(_addressed(sites.index))
        found = sites.hottest(lambda instr: instr.id in addressed)
        hows: tuple[How, ...] = ("signed", "unsigned")
        for how in hows:
            for instr in found:
                if _FLAG[how] not in _flags(instr) and not sites.happened(_event(instr.id, how)):
                    yield cls(instr.id, how)

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [[edit for edit in cls.sweep(sites) if edit.how == "signed"]]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        instr = draft.find(self.value, _may_wrap)
        has = _flags(instr)
        if _FLAG[self.how] in has:
            raise Skipped(f"{self.value} is known not to wrap already")
        flags = [flag for flag in ("nuw", "nsw") if flag in has or flag == _FLAG[self.how]]
        head = _FLAGS.sub(rf"\1 {' '.join(flags)} ", instr.parts[0], count=1)
        draft.put(instr._replace(parts=(head, *instr.parts[1:])))

    def describe(self, show: Show) -> str:
        sign = "" if self.how == "signed" else " and is not negative"
        return f"take it that {show(self.value)} does not wrap round{sign}"

    def rewrite(self, source: SourceDraft) -> str:
        form = facts.signed_operation if self.how == "signed" else facts.unsigned_operation
        return form(source, self.value)


def watched(index: LlvmIndex) -> Iterator[str]:
    """The operations that are worth watching for whether they wrap."""
    found = (id_ for id_ in _addressed(index) if len(_flags(index.instr[id_])) < len(_FLAG))
    yield from islice(found, _MOST_WATCHED)


def watch(instr: Instr) -> list[str]:
    """Lines after an operation that count how often it wraps, by functions that `watchers` defines."""
    lines: list[str] = []
    for how, widen in _WIDEN.items():
        if _FLAG[how] in _flags(instr):
            continue
        name = f"%gevolve.{_event(instr.id, how)}"
        wide = [(f"{name}.{n}", one.value) for n, one in enumerate(instr.operands)]
        texts = [f"  {new} = {widen} i32 {old} to i64" for new, old in wide]
        operands = instr.operands
        if instr.opcode == "shl":  # how far is no number with a sign
            texts[1] = f"  {wide[1][0]} = zext i32 {operands[1].value} to i64"
        lines += [
            *texts,
            f"  {name}.whole = {instr.opcode} i64 {wide[0][0]}, {wide[1][0]}",
            f"  {name}.kept = {widen} i32 %{instr.id} to i64",
            f"  {name}.wraps = icmp ne i64 {name}.whole, {name}.kept",
            f"  call void @gevolve.{_event(instr.id, how)}(i1 {name}.wraps)",
        ]
    return lines


def watchers(instrs: Iterable[Instr]) -> str:
    """The functions that count, for the end of a module."""
    events = [
        _event(one.id, how) for one in instrs for how in _FLAG if _FLAG[how] not in _flags(one)
    ]
    return "".join(
        f"""define internal void @gevolve.{event}(i1 %wraps) alwaysinline {{
  br i1 %wraps, label %count, label %end
count:
  call void asm sideeffect "gevolve.mark {event};", ""()
  br label %end
end:
  ret void
}}
"""
        for event in events
    )


def _event(id_: str, how: How) -> str:
    return f"wrapped.{id_}.{how}"


def _may_wrap(instr: Instr) -> bool:
    return instr.opcode in _ARITHMETIC and instr.type == "i32"


def _flags(instr: Instr) -> list[str]:
    found = _FLAGS.match(instr.parts[0])
    return found[2].split() if found else []


def _addressed(index: LlvmIndex) -> Iterator[str]:
    """The operations whose result an address of 64 bits is computed from."""
    seen: set[str] = set()
    front = [
        operand.local
        for instr in index.instr.values()
        if instr.opcode == "getelementptr"
        or (instr.opcode in ("sext", "zext") and instr.type == "i64")
        for operand in instr.operands
    ]
    while front:
        id_ = front.pop()
        instr = index.instr.get(id_ or "")
        if instr is not None and instr.id not in seen and instr.opcode in _PASSED_ON:
            seen.add(instr.id)
            front += [operand.local for operand in instr.operands]
    yield from (id_ for id_, instr in index.instr.items() if id_ in seen and _may_wrap(instr))
