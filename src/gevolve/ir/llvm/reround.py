"""A program that rounds otherwise: what its results are worth can be seen from how they change.

Every sum, product, quotient and root that has to be rounded goes to the other of its two neighbors half
of the time. What is exact stays exact, so numbers that count or index keep their values. Compilers that
regroup a sum, or fuse a product with it, change results in the same manner and by about as much.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gevolve.ir.llvm.model import Instr

_TYPES = {
    "float": ("f32", "i32", "-1640531527"),
    "double": ("f64", "i64", "-7046029254386353131"),
}
"""The suffix of each type, the integer of its size, and a multiplier that spreads the bits of such."""
_EXACT = re.compile(
    r"@llvm\.(fabs|minnum|maxnum|minimum|maximum|minimumnum|maximumnum|floor|ceil|trunc|rint|nearbyint"
    r"|round|roundeven|copysign|canonicalize|vector|nvvm\.(ldg|ldu|fabs|fmin|fmax|bitcast|shfl))\b"
)
"""Calls whose results are not rounded."""
_FUSED = re.compile(r"@llvm\.(fma|fmuladd)\.f(32|64)\(")
_ROOT = re.compile(r"@llvm\.sqrt\.f(32|64)\(")
_OPERATIONS = {"fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div"}


def rerounded(instr: Instr, seed: int) -> list[str]:
    """The lines that stand for an instruction in a program that rounds otherwise."""
    how = _operation(instr)
    if how is None:
        return [instr.text]
    raw = instr._replace(id=f"{instr.id}.rounded")
    suffix, integer, _ = _TYPES[instr.type]
    operands = raw.operands if how != "any" else ()
    given = ", ".join(f"{operand.type} {operand.value}" for operand in operands)
    values = f"{instr.type} %{raw.id}" + (f", {given}" if given else "")
    number = int(re.sub(r"\D", "", instr.id) or 0)
    key = (2654435761 * (4096 * seed + number) + seed) % (1 << 31)
    call = f"call {instr.type} @gevolve.{how}.{suffix}({values}, {integer} {key})"
    location = re.search(r", !dbg ![0-9]+", instr.parts[-1])
    return [raw.text, f"  %{instr.id} = {call}{location[0] if location else ''}"]


def _operation(instr: Instr) -> str | None:
    """Which function decides how a result is rounded; None if it is not."""
    if instr.type not in _TYPES or instr.opcode == "phi":
        return None
    if instr.opcode != "call":
        return _OPERATIONS.get(instr.opcode)
    text = instr.parts[0]
    if "@llvm." not in text or _EXACT.search(text):
        return None
    if _FUSED.search(text) and len(instr.operands) == 3:
        return "fma"
    return "root" if _ROOT.search(text) and len(instr.operands) == 1 else "any"


def rounds_in_memory(instr: Instr) -> bool:
    """Whether it is an atomic sum, which is rounded in the order in which threads come to it."""
    return instr.opcode == "atomicrmw" and " fadd " in instr.parts[0]


def functions(text: str) -> str:
    """The functions that decide, for the end of a module."""
    found: list[str] = []
    for kind, (suffix, integer, multiplier) in _TYPES.items():
        words = {"T": kind, "S": suffix, "I": integer, "M": multiplier}
        declaration = f"declare {kind} @llvm.fma.{suffix}("
        if declaration not in text:
            found.append(f"{declaration}{kind}, {kind}, {kind})")
        found.append(re.sub(r"\$([TSIM])", lambda match, w=words: w[match[1]], _TEMPLATE))
    return "\n".join(found)


_TEMPLATE = """
define internal $T @gevolve.other.$S($T %v, $T %error, $I %k) noinline {
  %bits = bitcast $T %v to $I
  %mixed = xor $I %bits, %k
  %spread = mul $I %mixed, $M
  %coin = icmp slt $I %spread, 0
  %rounded = fcmp one $T %error, 0.0
  %more = fcmp ogt $T %error, 0.0
  %positive = icmp sge $I %bits, 0
  %away = icmp eq i1 %more, %positive
  %step = select i1 %away, $I 1, $I -1
  %moved = add $I %bits, %step
  %value = bitcast $I %moved to $T
  %size = fsub $T %value, %value
  %finite = fcmp oeq $T %size, 0.0
  %counts = fcmp une $T %v, 0.0
  %may = and i1 %coin, %rounded
  %can = and i1 %finite, %counts
  %does = and i1 %may, %can
  %result = select i1 %does, $T %value, $T %v
  ret $T %result
}
define internal $T @gevolve.add.$S($T %v, $T %a, $T %b, $I %k) noinline {
  %b.seen = fsub $T %v, %a
  %a.seen = fsub $T %v, %b.seen
  %a.lost = fsub $T %a, %a.seen
  %b.lost = fsub $T %b, %b.seen
  %error = fadd $T %a.lost, %b.lost
  %result = call $T @gevolve.other.$S($T %v, $T %error, $I %k)
  ret $T %result
}
define internal $T @gevolve.sub.$S($T %v, $T %a, $T %b, $I %k) noinline {
  %minus = fneg $T %b
  %result = call $T @gevolve.add.$S($T %v, $T %a, $T %minus, $I %k)
  ret $T %result
}
define internal $T @gevolve.mul.$S($T %v, $T %a, $T %b, $I %k) noinline {
  %minus = fneg $T %v
  %error = call $T @llvm.fma.$S($T %a, $T %b, $T %minus)
  %result = call $T @gevolve.other.$S($T %v, $T %error, $I %k)
  ret $T %result
}
define internal $T @gevolve.div.$S($T %v, $T %a, $T %b, $I %k) noinline {
  %minus = fneg $T %v
  %rest = call $T @llvm.fma.$S($T %minus, $T %b, $T %a)
  %opposed = fcmp olt $T %b, 0.0
  %turned = fneg $T %rest
  %error = select i1 %opposed, $T %turned, $T %rest
  %result = call $T @gevolve.other.$S($T %v, $T %error, $I %k)
  ret $T %result
}
define internal $T @gevolve.root.$S($T %v, $T %a, $I %k) noinline {
  %minus = fneg $T %v
  %error = call $T @llvm.fma.$S($T %minus, $T %v, $T %a)
  %result = call $T @gevolve.other.$S($T %v, $T %error, $I %k)
  ret $T %result
}
define internal $T @gevolve.fma.$S($T %v, $T %a, $T %b, $T %c, $I %k) noinline {
  %product = fmul $T %a, %b
  %minus = fneg $T %product
  %lost = call $T @llvm.fma.$S($T %a, $T %b, $T %minus)
  %c.seen = fsub $T %v, %product
  %left = fsub $T %c, %c.seen
  %error = fadd $T %left, %lost
  %result = call $T @gevolve.other.$S($T %v, $T %error, $I %k)
  ret $T %result
}
define internal $T @gevolve.any.$S($T %v, $I %k) noinline {
  %bits = bitcast $T %v to $I
  %turned = mul $I %bits, $M
  %bit = and $I %turned, 4096
  %up = icmp eq $I %bit, 0
  %error = select i1 %up, $T 1.0, $T -1.0
  %result = call $T @gevolve.other.$S($T %v, $T %error, $I %k)
  ret $T %result
}
"""
