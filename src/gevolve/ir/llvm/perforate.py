"""Loops that leave out some of their steps: an approximation."""

import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.facts import latches
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.recurrence import carried, head_of, sums
from gevolve.ir.llvm.sites import LlvmSites

_EXITS = {"eq": ("sge", "sle"), "ne": ("slt", "sgt")}
"""How a loop that counts up, or down, by larger steps must compare, for it may step over the end."""


class _Counter(NamedTuple):
    """What grows by a constant in every step of a loop."""

    phi: Instr
    step: Instr
    operand: int
    by: int


@dataclass(frozen=True)
class Perforate(LlvmEdit):
    """A loop leaves out every n-th step; what it adds up is made larger in turn, if asked for."""

    name = "perforate"
    loose = True
    latch: str
    """The branch that goes back to the loop's first block."""
    every: Literal["2", "4", "8"]
    sums: Literal["scaled", "plain"]

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        draft = LlvmDraft(sites.index)
        loops = sorted(latches(sites), key=lambda latch: -sites.heat(sites.index.block_of[latch]))
        numbers: tuple[Literal["2", "4", "8"], ...] = ("8", "2", "4")
        for every in numbers:
            for latch in loops:
                head = head_of(draft, latch)
                counters = [] if head is None else list(_counters(draft, latch, head))
                if head is None or not counters or (every != "2" and not _has_phase(counters[0])):
                    continue
                if steps(sites, latch, head) < int(every):
                    continue  # it would say how long the loop runs here, and approximate nothing
                yield cls(latch, every, "scaled" if any(sums(draft, latch, head)) else "plain")

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        draft.find(self.latch, lambda instr: instr.opcode == "br")
        head = head_of(draft, self.latch)
        counters = [] if head is None else list(_counters(draft, self.latch, head))
        if head is None or not counters:
            raise Skipped(f"{self.latch} closes no loop that counts")
        every, prefix = int(self.every), f"x{seed:x}.{self.latch}"
        if draft.get(f"{prefix}.0") is not None or draft.get(f"{prefix}.last") is not None:
            raise Skipped(f"the loop of {self.latch} leaves out steps already")
        if every > 2:
            self._mark_last(draft, head, counters[0], prefix)
        for number, one in enumerate(counters):
            current = draft.get(one.step.id)
            assert current is not None
            text = str(2 * one.by)
            if every > 2:
                kind = one.step.operands[one.operand].type
                parts = ("select i1 ", f", {kind} {2 * one.by}, {kind} {one.by}")
                last = Operand("i1", f"%{prefix}.last")
                self._first(
                    draft, head, Instr(f"{prefix}.{number}", "select", kind, parts, (last,))
                )
                text = f"%{prefix}.{number}"
            head_text = current.parts[0].replace("nuw ", "").replace("nsw ", "")
            current = current._replace(parts=(head_text, *current.parts[1:]))
            draft.put(current.with_operand(one.operand, text))
        self._loosen_exits(draft, counters)
        if self.sums == "scaled":
            found = [term for one in sums(draft, self.latch, head) for term in one.terms]
            for number, (add, operand) in enumerate(found):
                _scale(draft, add, operand, every / (every - 1), f"{prefix}.sum{number}")

    def describe(self, show: Show) -> str:
        sums = ", and make up for it in its sums" if self.sums == "scaled" else ""
        return f"leave out one in {self.every} steps of {show(self.latch)}{sums}"

    def _mark_last(self, draft: LlvmDraft, head: str, counter: _Counter, prefix: str) -> None:
        """Find out, from the first counter, whether the next step is one to be left out."""
        kind, by, every = counter.phi.type, abs(counter.by), int(self.every)
        if not _has_phase(counter):
            raise Skipped(f"{counter.phi.id} does not count plainly")
        phase = Operand(kind, f"%{prefix}.phase")
        compare = Instr(
            f"{prefix}.last", "icmp", "i1", (f"icmp eq {kind} ", f", {(every - 2) * by}"), (phase,)
        )
        self._first(draft, head, compare)
        mask = Instr(
            f"{prefix}.phase", "and", kind, (f"and {kind} ", f", {(every - 1) * by}"),
            (Operand(kind, f"%{counter.phi.id}"),),
        )  # fmt: skip
        self._first(draft, head, mask)

    def _first(self, draft: LlvmDraft, block: str, instr: Instr) -> None:
        """Insert after the phis of a block, and after what selections need."""
        body = draft.body(block)
        at = next(
            i for i, id_ in enumerate(body) if (one := draft.get(id_)) and one.opcode != "phi"
        )
        while instr.opcode == "select" and body[at] != instr.operands[0].local:
            at += 1
        draft.insert(instr, block, at + (instr.opcode == "select"))

    def _loosen_exits(self, draft: LlvmDraft, counters: list[_Counter]) -> None:
        """Let branches that wait for one number of a counter go on from there on."""
        for one in counters:
            for user in dict.fromkeys((*draft.users(one.phi.id), *draft.users(one.step.id))):
                compare = draft.get(user)
                if compare is None or not _decides(draft, compare):
                    continue
                predicate = compare.parts[0].split()[-2]
                if predicate in _EXITS and compare.operands[0].local in (one.phi.id, one.step.id):
                    new = _EXITS[predicate][one.by < 0]
                    new = f"u{new[1:]}" if one.phi.type == "ptr" else new
                    text = compare.parts[0].replace(f" {predicate} ", f" {new} ")
                    draft.put(compare._replace(parts=(text, *compare.parts[1:])))


def steps(sites: LlvmSites, latch: str, head: str) -> float:
    """How many steps a loop takes on average, as far as the profile tells."""
    home = sites.index.block_of[latch]
    phi = sites.index.instr[sites.index.body[head][0]]
    entries = sum(sites.heat(block) for block in phi.blocks if block != home)
    return sites.heat(head) / entries if sites.profiled and entries else math.inf


def _has_phase(counter: _Counter) -> bool:
    """Whether some bits of a counter tell the steps apart."""
    by = abs(counter.by)
    return counter.phi.type.startswith("i") and by > 0 and not by & (by - 1)


def _decides(draft: LlvmDraft, compare: Instr) -> bool:
    users = (draft.get(user) for user in draft.users(compare.id))
    return compare.opcode == "icmp" and any(u is not None and u.opcode == "br" for u in users)


def _counters(draft: LlvmDraft, latch: str, head: str) -> Iterator[_Counter]:
    found: list[_Counter] = []
    for phi, after in carried(draft, latch, head):
        if after.opcode not in ("add", "getelementptr") or len(after.operands) != 2:
            continue
        base, by = after.operands
        if base.local == phi.id and by.local is None and by.value.lstrip("-").isdigit():
            found.append(_Counter(phi, after, 1, int(by.value)))
    yield from sorted(found, key=lambda one: one.phi.type == "ptr")


def _scale(draft: LlvmDraft, add: Instr, number: int, factor: float, name: str) -> None:
    kind, operand = add.type, add.operands[number]
    parts = (f"fmul {kind} ", f", {constant(kind, factor).value}")
    product = Instr(name, "fmul", kind, parts, (operand,))
    draft.insert(product, *draft.position(add.id))
    current = draft.get(add.id)
    assert current is not None
    draft.put(current.with_operand(number, f"%{name}"))


def constant(kind: str, number: float) -> Operand:
    """A number as LLVM prints it, rounded to its type."""
    rounded = float(np.float32(number)) if kind == "float" else number
    return Operand(kind, f"0x{struct.unpack('>Q', struct.pack('>d', rounded))[0]:016X}")
