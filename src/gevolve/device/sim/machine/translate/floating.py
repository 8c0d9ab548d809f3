"""Single and double precision: arithmetic, comparisons, extremes, the special function unit.

Results are those of IEEE 754 in the rounding that the instruction names. `MUFU` gives the float next to
the true value, where a GPU may be one or two units in the last place off; divisions and roots that
refine such a value come out the same. Sines, cosines, logarithms and hyperbolic tangents are as far off as a GPU's.
"""

from gevolve.device.sim.machine.instruction import Const, Instruction, Operand, Reg, UReg
from gevolve.device.sim.machine.translate.emit import Emitter
from gevolve.device.sim.machine.translate.integer import join, target
from gevolve.device.sim.machine.translate.table import opcode
from gevolve.device.sim.translate.floating import flush, saturate
from gevolve.device.sim.translate.text import literal

ROUNDING = {"RZ": 1, "RM": 2, "RP": 3}
"""The runtime's number for each rounding but the nearest."""
_SCALES = {"D2": 0.5, "D4": 0.25, "D8": 0.125, "M2": 2.0, "M4": 4.0, "M8": 8.0}
_COMPARISONS = {
    "LT": "olt",
    "EQ": "oeq",
    "LE": "ole",
    "GT": "ogt",
    "NE": "one",
    "GE": "oge",
    "NUM": "ord",
    "NAN": "uno",
    "LTU": "ult",
    "EQU": "ueq",
    "LEU": "ule",
    "GTU": "ugt",
    "NEU": "une",
    "GEU": "uge",
}


def mode(code: Instruction) -> int:
    """The runtime's number for an instruction's rounding."""
    return next((ROUNDING[m] for m in code.modifiers if m in ROUNDING), 0)


def _single(e: Emitter, code: Instruction, operand: Operand) -> str:
    value = e.float(operand)
    return flush(e, value, "f32") if "FTZ" in code.modifiers else value


def _finish(e: Emitter, code: Instruction, value: str) -> None:
    if "FTZ" in code.modifiers:
        value = flush(e, value, "f32")
    if "SAT" in code.modifiers:
        value = saturate(e, value, "f32")
    e.write(target(e, code.operands[0]), value, "float")


def _arithmetic(e: Emitter, name: str, suffix: str, rounding: int, *values: str) -> str:
    t = "float" if suffix == "f32" else "double"
    if rounding:
        args = (*((t, v) for v in values), ("i32", str(rounding)))
        return e.call(t, f"gevolve_{name}_{suffix}", *args)
    if name == "fma":
        return e.call(t, f"llvm.fma.{suffix}", *((t, v) for v in values))
    return e.op(f"f{name} {t} {values[0]}, {values[1]}")


@opcode("FADD", "FADD32I")
def add(e: Emitter, code: Instruction) -> None:
    _, a, b = code.operands
    values = (_single(e, code, a), _single(e, code, b))
    _finish(e, code, _arithmetic(e, "add", "f32", mode(code), *values))


@opcode("FMUL", "FMUL32I")
def multiply(e: Emitter, code: Instruction) -> None:
    _, a, b = code.operands
    values = (_single(e, code, a), _single(e, code, b))
    scale = next((_SCALES[m] for m in code.modifiers if m in _SCALES), None)
    if scale is None:
        _finish(e, code, _arithmetic(e, "mul", "f32", mode(code), *values))
        return
    # The product and its scaling are rounded once, together.
    wide = [e.op(f"fpext float {v} to double") for v in values]
    product = e.op(f"fmul double {wide[0]}, {wide[1]}")
    product = e.op(f"fmul double {product}, {scale:e}")
    if rounding := mode(code):
        args = (("double", product), ("i32", str(rounding)))
        _finish(e, code, e.call("float", "gevolve_f64_to_f32", *args))
        return
    _finish(e, code, e.op(f"fptrunc double {product} to float"))


@opcode("FFMA", "FFMA32I")
def multiply_add(e: Emitter, code: Instruction) -> None:
    _, a, b, c = code.operands
    values = tuple(_single(e, code, x) for x in (a, b, c))
    _finish(e, code, _arithmetic(e, "fma", "f32", mode(code), *values))


@opcode("DADD", "DMUL", "DFMA")
def double(e: Emitter, code: Instruction) -> None:
    to, *sources = code.operands
    name = {"DADD": "add", "DMUL": "mul", "DFMA": "fma"}[code.opcode]
    values = [e.double(x) for x in sources]
    e.write_wide(target(e, to), _arithmetic(e, name, "f64", mode(code), *values), "double")


