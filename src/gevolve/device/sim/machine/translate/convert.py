"""Conversions between integers and floats of all sizes."""

from gevolve.device.sim.machine.instruction import Const, Instruction, Operand, Reg, UReg
from gevolve.device.sim.machine.translate.emit import Emitter
from gevolve.device.sim.machine.translate.floating import mode
from gevolve.device.sim.machine.translate.integer import target
from gevolve.device.sim.machine.translate.table import opcode
from gevolve.device.sim.translate.floating import flush, saturate, widen
from gevolve.device.sim.translate.text import literal

_FLOATS = ("F16", "F32", "F64", "BF16")
_INTEGERS = tuple(f"{sign}{bits}" for sign in "SU" for bits in (8, 16, 32, 64))
_WHOLE = {"TRUNC": "trunc", "FLOOR": "floor", "CEIL": "ceil"}
_LLVM = {"F16": "float", "BF16": "float", "F32": "float", "F64": "double"}
_SUFFIX = {"float": "f32", "double": "f64"}


def _types(code: Instruction, known: tuple[str, ...]) -> list[str]:
    return [m for m in code.modifiers if m in known]


def _read_float(e: Emitter, operand: Operand, kind: str) -> str:
    """A float operand in the type in which it is computed."""
    if kind == "F64":
        return e.double(operand)
    if kind == "F32":
        return e.float(operand)
    assert isinstance(operand, (Reg, UReg, Const))
    value = e.bare(operand)
    if operand.part.startswith("H1"):
        value = e.op(f"lshr i32 {value}, 16")
    half = widen(e, e.op(f"trunc i32 {value} to i16"), kind.lower())
    if operand.absolute:
        half = e.call("float", "llvm.fabs.f32", ("float", half))
    return e.op(f"fneg float {half}") if operand.negate else half


def _write_float(e: Emitter, to: Operand, kind: str, value: str, have: str, rounding: int) -> None:
    """Round a value to a float type and write it."""
    if kind in {"F16", "BF16"}:
        name = f"gevolve_{_SUFFIX[have]}_to_{kind.lower()}"
        half = e.call("i16", name, (have, value), ("i32", str(rounding)))
        e.write(target(e, to), e.op(f"zext i16 {half} to i32"))
    elif kind == "F64":
        if have == "float":
            value = e.op(f"fpext float {value} to double")
        e.write_wide(target(e, to), value, "double")
    else:
        if have == "double" and rounding:
            args = (("double", value), ("i32", str(rounding)))
            value = e.call("float", "gevolve_f64_to_f32", *args)
        elif have == "double":
            value = e.op(f"fptrunc double {value} to float")
        e.write(target(e, to), value, "float")


@opcode("F2F")
def float_to_float(e: Emitter, code: Instruction) -> None:
    to, source = code.operands
    types = _types(code, _FLOATS)
    kind, of = types if len(types) == 2 else ("F32", "F32")
    value, have = _read_float(e, source, of), _LLVM[of]
    if "FTZ" in code.modifiers and of == "F32":
        value = flush(e, value, "f32")
    if "SAT" in code.modifiers:
        value = saturate(e, value, "f64" if have == "double" else "f32")
    if whole := next((_WHOLE[m] for m in code.modifiers if m in _WHOLE), None):
        value = e.call(have, f"gevolve_{whole}_{_SUFFIX[have]}", (have, value))
    if "FTZ" in code.modifiers and kind == "F32" and have == "double":
        narrow = e.op(f"fptrunc double {value} to float")
        e.write(target(e, to), flush(e, narrow, "f32"), "float")
        return
    _write_float(e, to, kind, value, have, mode(code))


@opcode("FRND")
def round_to_whole(e: Emitter, code: Instruction) -> None:
    to, source = code.operands
    kind = next(iter(_types(code, _FLOATS)), "F32")
    value, have = _read_float(e, source, kind), _LLVM[kind]
    if "FTZ" in code.modifiers:
        value = flush(e, value, "f32")
    whole = next((_WHOLE[m] for m in code.modifiers if m in _WHOLE), "roundeven")
    value = e.call(have, f"gevolve_{whole}_{_SUFFIX[have]}", (have, value))
    _write_float(e, to, kind, value, have, 0)


@opcode("F2FP")
def pack(e: Emitter, code: Instruction) -> None:
    """Two floats as a pair of halves, the first one above."""
    mods = code.modifiers
    if "PACK_AB" not in mods or {"MERGE_C", "E4M3", "E5M2", "UNPACK_B"} & set(mods):
        raise e.unsupported()
    to, a, b = code.operands
    kind = "bf16" if "BF16" in mods else "f16"
    halves: list[str] = []
    for operand in (b, a):
        value = e.float(operand)
        if "RELU" in mods:
            below = e.op(f"fcmp olt float {value}, {literal(0, 'float')}")
            value = e.op(f"select i1 {below}, float {literal(0, 'float')}, float {value}")
        args = (("float", value), ("i32", str(mode(code))))
        half = e.call("i16", f"gevolve_f32_to_{kind}", *args)
        halves.append(e.op(f"zext i16 {half} to i32"))
    e.write(target(e, to), e.op(f"or i32 {halves[0]}, {e.op(f'shl i32 {halves[1]}, 16')}"))


