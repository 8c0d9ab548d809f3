"""Bits: logic, shifts that clamp, fields, counts, permutations."""

from gevolve.device.sim.ptx import Instruction
from gevolve.device.sim.translate.emit import Emitter, integer_of
from gevolve.device.sim.translate.integer import signed
from gevolve.device.sim.translate.table import pure


@pure("and", "or", "xor")
def logic(e: Emitter, code: Instruction) -> None:
    kind = integer_of(code.mods[-1])
    a, b = e.read(code.args[1], kind), e.read(code.args[2], kind)
    e.write(code.args[0], kind, e.op(f"{code.op} {kind} {a}, {b}"))


@pure("not")
def invert(e: Emitter, code: Instruction) -> None:
    kind = integer_of(code.mods[-1])
    ones = "true" if kind == "i1" else "-1"
    e.write(code.args[0], kind, e.op(f"xor {kind} {e.read(code.args[1], kind)}, {ones}"))


@pure("cnot")
def is_zero(e: Emitter, code: Instruction) -> None:
    kind = integer_of(code.mods[-1])
    zero = e.op(f"icmp eq {kind} {e.read(code.args[1], kind)}, 0")
    e.write(code.args[0], kind, e.op(f"zext i1 {zero} to {kind}"))


@pure("lop3")
def lop3(e: Emitter, code: Instruction) -> None:
    """Any function of three bits: the or of the minterms that its table has."""
    table = code.args[4]
    assert isinstance(table, int)
    inputs = [e.read(x, "i32") for x in code.args[1:4]]
    negated = [e.op(f"xor i32 {x}, -1") for x in inputs]
    value = "0"
    for row in range(8):
        if not table >> row & 1:
            continue
        terms = [inputs[i] if row >> (2 - i) & 1 else negated[i] for i in range(3)]
        both = e.op(f"and i32 {terms[0]}, {terms[1]}")
        value = e.op(f"or i32 {value}, {e.op(f'and i32 {both}, {terms[2]}')}")
    e.write(code.args[0], "i32", value)


@pure("shl", "shr")
def shift(e: Emitter, code: Instruction) -> None:
    """Shifts by the width or more give what shifting one by one would: PTX clamps, LLVM does not."""
    kind, bits = integer_of(code.mods[-1]), int(integer_of(code.mods[-1])[1:])
    a = e.read(code.args[1], kind)
    arithmetic = code.op == "shr" and signed(code.mods[-1])
    step = "ashr" if arithmetic else "shl" if code.op == "shl" else "lshr"
    amount = code.args[2]
    if isinstance(amount, int):
        amount &= 0xFFFFFFFF
        if amount >= bits and not arithmetic:
            e.write(code.args[0], kind, "0")
            return
        e.write(code.args[0], kind, e.op(f"{step} {kind} {a}, {min(amount, bits - 1)}"))
        return
    by = e.read(amount, "i32")
    inside = e.op(f"icmp ult i32 {by}, {bits}")
    clamped = e.op(f"select i1 {inside}, i32 {by}, i32 {bits - 1}")
    value = e.op(f"{step} {kind} {a}, {_as(e, clamped, kind)}")
    if not arithmetic:
        value = e.op(f"select i1 {inside}, {kind} {value}, {kind} 0")
    e.write(code.args[0], kind, value)


def _as(e: Emitter, value: str, kind: str) -> str:
    """A 32-bit count as another integer type."""
    return e.convert(value, "i32", kind)


@pure("shf")
def funnel(e: Emitter, code: Instruction) -> None:
    low, high, by = (e.read(x, "i32") for x in code.args[1:4])
    if "wrap" in code.mods:
        amount = e.op(f"and i32 {by}, 31")
    else:
        amount = e.op(f"select i1 {e.op(f'icmp ult i32 {by}, 32')}, i32 {by}, i32 32")
    wide = e.op(f"shl i64 {e.op(f'zext i32 {high} to i64')}, 32")
    wide = e.op(f"or i64 {wide}, {e.op(f'zext i32 {low} to i64')}")
    amount = e.op(f"zext i32 {amount} to i64")
    if "l" in code.mods:
        wide = e.op(f"lshr i64 {e.op(f'shl i64 {wide}, {amount}')}, 32")
    else:
        wide = e.op(f"lshr i64 {wide}, {amount}")
    e.write(code.args[0], "i32", e.op(f"trunc i64 {wide} to i32"))


@pure("popc", "clz", "brev")
def count(e: Emitter, code: Instruction) -> None:
    kind = integer_of(code.mods[-1])
    a = e.read(code.args[1], kind)
    if code.op == "brev":
        e.write(code.args[0], kind, e.call(kind, f"llvm.bitreverse.{kind}", (kind, a)))
    elif code.op == "popc":
        value = e.call(kind, f"llvm.ctpop.{kind}", (kind, a))
        e.write(code.args[0], "i32", e.convert(value, kind, "i32"))
    else:
        value = e.call(kind, f"llvm.ctlz.{kind}", (kind, a), ("i1", "false"))
        e.write(code.args[0], "i32", e.convert(value, kind, "i32"))


@pure("bfind")
def find_leading(e: Emitter, code: Instruction) -> None:
    """The position of the highest bit that is not a copy of the sign; -1 if there is none."""
    kind = integer_of(code.mods[-1])
    a = e.read(code.args[1], kind)
    if signed(code.mods[-1]):
        flipped = e.op(f"xor {kind} {a}, -1")
        negative = e.op(f"icmp slt {kind} {a}, 0")
        a = e.op(f"select i1 {negative}, {kind} {flipped}, {kind} {a}")
    zeros = e.convert(e.call(kind, f"llvm.ctlz.{kind}", (kind, a), ("i1", "false")), kind, "i32")
    value = zeros if "shiftamt" in code.mods else e.op(f"sub i32 {int(kind[1:]) - 1}, {zeros}")
    none = e.op(f"icmp eq {kind} {a}, 0")
    e.write(code.args[0], "i32", e.op(f"select i1 {none}, i32 -1, i32 {value}"))


@pure("bfe", "bfi", "szext", "bmsk", "fns", "prmt")
def by_call(e: Emitter, code: Instruction) -> None:
    """Rarer ones, which the C runtime spells out."""
    i32 = "i32"
    kind = i32 if code.op == "prmt" else integer_of(code.mods[-1])
    sign = "s" if signed(code.mods[-1]) else "u"
    if code.op == "bfe":
        name, kinds = f"gevolve_bfe_{sign}{kind[1:]}", (kind, i32, i32)
    elif code.op == "bfi":
        name, kinds = f"gevolve_bfi_{kind[1:]}", (kind, kind, i32, i32)
    elif code.op == "prmt":
        mode = code.mods[1] if len(code.mods) > 1 else ""
        name, kinds = f"gevolve_prmt{'_' if mode else ''}{mode}", (i32, i32, i32)
    elif code.op == "fns":
        name, kinds = "gevolve_fns", (i32, i32, i32)
    else:
        mode = "wrap" if "wrap" in code.mods else "clamp"
        name = f"gevolve_{code.op}_{sign if code.op == 'szext' else 'b'}_{mode}"
        kinds = (i32, i32)
    args = [(k, e.read(x, k)) for k, x in zip(kinds, code.args[1:], strict=False)]
    e.write(code.args[0], kind, e.call(kind, name, *args))