@opcode("FSETP", "DSETP")
def compare(e: Emitter, code: Instruction) -> None:
    first, second, a, b, joined = code.operands
    t = "float" if code.opcode == "FSETP" else "double"
    if code.modifiers[0] in {"MIN", "MAX"}:
        _choose(e, code)
        return
    x, y = ((_single(e, code, v) if t == "float" else e.double(v)) for v in (a, b))
    join(e, code.modifiers, (first, second), _compared(e, code, t, x, y), joined)


def _compared(e: Emitter, code: Instruction, t: str, x: str, y: str) -> str:
    name = next(m for m in code.modifiers if m in _COMPARISONS or m in {"T", "F"})
    if name in {"T", "F"}:
        return "true" if name == "T" else "false"
    return e.op(f"fcmp {_COMPARISONS[name]} {t} {x}, {y}")


def _choose(e: Emitter, code: Instruction) -> None:
    """DSETP.MIN and .MAX: whether the first is the one to take, and whether neither is a number."""
    first, second, a, b, _ = code.operands
    x, y = e.double(a), e.double(b)
    below = e.op(f"fcmp {'olt' if code.modifiers[0] == 'MIN' else 'ogt'} double {x}, {y}")
    same = e.op(f"fcmp oeq double {x}, {y}")
    left, right = e.op(f"bitcast double {x} to i64"), e.op(f"bitcast double {y} to i64")
    order = "slt" if code.modifiers[0] == "MIN" else "sgt"
    signs = e.op(f"icmp {order} i64 {left}, {right}")
    below = e.op(f"or i1 {below}, {e.op(f'and i1 {same}, {signs}')}")
    here, there = (e.op(f"fcmp uno double {v}, {v}") for v in (x, y))
    only = e.op(f"and i1 {there}, {e.op(f'xor i1 {here}, true')}")
    e.set(first, e.op(f"or i1 {below}, {only}"))
    e.set(second, e.op(f"and i1 {here}, {there}"))


@opcode("FSET")
def compare_to_register(e: Emitter, code: Instruction) -> None:
    """A comparison as a number: 1.0 (.BF) or all ones."""
    to, a, b, joined = code.operands
    x, y = _single(e, code, a), _single(e, code, b)
    truth = _compared(e, code, "float", x, y)
    how = next((m for m in ("AND", "OR", "XOR") if m in code.modifiers), "AND").lower()
    truth = e.op(f"{how} i1 {truth}, {e.truth(joined)}")
    one = literal(0x3F800000 if "BF" in code.modifiers else -1, "i32")
    e.write(target(e, to), e.op(f"select i1 {truth}, i32 {one}, i32 0"))


@opcode("FMNMX")
def extreme(e: Emitter, code: Instruction) -> None:
    """The lesser where the predicate holds, else the greater; a number wins over NaN, unless .NAN."""
    to, a, b, which = code.operands
    if "XORSIGN" in code.modifiers:
        raise e.unsupported()
    x, y = _single(e, code, a), _single(e, code, b)
    suffix = "" if "NAN" in code.modifiers else "num"
    least = e.truth(which)
    values = {
        truth: e.call("float", f"gevolve_{name}{suffix}_f32", ("float", x), ("float", y))
        for truth, name in (("true", "minimum"), ("false", "maximum"))
        if least == truth or least not in {"true", "false"}
    }
    if least in values:
        value = values[least]
    else:
        value = e.op(f"select i1 {least}, float {values['true']}, float {values['false']}")
    if "FTZ" in code.modifiers:
        value = flush(e, value, "f32")
    e.write(target(e, to), value, "float")


@opcode("FCHK")
def check_division(e: Emitter, code: Instruction) -> None:
    to, a, b = code.operands
    found = e.call("i32", "gevolve_fchk", ("float", e.float(a)), ("float", e.float(b)))
    e.set(to, e.op(f"icmp ne i32 {found}, 0"))


_MUFU = frozenset({"RCP", "RSQ", "SQRT", "EX2", "LG2", "SIN", "COS", "TANH"})


@opcode("MUFU")
def function(e: Emitter, code: Instruction) -> None:
    to, source = code.operands
    name = code.modifiers[0]
    if name in {"RCP64H", "RSQ64H"}:
        value = e.call("i32", f"gevolve_mufu_{name.lower()}", ("i32", _upper(e, source)))
        e.write(target(e, to), value)
        return
    if name not in _MUFU or set(code.modifiers[1:]) - {"FTZ"}:
        raise e.unsupported()
    value = e.call("float", f"gevolve_mufu_{name.lower()}", ("float", e.float(source)))
    e.write(target(e, to), value, "float")


def _upper(e: Emitter, operand: Operand) -> str:
    """The upper half of a double, with the operand's sign."""
    if not isinstance(operand, (Reg, UReg, Const)):
        return e.bare(operand)
    value = e.bare(operand)
    if operand.absolute:
        value = e.op(f"and i32 {value}, 2147483647")
    return e.op(f"xor i32 {value}, -2147483648") if operand.negate else value
