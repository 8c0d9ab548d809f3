"""Pairs of half floats: each half is computed in `float` and rounded once more, which is exact."""

from gevolve.device.sim.machine.instruction import Const, Imm, Instruction, Operand, Reg, UReg
from gevolve.device.sim.machine.translate.emit import Emitter
from gevolve.device.sim.machine.translate.floating import (
    _COMPARISONS as COMPARISONS,  # pyright: ignore[reportPrivateUsage]
)
from gevolve.device.sim.machine.translate.integer import join, target
from gevolve.device.sim.machine.translate.table import opcode, trailing
from gevolve.device.sim.translate.floating import flush, narrow, saturate, widen
from gevolve.device.sim.translate.text import literal

Halves = tuple[str, str]
"""The lower and the upper half, as i16."""


def _kind(code: Instruction) -> str:
    return "bf16" if any(m.startswith("BF16") for m in code.modifiers) else "f16"


def _split(e: Emitter, operand: Operand, kind: str) -> Halves:
    """The two halves of an operand as it takes them, with their signs changed as it says."""
    value = e.bare(operand)
    low = e.op(f"trunc i32 {value} to i16")
    high = e.op(f"trunc i32 {e.op(f'lshr i32 {value}, 16')} to i16")
    assert isinstance(operand, (Reg, UReg, Const))
    if operand.part == "F32":  # a float, cut to a half
        args = (("float", e.float(operand)), ("i32", "1"))
        half = e.call("i16", f"gevolve_f32_to_{kind}", *args)
        return half, half
    taken = {"H0_H0": (low, low), "H1_H1": (high, high), "": (low, high), "H1_H0": (low, high)}
    halves = taken[operand.part]
    if operand.absolute:
        halves = tuple(e.op(f"and i16 {h}, 32767") for h in halves)
    if operand.negate:
        halves = tuple(e.op(f"xor i16 {h}, -32768") for h in halves)
    return halves[0], halves[1]


def _sources(e: Emitter, operands: tuple[Operand, ...], kind: str) -> list[Halves]:
    """Sources; a number takes two places, the upper half first."""
    found: list[Halves] = []
    index = 0
    while index < len(operands):
        one = operands[index]
        if isinstance(one, Imm):
            two = operands[index + 1]
            assert isinstance(two, Imm)
            found.append((literal(two.bits, "i16"), literal(one.bits, "i16")))
            index += 2
        else:
            found.append(_split(e, one, kind))
            index += 1
    return found


def _join(e: Emitter, low: str, high: str) -> str:
    wide = e.op(f"zext i16 {high} to i32")
    return e.op(f"or i32 {e.op(f'zext i16 {low} to i32')}, {e.op(f'shl i32 {wide}, 16')}")


def _finish(e: Emitter, code: Instruction, kind: str, value: str) -> str:
    """A result as i16, flushed and clamped as the instruction says."""
    mods = code.modifiers
    if not {"FTZ", "SAT", "RELU"} & set(mods):
        return value
    wide = widen(e, value, kind)
    if "FTZ" in mods:
        wide = flush(e, wide, kind)
    if "SAT" in mods:
        wide = saturate(e, wide, "f32")
    if "RELU" in mods:
        below = e.op(f"fcmp olt float {wide}, {literal(0, 'float')}")
        wide = e.op(f"select i1 {below}, float {literal(0, 'float')}, float {wide}")
    return narrow(e, wide, kind)


@opcode("HADD2", "HMUL2", "HADD2_32I", "HMUL2_32I")
def arithmetic(e: Emitter, code: Instruction) -> None:
    to, *sources = code.operands
    kind = _kind(code)
    if "F32" in code.modifiers:
        _to_single(e, code)
        return
    name = "fadd" if code.opcode.startswith("HADD2") else "fmul"
    pairs = _sources(e, tuple(sources), kind)
    made: list[str] = []
    for x, y in zip(*pairs, strict=True):
        a, b = widen(e, x, kind), widen(e, y, kind)
        if "FTZ" in code.modifiers:
            a, b = flush(e, a, kind), flush(e, b, kind)
        value = narrow(e, e.op(f"{name} float {a}, {b}"), kind)
        made.append(_finish(e, code, kind, value))
    e.write(target(e, to), _join(e, *made))


def _to_single(e: Emitter, code: Instruction) -> None:
    """HADD2.F32: the lower half as a float."""
    to, *sources = code.operands
    kind = _kind(code)
    a, b = (widen(e, pair[0], kind) for pair in _sources(e, tuple(sources), kind))
    e.write(target(e, to), e.op(f"fadd float {a}, {b}"), "float")


