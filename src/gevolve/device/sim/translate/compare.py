"""Comparisons and selection: setp, set, selp, slct."""

from gevolve.device.sim.ptx import Instruction, Pair
from gevolve.device.sim.translate.emit import Emitter, integer_of, literal
from gevolve.device.sim.translate.floating import flush, widen, working
from gevolve.device.sim.translate.table import pure

_FLOAT = {
    **{name: f"o{name}" for name in ("eq", "lt", "le", "gt", "ge")},
    "ne": "one",
    **{f"{name}u": f"u{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "num": "ord",
    "nan": "uno",
}
_UNSIGNED = {"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}
_COMPARISONS = frozenset({*_FLOAT, *_UNSIGNED})
_COMBINE = frozenset({"and", "or", "xor"})


def compare(e: Emitter, code: Instruction, kind: str) -> str:
    """The truth of the comparison that an instruction names, as i1."""
    name = next(m for m in code.mods if m in _COMPARISONS)
    if kind[0] == "f" or kind == "bf16":
        t = working(kind)
        if kind in {"f16", "bf16"}:
            a, b = (widen(e, e.read(x, "i16"), kind) for x in code.args[1:3])
        else:
            a, b = (e.read(x, t) for x in code.args[1:3])
        if "ftz" in code.mods:
            a, b = flush(e, a, kind), flush(e, b, kind)
        return e.op(f"fcmp {_FLOAT[name]} {t} {a}, {b}")
    t = integer_of(kind)
    a, b = (e.read(x, t) for x in code.args[1:3])
    if name in _UNSIGNED:
        test = _UNSIGNED[name]
    elif name in {"eq", "ne"}:
        test = name
    else:
        test = ("s" if kind[0] == "s" else "u") + name
    return e.op(f"icmp {test} {t} {a}, {b}")


def _combined(e: Emitter, code: Instruction, truth: str) -> str:
    joint = next((m for m in code.mods if m in _COMBINE), None)
    if joint is None:
        return truth
    return e.op(f"{joint} i1 {truth}, {e.read(code.args[3], 'i1')}")


@pure("setp")
def setp(e: Emitter, code: Instruction) -> None:
    kind = code.mods[-1]
    target = code.args[0]
    if kind in {"f16x2", "bf16x2"}:
        _packed(e, code, kind[:-2])
        return
    truth = compare(e, code, kind)
    if not isinstance(target, Pair):
        e.write(target, "i1", _combined(e, code, truth))
        return
    first = _combined(e, code, truth)
    second = _combined(e, code, e.op(f"xor i1 {truth}, true"))
    e.write(target.first, "i1", first)
    e.write(target.second, "i1", second)


def _packed(e: Emitter, code: Instruction, kind: str) -> None:
    """Both halves compared, one predicate each."""
    target = code.args[0]
    assert isinstance(target, Pair)
    name = next(m for m in code.mods if m in _FLOAT)
    packs = [e.read(x, "i32") for x in code.args[1:3]]
    for shift, predicate in ((0, target.first), (16, target.second)):
        a, b = (
            widen(e, e.op(f"trunc i32 {e.op(f'lshr i32 {p}, {shift}')} to i16"), kind)
            for p in packs
        )
        if "ftz" in code.mods:
            a, b = flush(e, a, kind), flush(e, b, kind)
        truth = e.op(f"fcmp {_FLOAT[name]} float {a}, {b}")
        e.write(predicate, "i1", _combined(e, code, truth))


@pure("set")
def set_(e: Emitter, code: Instruction) -> None:
    result, kind = code.mods[-2:]
    truth = _combined(e, code, compare(e, code, kind))
    if result == "f32":
        one = literal(0x3F800000, "float")
        value = e.op(f"select i1 {truth}, float {one}, float {literal(0, 'float')}")
        e.write(code.args[0], "float", value)
        return
    t = integer_of(result)
    one = {"f16": "15360", "bf16": "16256"}.get(result, "-1")
    e.write(code.args[0], t, e.op(f"select i1 {truth}, {t} {one}, {t} 0"))


@pure("selp")
def selp(e: Emitter, code: Instruction) -> None:
    t = integer_of(code.mods[-1])
    a, b = (e.read(x, t) for x in code.args[1:3])
    test = e.read(code.args[3], "i1")
    e.write(code.args[0], t, e.op(f"select i1 {test}, {t} {a}, {t} {b}"))


@pure("slct")
def slct(e: Emitter, code: Instruction) -> None:
    """The first operand if the third is not negative; NaN selects the second."""
    result, kind = code.mods[-2:]
    t = integer_of(result)
    a, b = (e.read(x, t) for x in code.args[1:3])
    if kind == "f32":
        value = e.read(code.args[3], "float")
        if "ftz" in code.mods:
            value = flush(e, value, kind)
        test = e.op(f"fcmp oge float {value}, {literal(0, 'float')}")
    else:
        test = e.op(f"icmp sge i32 {e.read(code.args[3], 'i32')}, 0")
    e.write(code.args[0], t, e.op(f"select i1 {test}, {t} {a}, {t} {b}"))
