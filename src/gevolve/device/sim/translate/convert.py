"""Conversions: cvt with its roundings, cvta, mov with packing, isspacep."""

from gevolve.device.sim import layout
from gevolve.device.sim.ptx import SIZES, Instruction, Operand, Scalar, Vector
from gevolve.device.sim.translate.emit import BITS, Emitter, integer_of, literal
from gevolve.device.sim.translate.floating import ROUNDING, flush, saturate, widen, working
from gevolve.device.sim.translate.table import pure

_WHOLE = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_HALVES = frozenset({"f16", "bf16"})
_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})
_INTEGERS = frozenset(f"{sign}{bits}" for sign in "us" for bits in (8, 16, 32, 64))


def write_integer(e: Emitter, target: Operand, kind: str, value: str) -> None:
    """Write a PTX integer type to a register at least as wide, extending by the type's sign."""
    have = integer_of(kind)
    assert isinstance(target, str)
    own = integer_of(e.registers[target]) if target in e.registers else have
    if BITS[own] > BITS[have]:
        value = e.op(f"{'sext' if kind[0] == 's' else 'zext'} {have} {value} to {own}")
        have = own
    e.write(target, have, value)


@pure("cvt")
def cvt(e: Emitter, code: Instruction) -> None:
    if code.mods[0] == "pack":
        _pack(e, code)
        return
    to, of = code.mods[-2:]
    if to in {"f16x2", "bf16x2"} and of == "f32":
        rounding = next((ROUNDING[m] for m in code.mods if m in ROUNDING), 0)
        high, low = (
            _round_half(e, code, e.read(x, "float"), to[:-2], rounding) for x in code.args[1:3]
        )
        value = e.op(f"shl i32 {e.op(f'zext i16 {high} to i32')}, 16")
        e.write(code.args[0], "i32", e.op(f"or i32 {value}, {e.op(f'zext i16 {low} to i32')}"))
    elif to == "tf32":
        value = e.call("i32", "gevolve_f32_to_tf32", ("float", e.read(code.args[1], "float")))
        e.write(code.args[0], "i32", value)
    elif not {to, of} <= _FLOATS | _INTEGERS:
        raise e.unsupported()
    elif to in _FLOATS and of in _FLOATS:
        _float_to_float(e, code, to, of)
    elif to in _FLOATS:
        _integer_to_float(e, code, to, of)
    elif of in _FLOATS:
        _float_to_integer(e, code, to, of)
    else:
        _integer_to_integer(e, code, to, of)


def _integer_to_integer(e: Emitter, code: Instruction, to: str, of: str) -> None:
    have, want = integer_of(of), integer_of(to)
    value = e.read(code.args[1], have)
    if "sat" in code.mods:
        value = _clamp(e, value, of, to)
    if BITS[want] > BITS[have]:
        value = e.op(f"{'sext' if of[0] == 's' else 'zext'} {have} {value} to {want}")
    elif BITS[want] < BITS[have]:
        value = e.op(f"trunc {have} {value} to {want}")
    write_integer(e, code.args[0], to, value)


def _clamp(e: Emitter, value: str, of: str, to: str) -> str:
    """Clamp a value of one integer type to the range of another."""
    t = integer_of(of)
    bits = SIZES[to] * 8
    top = (1 << (bits - 1)) - 1 if to[0] == "s" else (1 << bits) - 1
    bottom = -(1 << (bits - 1)) if to[0] == "s" else 0
    own = SIZES[of] * 8
    own_top = (1 << (own - 1)) - 1 if of[0] == "s" else (1 << own) - 1
    sign = "s" if of[0] == "s" else "u"
    if top < own_top:
        above = e.op(f"icmp {sign}gt {t} {value}, {literal(top, t)}")
        value = e.op(f"select i1 {above}, {t} {literal(top, t)}, {t} {value}")
    if sign == "s" and bottom > -(1 << (own - 1)):
        below = e.op(f"icmp slt {t} {value}, {literal(bottom, t)}")
        value = e.op(f"select i1 {below}, {t} {literal(bottom, t)}, {t} {value}")
    return value


