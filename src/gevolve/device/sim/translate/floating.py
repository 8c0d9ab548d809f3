"""Float arithmetic with PTX's rounding, flushing, saturation and NaN rules.

`f32` and `f64` are computed by the host's own IEEE instructions; directed rounding goes to the C
runtime. Half floats are computed in `float` and rounded once more, which is exact for everything but
`fma`, which has its own routine.
"""

from collections.abc import Callable, Sequence

from gevolve.device.sim.ptx import Instruction, Operand
from gevolve.device.sim.translate.emit import Emitter, literal
from gevolve.device.sim.translate.table import pure
from gevolve.device.sim.translate.text import Text

ROUNDING = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}
"""The runtime's number for each rounding mode."""
_SCALARS = frozenset({"f16", "bf16", "f32", "f64"})
_SMALLEST = {"f32": 0x00800000, "f16": 0x38800000, "bf16": 0x00800000}
"""The least normal number, as the bits of a float."""
_FIRST = {"add": "fadd", "sub": "fsub", "mul": "fmul"}

Scalar = Callable[[str, Sequence[str]], str]
"""(PTX type, values in the LLVM type of `working`) → value."""


def working(kind: str) -> str:
    """The LLVM type in which a PTX float type is computed."""
    return "double" if kind == "f64" else "float"


def widen(e: Text, bits: str, kind: str) -> str:
    """A half float's bits (i16) as a float."""
    if kind == "bf16":
        high = e.op(f"shl i32 {e.op(f'zext i16 {bits} to i32')}, 16")
        return e.op(f"bitcast i32 {high} to float")
    return e.call("float", "gevolve_f16_to_f32", ("i16", bits))


def narrow(e: Text, value: str, kind: str) -> str:
    """A float rounded to a half float's bits."""
    return e.call("i16", f"gevolve_f32_to_{kind}", ("float", value), ("i32", "0"))


def flush(e: Text, value: str, kind: str) -> str:
    """Subnormal numbers become zero of their sign (.ftz)."""
    if kind == "f64":
        return value
    size = e.call("float", "llvm.fabs.f32", ("float", value))
    tiny = e.op(f"fcmp olt float {size}, {literal(_SMALLEST[kind], 'float')}")
    zero = e.call("float", "llvm.copysign.f32", ("float", literal(0, "float")), ("float", value))
    return e.op(f"select i1 {tiny}, float {zero}, float {value}")


def saturate(e: Text, value: str, kind: str) -> str:
    """Clamp to [0, 1]; NaN becomes 0 (.sat)."""
    t = working(kind)
    zero = literal(0, t)
    one = literal(0x3FF << 52 if t == "double" else 0x3F800000, t)
    positive = e.op(f"fcmp ogt {t} {value}, {zero}")
    value = e.op(f"select i1 {positive}, {t} {value}, {t} {zero}")
    below = e.op(f"fcmp olt {t} {value}, {one}")
    return e.op(f"select i1 {below}, {t} {value}, {t} {one}")


def each(e: Emitter, code: Instruction, compute: Scalar, inputs: Sequence[Operand]) -> None:
    """Apply a scalar float function to a scalar, half or packed type, with .ftz, .sat and .relu."""
    kind = code.mods[-1]
    if len(code.mods) > 1 and code.mods[-2] in _SCALARS:
        raise e.unsupported("operands of mixed precision")
    if kind == "f32x2":
        _packed(e, code, compute, inputs, "f32", "i64", 32)
    elif kind.endswith("x2"):
        _packed(e, code, compute, inputs, kind[:-2], "i32", 16)
    elif kind in {"f16", "bf16"}:
        values = [e.read(x, "i16") for x in inputs]
        e.write(code.args[0], "i16", _half(e, code, compute, kind, values))
    else:
        t = working(kind)
        values = [e.read(x, t) for x in inputs]
        e.write(code.args[0], t, _whole(e, code, compute, kind, values))


