"""Edits that change how results are rounded: approximate instructions, floats for doubles.

They are exact only within the rounding that a workload allows.
"""

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr, Operand
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, forms

FLAGS = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")
"""LLVM's fast-math flags, in the order in which it prints them."""
_ARITHMETIC = frozenset({"fadd", "fsub", "fmul", "fdiv", "frem", "fneg"})
_HEAD = re.compile(
    r"((?:tail |notail )?(?:call|fadd|fsub|fmul|fdiv|frem|fneg)) "
    rf"((?:(?:{'|'.join(FLAGS)}|fast) )*)"
)
_NARROW_CALLS = re.compile(
    r"@llvm\.(sqrt|fabs|fma|fmuladd|minnum|maxnum|minimumnum|maximumnum|floor|ceil|trunc|rint"
    r"|nearbyint|round|roundeven|copysign|canonicalize)\.f64\("
)


@dataclass(frozen=True)
class Relax(LlvmEdit):
    """One operation may be rounded more loosely: approximated, regrouped, or without special values."""

    name = "relax"
    target: str
    how: Literal["afn", "arcp", "reassoc", "fast"]

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        target = sites.draw(rng, _has_flags)
        how: tuple[Literal["afn", "arcp", "reassoc", "fast"], ...] = (
            "afn",
            "arcp",
            "reassoc",
            "fast",
        )
        return None if target is None else cls(target, how[int(rng.integers(len(how)))])

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """Divisions and roots first, since the approximate ones are far cheaper; then sums."""
        costly = [cls(instr.id, "afn") for instr in sites.hottest(_is_costly)]
        costly += [cls(instr.id, "arcp") for instr in sites.hottest(_may_multiply)]
        sums = [cls(instr.id, "reassoc") for instr in sites.hottest(_is_sum)]
        return [*costly, *sums]

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [[cls(instr.id, "afn") for instr in sites.hottest(_is_costly)]]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        instr = draft.find(self.target, _has_flags)
        match = _HEAD.match(instr.parts[0])
        assert match is not None
        has = set(match[2].split())
        wanted = has | {self.how}
        if "fast" in has or wanted == has:
            raise Skipped(f"{self.target} is {self.how} already")
        flags = ["fast"] if "fast" in wanted else [flag for flag in FLAGS if flag in wanted]
        head = f"{match[1]} {' '.join(flags)} {instr.parts[0][match.end() :]}"
        draft.put(instr._replace(parts=(head, *instr.parts[1:])))

    def describe(self, show: Show) -> str:
        how = {
            "afn": "approximate",
            "arcp": "divide by multiplying with the reciprocal in",
            "reassoc": "regroup the terms of",
            "fast": "use fast maths in",
        }
        return f"{how[self.how]} {show(self.target)}"

    def rewrite(self, source: SourceDraft) -> str:
        form = {"afn": forms.approximate, "arcp": forms.reciprocal}.get(self.how)
        if form is None:
            raise Skipped("it has no form in the source")
        return form(source, self.target)


@dataclass(frozen=True)
class Narrow(LlvmEdit):
    """Arithmetic in double precision is done in floats, as far as it hangs together."""

    name = "float"
    target: str
    reach: Literal["one", "all"]
    """The one operation, or all that exchange doubles with it."""

    @classmethod
    def draw(cls, sites: LlvmSites, rng: np.random.Generator) -> Self | None:
        target = sites.draw(rng, _is_double)
        reach: Literal["one", "all"] = "all" if rng.integers(2) else "one"
        return None if target is None else cls(target, reach)

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        """Each region of doubles once, named by its hottest operation: one alone needs conversions, and saves little."""
        seen: set[str] = set()
        for instr in sites.hottest(_is_double):
            if instr.id not in seen:
                seen.update(_region(LlvmDraft(sites.index), instr))
                yield cls(instr.id, "all")

    @classmethod
    def bundles(cls, sites: LlvmSites) -> Iterable[Iterable[Self]]:
        return [cls.sweep(sites)]

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        instr = draft.find(self.target, _is_double)
        ids = _region(draft, instr) if self.reach == "all" else [instr.id]
        for id_ in ids:
            _narrow(draft, id_, f"x{seed:x}.{id_}")

    def describe(self, show: Show) -> str:
        extent = " and all doubles that it works with" if self.reach == "all" else ""
        return f"compute {show(self.target)}{extent} in floats (write constants as 1.0f)"

    def rewrite(self, source: SourceDraft) -> str:
        draft = LlvmDraft(source.index)
        instr = draft.find(self.target, _is_double)
        ids = _region(draft, instr) if self.reach == "all" else [instr.id]
        return forms.floats(source, [id_ for id_ in ids if not _passes_on(source.index.instr[id_])])


def _has_flags(instr: Instr) -> bool:
    if instr.opcode == "call":
        return instr.type in ("float", "double", "half") and "@llvm." in instr.parts[0]
    return instr.opcode in _ARITHMETIC


def _is_costly(instr: Instr) -> bool:
    if instr.opcode == "call":
        return _has_flags(instr) and bool(
            re.search(r"@llvm\.(sqrt|exp|log|pow|sin|cos)", instr.parts[0])
        )
    return instr.opcode in ("fdiv", "frem")


