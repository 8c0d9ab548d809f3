"""Atomics: lanes run one at a time between steps, so reading, changing and writing back is atomic."""

from gevolve.device.sim.machine.instruction import (
    Address,
    Instruction,
    Operand,
    Pred,
    Reg,
    UPred,
    UReg,
)
from gevolve.device.sim.machine.translate.emit import UNIFORM, Emitter
from gevolve.device.sim.machine.translate.integer import target
from gevolve.device.sim.machine.translate.memory import pointer
from gevolve.device.sim.machine.translate.table import opcode
from gevolve.device.sim.translate.floating import narrow, widen

_KINDS = frozenset(
    {"ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "CAS", "INC", "DEC", "POPC", "CAST"}
)
_SIGNED = frozenset({"S32", "S64"})
_WIDE = frozenset({"64", "S64", "U64", "F64"})


@opcode("ATOM", "ATOMG", "ATOMS", "RED", "REDG")
def atomic(e: Emitter, code: Instruction) -> None:
    operands = [x for x in code.operands if not isinstance(x, (Pred, UPred))]
    where = next(n for n, x in enumerate(operands) if isinstance(x, Address))
    to = operands[0] if where else None
    values = operands[where + 1 :]
    mods = set(code.modifiers)
    name = next((m for m in code.modifiers if m in _KINDS), None)
    if name is None or "128" in mods:
        raise e.unsupported()
    wide = bool(_WIDE & mods)
    kind, size = ("i64", 8) if wide else ("i32", 4)
    place = pointer(e, operands[where], size, "atomic")
    old = e.op(f"load {kind}, ptr {place}, align {size}")
    given = [_value(e, x, kind) for x in values]
    new = _update(e, mods, name, kind, old, given)
    e.do(f"store {kind} {new}, ptr {place}, align {size}")
    if to is not None:
        told = _swapped(e, kind, old, given[0]) if name == "CAST" else old
        (e.write_wide if wide else e.write)(target(e, to), told)


def _swapped(e: Emitter, kind: str, old: str, want: str) -> str:
    """CAST tells whether it has swapped, not what was there."""
    return e.op(f"zext i1 {e.op(f'icmp eq {kind} {old}, {want}')} to {kind}")


def _value(e: Emitter, operand: Operand, kind: str) -> str:
    if kind == "i32":
        return e.integer(operand)
    assert isinstance(operand, (Reg, UReg))
    base = operand.index + (UNIFORM if isinstance(operand, UReg) else 0)
    return e.read_wide(base)


def _update(e: Emitter, mods: set[str], name: str, t: str, old: str, given: list[str]) -> str:
    if name == "POPC":  # POPC.INC: each lane adds one
        return e.op(f"add {t} {old}, 1")
    value = given[0]
    if name == "EXCH":
        return value
    if name in {"CAS", "CAST"}:
        same = e.op(f"icmp eq {t} {old}, {value}")
        return e.op(f"select i1 {same}, {t} {given[1]}, {t} {old}")
    if name == "INC":
        up = e.op(f"add {t} {old}, 1")
        wraps = e.op(f"icmp uge {t} {old}, {value}")
        return e.op(f"select i1 {wraps}, {t} 0, {t} {up}")
    if name == "DEC":
        down = e.op(f"sub {t} {old}, 1")
        above = e.op(f"icmp ugt {t} {old}, {value}")
        zero = e.op(f"icmp eq {t} {old}, 0")
        wraps = e.op(f"or i1 {above}, {zero}")
        return e.op(f"select i1 {wraps}, {t} {value}, {t} {down}")
    floats = [m for m in mods if m.startswith(("F16", "F32", "F64", "BF16"))]
    if floats:
        return _update_float(e, mods, name, floats[0], t, old, value)
    if name in {"MIN", "MAX"}:
        order = ("s" if mods & _SIGNED else "u") + ("lt" if name == "MIN" else "gt")
        keep = e.op(f"icmp {order} {t} {old}, {value}")
        return e.op(f"select i1 {keep}, {t} {old}, {t} {value}")
    return e.op(f"{name.lower()} {t} {old}, {value}")


def _update_float(
    e: Emitter, mods: set[str], name: str, kind: str, t: str, old: str, value: str
) -> str:
    if name != "ADD":
        raise e.unsupported()
    if kind in {"F32", "F64"}:
        f = "float" if kind == "F32" else "double"
        a, b = (e.op(f"bitcast {t} {v} to {f}") for v in (old, value))
        del mods  # .FTZ of an atomic add does not hold for memory beyond L1
        return e.op(f"bitcast {f} {e.op(f'fadd {f} {a}, {b}')} to {t}")
    half = "bf16" if kind.startswith("BF16") else "f16"
    total = "0"
    for shift in (0, 16):
        parts = [
            widen(e, e.op(f"trunc i32 {e.op(f'lshr i32 {v}, {shift}')} to i16"), half)
            for v in (old, value)
        ]
        summed = narrow(e, e.op(f"fadd float {parts[0]}, {parts[1]}"), half)
        placed = e.op(f"shl i32 {e.op(f'zext i16 {summed} to i32')}, {shift}")
        total = e.op(f"or i32 {total}, {placed}")
    return total