def _packed(
    e: Emitter,
    code: Instruction,
    compute: Scalar,
    inputs: Sequence[Operand],
    kind: str,
    whole: str,
    bits: int,
) -> None:
    packs = [e.read(x, whole) for x in inputs]
    total = "0"
    for shift in (0, bits):
        parts = [
            e.op(f"trunc {whole} {e.op(f'lshr {whole} {p}, {shift}')} to i{bits}") for p in packs
        ]
        if kind == "f32":
            floats = [e.op(f"bitcast i32 {p} to float") for p in parts]
            one = e.op(f"bitcast float {_whole(e, code, compute, kind, floats)} to i32")
        else:
            one = _half(e, code, compute, kind, parts)
        placed = e.op(f"shl {whole} {e.op(f'zext i{bits} {one} to {whole}')}, {shift}")
        total = e.op(f"or {whole} {total}, {placed}")
    e.write(code.args[0], whole, total)


def _half(e: Emitter, code: Instruction, compute: Scalar, kind: str, values: Sequence[str]) -> str:
    if code.op in {"fma", "mad"}:
        value = e.call("i16", f"gevolve_fma_{kind}", *(("i16", v) for v in values))
        if not {"ftz", "sat", "relu"} & set(code.mods):
            return value
        return narrow(e, _finish(e, code, kind, widen(e, value, kind)), kind)
    return narrow(e, _whole(e, code, compute, kind, [widen(e, v, kind) for v in values]), kind)


def _whole(e: Emitter, code: Instruction, compute: Scalar, kind: str, values: Sequence[str]) -> str:
    if "ftz" in code.mods:
        values = [flush(e, v, kind) for v in values]
    return _finish(e, code, kind, compute(kind, values))


def _finish(e: Emitter, code: Instruction, kind: str, value: str) -> str:
    if "ftz" in code.mods:
        value = flush(e, value, kind)
    if "sat" in code.mods:
        value = saturate(e, value, kind)
    if "relu" in code.mods:
        t = working(kind)
        negative = e.op(f"fcmp olt {t} {value}, {literal(0, t)}")
        value = e.op(f"select i1 {negative}, {t} {literal(0, t)}, {t} {value}")
    return value


def mode(code: Instruction) -> int:
    return next((ROUNDING[m] for m in code.mods if m in ROUNDING), 0)


def _suffix(kind: str) -> str:
    return "f64" if kind == "f64" else "f32"


def arithmetic(e: Emitter, code: Instruction) -> None:
    """Add, subtract, multiply."""
    rounding = mode(code)

    def compute(kind: str, v: Sequence[str]) -> str:
        t = working(kind)
        if rounding:
            args = ((t, v[0]), (t, v[1]), ("i32", str(rounding)))
            return e.call(t, f"gevolve_{code.op}_{_suffix(kind)}", *args)
        return e.op(f"{_FIRST[code.op]} {t} {v[0]}, {v[1]}")

    each(e, code, compute, code.args[1:3])


@pure("fma")
def fma(e: Emitter, code: Instruction) -> None:
    """One rounding, always: by the host's instruction, or by libm where it has none."""
    rounding = mode(code)

    def compute(kind: str, v: Sequence[str]) -> str:
        t = working(kind)
        args = [(t, x) for x in v]
        if rounding:
            return e.call(t, f"gevolve_fma_{_suffix(kind)}", *args, ("i32", str(rounding)))
        return e.call(t, f"llvm.fma.{_suffix(kind)}", *args)

    each(e, code, compute, code.args[1:4])


def divide(e: Emitter, code: Instruction) -> None:
    rounding = mode(code)

    def compute(kind: str, v: Sequence[str]) -> str:
        t = working(kind)
        if rounding:
            args = ((t, v[0]), (t, v[1]), ("i32", str(rounding)))
            return e.call(t, f"gevolve_div_{_suffix(kind)}", *args)
        return e.op(f"fdiv {t} {v[0]}, {v[1]}")

    each(e, code, compute, code.args[1:3])