def _read_integer(e: Emitter, operand: Operand, kind: str) -> str:
    """An integer operand in its own width."""
    bits = int(kind[1:])
    if bits == 64:
        return e.whole(operand)
    value = e.integer(operand)
    if bits == 32:
        return value
    part = operand.part if isinstance(operand, (Reg, UReg, Const)) else ""
    if part and part[0] in "BH" and part[1:].isdigit():
        shift = int(part[1:]) * (8 if part[0] == "B" else 16)
        value = e.op(f"lshr i32 {value}, {shift}") if shift else value
    elif part:
        raise e.unsupported()
    return e.op(f"trunc i32 {value} to i{bits}")


@opcode("I2F", "I2FP")
def integer_to_float(e: Emitter, code: Instruction) -> None:
    to, source = code.operands
    kind = next(iter(_types(code, _FLOATS)), "F32")
    of = next(iter(_types(code, _INTEGERS)), "S32")
    have, signed = f"i{of[1:]}", of[0] == "S"
    value, rounding = _read_integer(e, source, of), mode(code)
    if kind in {"F16", "BF16"}:
        wide = e.op(f"{'sitofp' if signed else 'uitofp'} {have} {value} to double")
        _write_float(e, to, kind, wide, "double", rounding)
        return
    want = _LLVM[kind]
    if rounding:
        if have != "i64":
            value = e.op(f"{'sext' if signed else 'zext'} {have} {value} to i64")
        name = f"gevolve_{'s' if signed else 'u'}64_to_{kind.lower()}"
        value = e.call(want, name, ("i64", value), ("i32", str(rounding)))
    else:
        value = e.op(f"{'sitofp' if signed else 'uitofp'} {have} {value} to {want}")
    _write_float(e, to, kind, value, want, 0)


@opcode("F2I", "F2IP")
def float_to_integer(e: Emitter, code: Instruction) -> None:
    """Out of range clamps; NaN is 0 (.NTZ) or the middle of the range."""
    to, source = code.operands
    kind = next(iter(_types(code, _INTEGERS)), "S32")
    of = next(iter(_types(code, _FLOATS)), "F32")
    value, have, want = _read_float(e, source, of), _LLVM[of], f"i{kind[1:]}"
    if "FTZ" in code.modifiers:
        value = flush(e, value, "f32")
    whole = next((_WHOLE[m] for m in code.modifiers if m in _WHOLE), "roundeven")
    if whole != "trunc":
        value = e.call(have, f"gevolve_{whole}_{_SUFFIX[have]}", (have, value))
    name = f"llvm.fpto{kind[0].lower()}i.sat.{want}.{_SUFFIX[have]}"
    result = e.call(want, name, (have, value))
    if "NTZ" not in code.modifiers:
        nan = e.op(f"fcmp uno {have} {value}, {value}")
        middle = literal(1 << (int(kind[1:]) - 1), want)
        result = e.op(f"select i1 {nan}, {want} {middle}, {want} {result}")
    _write_integer(e, to, kind, result)


def _write_integer(e: Emitter, to: Operand, kind: str, value: str) -> None:
    bits = int(kind[1:])
    if bits == 64:
        e.write_wide(target(e, to), value)
    elif bits == 32:
        e.write(target(e, to), value)
    else:
        step = "sext" if kind[0] == "S" else "zext"
        e.write(target(e, to), e.op(f"{step} i{bits} {value} to i32"))


def _clamped(e: Emitter, value: str, to: str, of: str) -> str:
    """A word clamped to the range of a smaller type."""
    bits = int(to[1:])
    top = (1 << (bits - 1)) - 1 if to[0] == "S" else (1 << bits) - 1
    bottom = -(1 << (bits - 1)) if to[0] == "S" else 0
    sign = "s" if of[0] == "S" else "u"
    above = e.op(f"icmp {sign}gt i32 {value}, {top}")
    value = e.op(f"select i1 {above}, i32 {top}, i32 {value}")
    if sign == "s":
        below = e.op(f"icmp slt i32 {value}, {bottom}")
        value = e.op(f"select i1 {below}, i32 {bottom}, i32 {value}")
    return value


@opcode("I2I")
def integer_to_integer(e: Emitter, code: Instruction) -> None:
    to, source = code.operands
    kind, of = _types(code, _INTEGERS)
    if "SAT" not in code.modifiers or of[1:] != "32" or kind[1:] not in {"8", "16"}:
        raise e.unsupported()
    e.write(target(e, to), _clamped(e, e.integer(source), kind, of))


@opcode("I2IP")
def pack_integers(e: Emitter, code: Instruction) -> None:
    """Two clamped integers below the lower bits of a third operand."""
    to, a, b, c = code.operands
    kind, of = _types(code, _INTEGERS)
    if "SAT" not in code.modifiers or of[1:] != "32" or kind[1:] not in {"8", "16"}:
        raise e.unsupported()
    bits = int(kind[1:])
    parts = [
        e.op(f"and i32 {_clamped(e, e.integer(x), kind, of)}, {(1 << bits) - 1}") for x in (a, b)
    ]
    value = e.op(f"or i32 {parts[1]}, {e.op(f'shl i32 {parts[0]}, {bits}')}")
    if bits == 8:
        value = e.op(f"or i32 {value}, {e.op(f'shl i32 {e.integer(c)}, 16')}")
    e.write(target(e, to), value)
