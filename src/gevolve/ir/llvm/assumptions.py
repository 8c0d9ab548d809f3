"""Facts about numbers: how pointers are aligned, what divisors are, what the block size is."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.facts import add_attribute
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, facts

_DIVISIONS = frozenset({"udiv", "sdiv", "urem", "srem"})
_BITS = re.compile(r"i(32|64)")
_SIZE_READ = re.compile(r"@llvm\.nvvm\.read\.ptx\.sreg\.(ntid\.[xyz])\(")


@dataclass(frozen=True)
class Align(LlvmEdit):
    """A pointer argument is aligned to 16 bytes, as all memory that CUDA allocates is: neighbours load as vectors."""

    name = "align"
    argument: str

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        for number in sites.functions:
            function = sites.index.functions[number]
            for argument, kind in function.args:
                pointer = function.kernel and kind.startswith("ptr")
                if pointer and not _is_aligned(function.header, argument):
                    yield cls(argument)

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [cls.sweep(sites)]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        number = draft.index.function_of.get(self.argument)
        if number is not None and _is_aligned(draft.header(number), self.argument):
            raise Skipped(f"{self.argument} is aligned already")
        add_attribute(draft, self.argument, "align 16")

    def describe(self, show: Show) -> str:
        return f"take {show(self.argument)} as aligned to 16 bytes (__builtin_assume_aligned)"

    def rewrite(self, source: SourceDraft) -> str:
        return facts.aligned(source, self.argument)


@dataclass(frozen=True)
class Divisor(LlvmEdit):
    """The divisor of an integer division is a power of two, or its operands are not negative."""

    name = "divisor"
    division: str
    what: Literal["power", "positive"]

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        whats: tuple[Literal["power", "positive"], ...] = ("positive", "power")
        for what in whats:
            for instr in sites.hottest(_is_division):
                variable = instr.operands[1].local is not None
                if variable if what == "power" else instr.opcode in ("sdiv", "srem"):
                    yield cls(instr.id, what)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        instr = draft.find(self.division, _is_division)
        prefix = f"x{seed:x}.{self.division}.{self.what}"
        kind, divisor = instr.type, instr.operands[1]
        if self.what == "positive":
            if not instr.opcode.startswith("s"):
                raise Skipped(f"{self.division} takes its operands as positive already")
            opcode = {"sdiv": "udiv", "srem": "urem"}[instr.opcode]
            head = re.sub(rf"^{instr.opcode}\b", opcode, instr.parts[0])
            draft.put(instr._replace(opcode=opcode, parts=(head, *instr.parts[1:])))
            return
        if divisor.local is None or draft.get(f"{prefix}.bits") is not None:
            raise Skipped(f"the divisor of {self.division} is known already")
        draft.declare(f"llvm.ctpop.{kind}", f"declare {kind} @llvm.ctpop.{kind}({kind})")
        draft.declare("llvm.assume", "declare void @llvm.assume(i1)")
        bits, one = Operand(kind, f"%{prefix}.bits"), Operand("i1", f"%{prefix}.one")
        for new in (
            Instr(
                f"{prefix}.bits",
                "call",
                kind,
                (f"call {kind} @llvm.ctpop.{kind}({kind} ", ")"),
                (divisor,),
            ),
            Instr(f"{prefix}.one", "icmp", "i1", (f"icmp eq {kind} ", ", 1"), (bits,)),
            Instr(f"{prefix}.sure", "call", "void", ("call void @llvm.assume(i1 ", ")"), (one,)),
        ):
            draft.insert(new, *draft.position(self.division))

    def describe(self, show: Show) -> str:
        if self.what == "power":
            return f"take the divisor of {show(self.division)} as a power of two"
        return f"take the operands of {show(self.division)} as not negative (unsigned)"

    def rewrite(self, source: SourceDraft) -> str:
        form = facts.power_of_two if self.what == "power" else facts.unsigned_division
        return form(source, self.division)


@dataclass(frozen=True)
class BlockSize(LlvmEdit):
    """Blocks have so many threads, as they had in all launches that were seen."""

    name = "blocksize"
    read: str
    """The instruction that reads ``blockDim.x``, ``.y`` or ``.z``."""
    size: int

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        for instr in sites.hottest(_reads_size):
            size = sites.known(instr.id, _dimension(instr))
            if size is not None:
                yield cls(instr.id, size)

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [cls.sweep(sites)]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        instr = draft.find(self.read, _reads_size)
        if not 1 <= self.size <= 1024:
            raise Skipped(f"a block cannot have {self.size} threads")
        draft.replace_uses(instr.id, str(self.size))
        draft.remove(instr.id)

    def describe(self, show: Show) -> str:
        return f"take {show(self.read)} as {self.size}"

    def rewrite(self, source: SourceDraft) -> str:
        instr = source.index.instr.get(self.read)
        if instr is None or not _reads_size(instr):
            raise Skipped(f"{self.read} is gone")
        return facts.block_size(source, self.read, _dimension(instr)[-1], self.size)


def _is_aligned(header: str, argument: str) -> bool:
    return re.search(rf"\balign \d+ (?:\w+ )*%{argument}\b", header) is not None


def _is_division(instr: Instr) -> bool:
    return instr.opcode in _DIVISIONS and _BITS.fullmatch(instr.type) is not None


def _reads_size(instr: Instr) -> bool:
    return instr.opcode == "call" and _SIZE_READ.search(instr.parts[0]) is not None


def _dimension(instr: Instr) -> str:
    found = _SIZE_READ.search(instr.parts[0])
    assert found is not None
    return found[1]