def _may_multiply(instr: Instr) -> bool:
    """Whether a division may become a product with a reciprocal that is computed elsewhere or before."""
    return instr.opcode == "fdiv" and not instr.operands[0].value.startswith("1.000000e+00")


def _is_sum(instr: Instr) -> bool:
    return instr.opcode in ("fadd", "fsub")


def _is_double(instr: Instr) -> bool:
    """Whether an operation computes in doubles and has a counterpart in floats."""
    if instr.opcode == "call":
        return instr.type == "double" and bool(_NARROW_CALLS.search(instr.parts[0]))
    if instr.opcode == "fcmp":
        return instr.operands[0].type == "double"
    return instr.opcode in _ARITHMETIC and instr.type == "double"


def _passes_on(instr: Instr) -> bool:
    """Whether an instruction passes on one of several doubles, as a loop does from step to step."""
    return instr.opcode in ("phi", "select") and instr.type == "double"


def _region(draft: LlvmDraft, start: Instr) -> list[str]:
    """The operations on doubles that are connected with this one by values, in a fixed order."""
    found = {start.id: None}
    queue = [start]
    while queue:
        instr = queue.pop()
        near = [operand.local for operand in instr.operands if operand.local is not None]
        for id_ in (*near, *draft.users(instr.id)):
            other = draft.get(id_)
            if id_ not in found and other is not None and (_is_double(other) or _passes_on(other)):
                found[id_] = None
                queue.append(other)
    return sorted(found, key=lambda id_: (draft.position(id_)[0], draft.position(id_)[1]))


def _narrow(draft: LlvmDraft, id_: str, prefix: str) -> None:
    """Do one operation in floats: its operands are rounded before it, its result is widened after it.

    The optimiser removes the conversions between operations that were both narrowed.
    """
    instr = draft.get(id_)
    assert instr is not None
    if instr.opcode == "phi":
        _narrow_phi(draft, instr, prefix)
        return
    operands: list[Operand] = []
    for number, operand in enumerate(instr.operands):
        if operand.type != "double":
            operands.append(operand)
        elif operand.local is None:
            operands.append(Operand("float", _as_float(operand.value), operand.fixed))
        else:
            name = f"{prefix}.{number}"
            draft.insert(_conversion(name, "fptrunc", operand, "float"), *draft.position(id_))
            operands.append(Operand("float", f"%{name}"))
    parts = tuple(
        re.sub(r"\bdouble\b", "float", _NARROW_CALLS.sub(r"@llvm.\1.f32(", part))
        for part in instr.parts
    )
    for intrinsic in re.findall(r"@(llvm\.\w+\.f32)\(", parts[0]):
        types = ", ".join(operand.type for operand in operands)
        draft.declare(intrinsic, f"declare float @{intrinsic}({types})")
    if instr.opcode == "fcmp":
        draft.put(instr._replace(parts=parts, operands=tuple(operands)))
        return
    name = f"{prefix}.result"
    narrow = instr._replace(id=name, type="float", parts=parts, operands=tuple(operands))
    draft.insert(narrow, *draft.position(id_))
    draft.put(_conversion(id_, "fpext", Operand("float", f"%{name}"), "double"))


def _narrow_phi(draft: LlvmDraft, phi: Instr, prefix: str) -> None:
    """Carry a value as a float: it is rounded at the end of each block that it comes from."""
    operands: list[Operand] = []
    for operand, block in zip(phi.operands, phi.blocks, strict=True):
        name = f"{prefix}.{block}"
        if operand.local is None:
            operands.append(Operand("float", _as_float(operand.value), operand.fixed))
            continue
        if draft.get(name) is None:
            end = len(draft.body(block)) - 1
            draft.insert(_conversion(name, "fptrunc", operand, "float"), block, end)
        operands.append(Operand("float", f"%{name}"))
    name = f"{prefix}.result"
    parts = tuple(re.sub(r"\bdouble\b", "float", part) for part in phi.parts)
    narrow = phi._replace(id=name, type="float", parts=parts, operands=tuple(operands))
    draft.insert(narrow, *draft.position(phi.id))
    draft.put(_conversion(phi.id, "fpext", Operand("float", f"%{name}"), "double"))
    block = draft.block_of(phi.id)
    others = (draft.get(id_) for id_ in draft.body(block))
    phis = sum(1 for one in others if one is not None and one.opcode == "phi")
    draft.move_to(phi.id, block, phis)


def _conversion(name: str, opcode: str, operand: Operand, kind: str) -> Instr:
    return Instr(name, opcode, kind, (f"{opcode} {operand.type} ", f" to {kind}"), (operand,))


def _as_float(text: str) -> str:
    """A constant of type double as LLVM prints the float nearest to it."""
    if text in ("undef", "poison", "zeroinitializer"):
        return text
    if text.startswith("0x"):
        value = struct.unpack(">d", int(text, 16).to_bytes(8, "big"))[0]
    else:
        value = float(text)
    with np.errstate(over="ignore"):
        rounded = float(np.float32(value))
    return f"0x{struct.unpack('>Q', struct.pack('>d', rounded))[0]:016X}"