def _read_float(e: Emitter, code: Instruction, kind: str) -> str:
    """The source as a float or double, flushed if asked."""
    if kind in _HALVES:
        value = widen(e, e.read(code.args[1], "i16"), kind)
    else:
        value = e.read(code.args[1], working(kind))
    return flush(e, value, "f32") if "ftz" in code.mods and kind == "f32" else value


def _float_to_float(e: Emitter, code: Instruction, to: str, of: str) -> None:
    value, have = _read_float(e, code, of), working(of)
    whole = next((_WHOLE[m] for m in code.mods if m in _WHOLE), None)
    if whole:
        name = f"gevolve_{whole}_{'f64' if have == 'double' else 'f32'}"
        value = e.call(have, name, (have, value))
    rounding = next((ROUNDING[m] for m in code.mods if m in ROUNDING), 0)
    if to in _HALVES:
        if "sat" in code.mods:
            value = saturate(e, value, of)
        if have == "double":
            result = e.call("i16", f"gevolve_f64_to_{to}", (have, value), ("i32", str(rounding)))
        else:
            result = _round_half(e, code, value, to, rounding)
        e.write(code.args[0], "i16", result)
        return
    want = working(to)
    if have == "double" and want == "float":
        if rounding:
            value = e.call("float", "gevolve_f64_to_f32", (have, value), ("i32", str(rounding)))
        else:
            value = e.op(f"fptrunc double {value} to float")
    elif have == "float" and want == "double":
        value = e.op(f"fpext float {value} to double")
    if "ftz" in code.mods and to == "f32":
        value = flush(e, value, to)
    if "sat" in code.mods:
        value = saturate(e, value, to)
    e.write(code.args[0], want, value)


def _round_half(e: Emitter, code: Instruction, value: str, to: str, rounding: int) -> str:
    if "relu" in code.mods:
        negative = e.op(f"fcmp olt float {value}, {literal(0, 'float')}")
        value = e.op(f"select i1 {negative}, float {literal(0, 'float')}, float {value}")
    return e.call("i16", f"gevolve_f32_to_{to}", ("float", value), ("i32", str(rounding)))


def _integer_to_float(e: Emitter, code: Instruction, to: str, of: str) -> None:
    have, sign = integer_of(of), of[0] == "s"
    value = e.read(code.args[1], have)
    rounding = next((ROUNDING[m] for m in code.mods if m in ROUNDING), 0)
    step = "sitofp" if sign else "uitofp"
    if to in _HALVES:
        wide = e.op(f"{step} {have} {value} to double")
        value = e.call("i16", f"gevolve_f64_to_{to}", ("double", wide), ("i32", str(rounding)))
        e.write(code.args[0], "i16", value)
        return
    want = working(to)
    if rounding:
        if have != "i64":
            value = e.op(f"{'sext' if sign else 'zext'} {have} {value} to i64")
        name = f"gevolve_{'s' if sign else 'u'}64_to_{to}"
        value = e.call(want, name, ("i64", value), ("i32", str(rounding)))
    else:
        value = e.op(f"{step} {have} {value} to {want}")
    if "sat" in code.mods:
        value = saturate(e, value, to)
    e.write(code.args[0], want, value)


def _float_to_integer(e: Emitter, code: Instruction, to: str, of: str) -> None:
    """Out of range clamps; NaN is 0, or the middle of the range where 64 bits are involved."""
    value, have, want = _read_float(e, code, of), working(of), integer_of(to)
    suffix = "f64" if have == "double" else "f32"
    whole = next((_WHOLE[m] for m in code.mods if m in _WHOLE), "trunc")
    if whole != "trunc":
        value = e.call(have, f"gevolve_{whole}_{suffix}", (have, value))
    name = f"llvm.fpto{'s' if to[0] == 's' else 'u'}i.sat.{want}.{suffix}"
    result = e.call(want, name, (have, value))
    if of == "f64" or SIZES[to] == 8:
        nan = e.op(f"fcmp uno {have} {value}, {value}")
        middle = literal(1 << (SIZES[to] * 8 - 1), want)
        result = e.op(f"select i1 {nan}, {want} {middle}, {want} {result}")
    write_integer(e, code.args[0], to, result)