@opcode("HFMA2", "HFMA2_32I")
def multiply_add(e: Emitter, code: Instruction) -> None:
    """One rounding. With zeros as factors it is how a number comes into a register."""
    to, *sources = code.operands
    kind = _kind(code)
    pairs = _sources(e, tuple(sources), kind)
    if _zero(sources[0]) and _zero(sources[1]) and not {"FTZ", "SAT", "RELU"} & set(code.modifiers):
        numbers = [x.bits for x in sources[2:] if isinstance(x, Imm)]
        if len(numbers) == 2 and not any(_odd(n, kind) for n in numbers):
            e.write(target(e, to), literal(numbers[0] << 16 | numbers[1], "i32"))
            return
    made: list[str] = []
    for values in zip(*pairs, strict=True):
        given = list(values)
        if "FTZ" in code.modifiers:
            given = [narrow(e, flush(e, widen(e, v, kind), kind), kind) for v in values]
        value = e.call("i16", f"gevolve_fma_{kind}", *(("i16", v) for v in given))
        made.append(_finish(e, code, kind, value))
    e.write(target(e, to), _join(e, *made))


def _zero(operand: Operand) -> bool:
    return isinstance(operand, Reg) and operand.index == 255


def _odd(bits: int, kind: str) -> bool:
    """NaN, and minus zero, which the sum with plus zero would change."""
    infinite = 0x7F80 if kind == "bf16" else 0x7C00
    return bits & 0x7FFF > infinite


@opcode("HMNMX2")
def extreme(e: Emitter, code: Instruction) -> None:
    to, *sources, which = code.operands
    kind, least = _kind(code), e.truth(which)
    suffix = "" if "NAN" in code.modifiers else "num"
    if "XORSIGN" in code.modifiers:
        raise e.unsupported()
    made: list[str] = []
    for x, y in zip(*_sources(e, tuple(sources), kind), strict=True):
        a, b = widen(e, x, kind), widen(e, y, kind)
        both = [
            e.call("float", f"gevolve_{name}{suffix}_f32", ("float", a), ("float", b))
            for name in ("minimum", "maximum")
        ]
        value = e.op(f"select i1 {least}, float {both[0]}, float {both[1]}")
        made.append(_finish(e, code, kind, narrow(e, value, kind)))
    e.write(target(e, to), _join(e, *made))


def _truths(e: Emitter, code: Instruction, sources: tuple[Operand, ...]) -> list[str]:
    kind = _kind(code)
    name = next((m for m in code.modifiers if m in COMPARISONS), None)
    if name is None:
        raise e.unsupported()
    truths: list[str] = []
    for x, y in zip(*_sources(e, sources, kind), strict=True):
        a, b = widen(e, x, kind), widen(e, y, kind)
        if "FTZ" in code.modifiers:
            a, b = flush(e, a, kind), flush(e, b, kind)
        truths.append(e.op(f"fcmp {COMPARISONS[name]} float {a}, {b}"))
    return truths


@opcode("HSETP2")
def compare(e: Emitter, code: Instruction) -> None:
    """A predicate for each half; with .H_AND one for both."""
    first, second, *sources = code.operands
    joined = trailing(tuple(sources))[-1]
    truths = _truths(e, code, tuple(sources[:-1]))
    how = next((m for m in ("AND", "OR", "XOR") if m in code.modifiers), "AND").lower()
    with_ = e.truth(joined)
    if "H_AND" in code.modifiers:
        join(e, code.modifiers, (first, second), e.op(f"and i1 {truths[0]}, {truths[1]}"), joined)
        return
    values = [e.op(f"{how} i1 {truth}, {with_}") for truth in truths]
    e.set(first, values[0])
    e.set(second, values[1])


@opcode("HSET2")
def compare_to_register(e: Emitter, code: Instruction) -> None:
    """A comparison of each half as a number: 1.0 (.BF) or all ones."""
    to, *sources = code.operands
    joined = e.truth(sources[-1])
    how = next((m for m in ("AND", "OR", "XOR") if m in code.modifiers), "AND").lower()
    one = -1 if "BF" not in code.modifiers else 0x3F80 if _kind(code) == "bf16" else 0x3C00
    made: list[str] = []
    for truth in _truths(e, code, tuple(sources[:-1])):
        truth = e.op(f"{how} i1 {truth}, {joined}")  # noqa: PLW2901
        made.append(e.op(f"select i1 {truth}, i16 {literal(one, 'i16')}, i16 0"))
    e.write(target(e, to), _join(e, *made))
