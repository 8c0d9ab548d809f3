"""Facts: edits that tell the compiler something that it cannot see for itself.

A fact changes nothing by itself; the optimiser and the assembler make use of it. If it is false, the
output is wrong or a check fails, and the variant is rejected like any other.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.addresses import is_global
from gevolve.ir.llvm.cursor import split_after_parameters
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, forms

_LOOP = re.compile(r", !llvm\.loop !\d+")


@dataclass(frozen=True)
class NoAlias(LlvmEdit):
    """What a pointer argument points to is reached through no other pointer: ``__restrict__``."""

    name = "noalias"
    argument: str

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        for number in sites.functions:
            function = sites.index.functions[number]
            for argument, kind in function.args:
                if kind.startswith("ptr") and not _has(function.header, argument, "noalias"):
                    yield cls(argument)

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [cls.sweep(sites)]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        add_attribute(draft, self.argument, "noalias")

    def describe(self, show: Show) -> str:
        return f"declare {show(self.argument)} as __restrict__"

    def rewrite(self, source: SourceDraft) -> str:
        return forms.restrict(source, self.argument)


@dataclass(frozen=True)
class Invariant(LlvmEdit):
    """A load reads memory that the kernel never writes: a read-only load."""

    name = "invariant"
    load: str

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        get = sites.index.instr.get
        load = sites.draw(rng, lambda instr: _may_be_invariant(instr) and is_global(get, instr))
        return None if load is None else cls(load)

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        loads = sites.hottest(_may_be_invariant)
        return (cls(load.id) for load in loads if is_global(sites.index.instr.get, load))

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [cls.sweep(sites)]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        instr = draft.find(self.load, _may_be_invariant)
        if not is_global(draft.get, instr):
            raise Skipped(f"{self.load} reads no global memory")
        *first, last = instr.parts
        draft.put(instr._replace(parts=(*first, f"{last}, !invariant.load !{{}}")))

    def describe(self, show: Show) -> str:
        return f"let {show(self.load)} go through the read-only cache (__ldg)"

    def rewrite(self, source: SourceDraft) -> str:
        return forms.read_only(source, self.load)


@dataclass(frozen=True)
class Unroll(LlvmEdit):
    """A loop is unrolled so many times, wholly, or not at all."""

    name = "unroll"
    latch: str
    """The branch that goes back to the loop's first block."""
    count: Literal["none", "full", "2", "4", "8", "16"]

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        loops = sorted(latches(sites), key=lambda latch: -sites.heat(sites.index.block_of[latch]))
        counts: tuple[Literal["none", "full", "2", "4", "8"], ...] = ("4", "none", "2", "8", "full")
        return (cls(latch, count) for latch in loops for count in counts)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        instr = draft.find(self.latch, lambda instr: instr.opcode == "br")
        hint = {
            "none": '!{!"llvm.loop.unroll.disable"}',
            "full": '!{!"llvm.loop.unroll.full"}',
        }.get(self.count, f'!{{!"llvm.loop.unroll.count", i32 {self.count}}}')
        node = draft.add_loop_node(hint)
        *first, last = instr.parts
        last = _LOOP.sub("", last)
        draft.put(instr._replace(parts=(*first, f"{last}, !llvm.loop {node}")))

    def describe(self, show: Show) -> str:
        return f"{self.pragma} at {show(self.latch)}"

    @property
    def pragma(self) -> str:
        """What says the same in the source."""
        return {"none": "#pragma unroll 1", "full": "#pragma unroll"}.get(
            self.count, f"#pragma unroll {self.count}"
        )

    def rewrite(self, source: SourceDraft) -> str:
        return forms.unroll(source, self.latch, self.pragma)


@dataclass(frozen=True)
class Registers(LlvmEdit):
    """A kernel's threads get at most so many registers, so that more of them fit at once."""

    name = "registers"
    kernel: str
    """The kernel's first block."""
    most: int

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        for number in sites.functions:
            function = sites.index.functions[number]
            if function.kernel:
                yield from (cls(function.blocks[0].id, most) for most in (32, 40, 64, 24))

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        number = draft.index.function_of.get(self.kernel)
        if number is None or not draft.index.functions[number].kernel:
            raise Skipped(f"{self.kernel} is no kernel")
        if not 16 <= self.most <= 255:
            raise Skipped(f"a thread cannot have {self.most} registers")
        header = draft.header(number)
        if "nvvm.maxnreg" in header:
            raise Skipped("the kernel has a limit already")
        before, after = split_after_parameters(header)
        draft.set_header(number, f'{before} "nvvm.maxnreg"="{self.most}"{after}')

    def describe(self, show: Show) -> str:
        return f"limit {show(self.kernel)} to {self.most} registers (__maxnreg__)"

    def rewrite(self, source: SourceDraft) -> str:
        return forms.registers(source, self.kernel, self.most)


def add_attribute(draft: LlvmDraft, argument: str, attribute: str) -> None:
    """Give an argument an attribute; raises `Skipped` if it is none, or has it."""
    if argument not in draft.index.arg_type:
        raise Skipped(f"{argument} is no argument")
    number = draft.index.function_of[argument]
    header = draft.header(number)
    if not draft.index.arg_type[argument].startswith("ptr"):
        raise Skipped(f"{argument} is no pointer")
    if _has(header, argument, attribute):
        raise Skipped(f"{argument} is {attribute} already")
    draft.set_header(
        number, re.sub(rf" %{argument}\b", f" {attribute} %{argument}", header, count=1)
    )


def _has(header: str, argument: str, attribute: str) -> bool:
    before = header[: re.search(rf" %{argument}\b", header).start()]  # pyright: ignore[reportOptionalMemberAccess]  (every argument is in its header)
    return attribute in re.split(r"[,(] *(?=ptr)", before)[-1].split()


def _may_be_invariant(instr: Instr) -> bool:
    head = instr.parts[0]
    return (
        instr.opcode == "load"
        and not head.startswith(("load volatile", "load atomic"))
        and "invariant.load" not in instr.parts[-1]
    )


def latches(sites: LlvmSites) -> Iterator[str]:
    """The branches that close a loop."""
    for number in sites.functions:
        dominance = sites.index.dominance[number]
        for block in sites.index.functions[number].blocks:
            last = block.body[-1]
            back = any(dominance.dominates(head, block.id) for head in last.blocks)
            if last.opcode == "br" and dominance.reachable(block.id) and back:
                yield last.id