def _pack(e: Emitter, code: Instruction) -> None:
    """cvt.pack.sat.u8.s32.b32 d, a, b, c: two clamped values below the low bits of c."""
    to, of = code.mods[2], code.mods[3]
    bits = {"u16": 16, "s16": 16, "u8": 8, "s8": 8}.get(to)
    if bits is None:
        raise e.unsupported()
    target, high, low, *rest = code.args
    value = "0"
    if rest:
        value = e.op(f"shl i32 {e.read(rest[0], 'i32')}, {2 * bits}")
    for operand, shift in ((high, bits), (low, 0)):
        part = e.op(f"and i32 {_clamp(e, e.read(operand, 'i32'), of, to)}, {(1 << bits) - 1}")
        value = e.op(f"or i32 {value}, {e.op(f'shl i32 {part}, {shift}')}")
    e.write(target, "i32", value)


@pure("mov")
def mov(e: Emitter, code: Instruction) -> None:
    target, source = code.args[:2]
    kind = integer_of(code.mods[-1])
    if isinstance(target, Vector):
        _unpack(e, target.parts, e.read(source, kind), kind)
    elif isinstance(source, Vector):
        e.write(target, kind, _packed(e, source.parts, kind))
    else:
        if isinstance(source, str) and source in e.registers:
            # keep a float a float: its bits need not pass through an integer
            t = {"i32": "float", "i64": "double"}.get(kind, kind)
            if t in e.values.get(source, {}) and BITS[t] == BITS[kind]:
                kind = t
        e.write(target, kind, e.read(source, kind))


def _unpack(e: Emitter, parts: tuple[Scalar, ...], value: str, kind: str) -> None:
    size = BITS[kind] // len(parts)
    for index, part in enumerate(parts):
        if part == "_":
            continue
        shifted = e.op(f"lshr {kind} {value}, {index * size}") if index else value
        e.write(part, f"i{size}", e.op(f"trunc {kind} {shifted} to i{size}"))


def _packed(e: Emitter, parts: tuple[Scalar, ...], kind: str) -> str:
    size = BITS[kind] // len(parts)
    total = ""
    for index, part in enumerate(parts):
        value = e.op(f"zext i{size} {e.read(part, f'i{size}')} to {kind}")
        if index:
            value = e.op(f"shl {kind} {value}, {index * size}")
        total = e.op(f"or {kind} {total}, {value}") if total else value
    return total


@pure("cvta")
def cvta(e: Emitter, code: Instruction) -> None:
    """Between a space's own addresses and generic ones; only shared memory has its own here."""
    kind = integer_of(code.mods[-1])
    value = e.read(code.args[1], "i64")
    space = code.mods[1] if code.mods[0] == "to" else code.mods[0]
    if space.partition("::")[0] == "shared":
        base = e.load_launch(layout.SHARED_BASE, "i64")
        value = e.op(f"{'sub' if code.mods[0] == 'to' else 'add'} i64 {value}, {base}")
    e.write(code.args[0], kind, e.convert(value, "i64", kind))


@pure("isspacep")
def isspacep(e: Emitter, code: Instruction) -> None:
    space = {"global": 0, "shared": 1, "local": 2, "const": 3, "param": 4}
    number = space.get(code.mods[0].partition("::")[0])
    if number is None:
        raise e.unsupported()
    args = (("ptr", "%launch"), ("i64", e.read(code.args[1], "i64")), ("i32", str(number)))
    truth = e.call("i32", "gevolve_isspacep", *args)
    e.write(code.args[0], "i1", e.op(f"icmp ne i32 {truth}, 0"))
