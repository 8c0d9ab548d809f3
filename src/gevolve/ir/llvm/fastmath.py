"""All floats of a kernel computed as ``--use_fast_math`` does: an approximation, whatever the cases show.

`rounding.Relax` relaxes one operation, which is exact within rounding more often than not. What only the whole gives is
sums and products regrouped across many operations, no care for what is not finite, and no numbers below 1.2e-38: an
approximate division, root or exponential is one instruction of the hardware that cannot take such numbers, with others
around it that make them larger and the result smaller again.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.cursor import split_after_parameters
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.rounding import FLAGS
from gevolve.ir.llvm.sites import LlvmSites

How = Literal["all", "ordered", "flush"]
_FLUSHED = '"denormal-fp-math-f32"="preserve-sign,preserve-sign"'
_ARITHMETIC = frozenset({"fadd", "fsub", "fmul", "fdiv", "frem", "fneg"})
_HEAD = re.compile(
    r"((?:tail |notail )?(?:call|fadd|fsub|fmul|fdiv|frem|fneg)) "
    rf"((?:(?:{'|'.join(FLAGS)}|fast) )*)"
)


@dataclass(frozen=True)
class FastMath(LlvmEdit):
    """One kernel computes with fast maths, all of it, or without regrouping, or it counts tiny floats as zero."""

    name = "fastmath"
    last = True
    loose = True
    kernel: str
    """The kernel's first block."""
    how: How

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """Those kernels first that compute most with floats."""
        index = sites.index
        work: dict[int, float] = {}
        for instr in sites.hottest(_is_float):
            block = index.block_of[instr.id]
            number = index.function_of[block]
            work[number] = work.get(number, 0.0) + sites.heat(block)
        kernels = [number for number in work if index.functions[number].kernel]
        kernels.sort(key=lambda number: -work[number])
        hows: tuple[How, ...] = ("all", "ordered", "flush")
        return (cls(index.functions[n].blocks[0].id, how) for how in hows for n in kernels)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        number = draft.index.function_of.get(self.kernel)
        if number is None or not draft.index.functions[number].kernel:
            raise Skipped(f"{self.kernel} is no kernel")
        header = draft.header(number)
        flushed = "denormal-fp-math-f32" in header
        if self.how == "flush" and flushed:
            raise Skipped("the kernel counts such numbers as zero already")
        if not flushed:
            before, after = split_after_parameters(header)
            draft.set_header(number, f"{before} {_FLUSHED}{after}")
        if self.how == "flush":
            return
        for block in draft.index.functions[number].blocks:
            for id_ in draft.body(block.id):
                instr = draft.get(id_)
                if instr is not None and _is_float(instr):
                    draft.put(self._relaxed(instr))

    def _relaxed(self, instr: Instr) -> Instr:
        """An operation with the flags that it is to have besides its own."""
        match = _HEAD.match(instr.parts[0])
        assert match is not None
        has = set(match[2].split())
        if "fast" in has:
            return instr
        flags = [flag for flag in FLAGS if flag in has or flag != "reassoc"]
        words = "fast" if self.how == "all" or "reassoc" in has else " ".join(flags)
        head = f"{match[1]} {words} {instr.parts[0][match.end() :]}"
        return instr._replace(parts=(head, *instr.parts[1:]))

    def describe(self, show: Show) -> str:
        how = {
            "all": "use fast maths everywhere in {} (--use_fast_math)",
            "ordered": "use fast maths everywhere in {}, with sums in their order",
            "flush": "take floats below 1.2e-38 as zero in {} (-ftz=true)",
        }
        return how[self.how].format(show(self.kernel))


def _is_float(instr: Instr) -> bool:
    """Whether an operation on floats may have flags."""
    if instr.opcode == "call":
        return instr.type in ("float", "double") and "@llvm." in instr.parts[0]
    return instr.opcode in _ARITHMETIC