@pure("rcp", "sqrt")
def rcp_sqrt(e: Emitter, code: Instruction) -> None:
    rounding = mode(code)

    def compute(kind: str, v: Sequence[str]) -> str:
        t = working(kind)
        if rounding:
            return e.call(
                t, f"gevolve_{code.op}_{_suffix(kind)}", (t, v[0]), ("i32", str(rounding))
            )
        if code.op == "sqrt":
            return e.call(t, f"llvm.sqrt.{_suffix(kind)}", (t, v[0]))
        one = literal(0x3FF << 52 if t == "double" else 0x3F800000, t)
        return e.op(f"fdiv {t} {one}, {v[0]}")

    each(e, code, compute, code.args[1:2])


@pure("rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def special(e: Emitter, code: Instruction) -> None:
    """The approximate functions: computed in double by libm, rounded once."""

    def compute(kind: str, v: Sequence[str]) -> str:
        t = working(kind)
        return e.call(t, f"gevolve_{code.op}_{_suffix(kind)}", (t, v[0]))

    each(e, code, compute, code.args[1:2])


def sign(e: Emitter, code: Instruction) -> None:
    """Absolute value and negation: the sign bit alone changes, also of NaN."""
    kind = code.mods[-1]
    if "ftz" in code.mods and kind in {"f32", "f16", "f16x2"}:
        each(e, code, lambda k, v: _sign_of(e, code.op, v[0], working(k)), code.args[1:2])
        return
    whole, bit = {
        **dict.fromkeys(("f16", "bf16"), ("i16", 0x8000)),
        **dict.fromkeys(("f16x2", "bf16x2"), ("i32", 0x80008000)),
        "f32": ("i32", 0x80000000),
        "f64": ("i64", 1 << 63),
        "f32x2": ("i64", 0x8000000080000000),
    }[kind]
    value = e.read(code.args[1], whole)
    if code.op == "neg":
        value = e.op(f"xor {whole} {value}, {literal(bit, whole)}")
    else:
        value = e.op(f"and {whole} {value}, {literal(~bit, whole)}")
    e.write(code.args[0], whole, value)


def _sign_of(e: Emitter, op: str, value: str, t: str) -> str:
    if op == "neg":
        return e.op(f"fneg {t} {value}")
    return e.call(t, f"llvm.fabs.{'f64' if t == 'double' else 'f32'}", (t, value))


def min_max(e: Emitter, code: Instruction) -> None:
    """A number wins over NaN unless .NaN is asked for; -0 is less than +0."""
    suffix = "" if "NaN" in code.mods else "num"
    name = {"min": "minimum", "max": "maximum"}[code.op] + suffix
    flip = "xorsign" in code.mods
    size = "abs" in code.mods

    def compute(kind: str, v: Sequence[str]) -> str:
        t, tail = working(kind), _suffix(kind)
        inputs = list(v)
        if size or flip:
            inputs = [e.call(t, f"llvm.fabs.{tail}", (t, x)) for x in inputs]
        value = inputs[0]
        for other in inputs[1:]:
            value = e.call(t, f"gevolve_{name}_{tail}", (t, value), (t, other))
        if flip:
            product = e.op(f"fmul {t} {v[0]}, {v[1]}")
            value = e.call(t, f"llvm.copysign.{tail}", (t, value), (t, product))
        return value

    each(e, code, compute, code.args[1:])


@pure("copysign")
def copysign(e: Emitter, code: Instruction) -> None:
    """The magnitude of the second operand with the sign of the first."""

    def compute(kind: str, v: Sequence[str]) -> str:
        t = working(kind)
        return e.call(t, f"llvm.copysign.{_suffix(kind)}", (t, v[1]), (t, v[0]))

    each(e, code, compute, code.args[1:3])


@pure("testp")
def testp(e: Emitter, code: Instruction) -> None:
    kind = code.mods[-1]
    classes = {
        "finite": 0b0111111000,
        "infinite": 0b1000000100,
        "number": 0b1111111100,
        "notanumber": 0b0000000011,
        "normal": 0b0101101000,  # with both zeros
        "subnormal": 0b0010010000,
    }[code.mods[0]]
    t = working(kind)
    value = e.read(code.args[1], t)
    name = f"llvm.is.fpclass.{_suffix(kind)}"
    e.declared[name] = f"declare i1 @{name}({t}, i32 immarg)"
    e.write(code.args[0], "i1", e.op(f"call i1 @{name}({t} {value}, i32 {classes})"))
