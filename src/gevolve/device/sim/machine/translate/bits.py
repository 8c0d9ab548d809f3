"""Bits: logic by table, shifts, permutations, counts, masks."""

from gevolve.device.sim.machine.instruction import Const, Imm, Instruction, Operand, Reg, UReg
from gevolve.device.sim.machine.translate.emit import Emitter
from gevolve.device.sim.machine.translate.integer import target
from gevolve.device.sim.machine.translate.table import leading, opcode


def _two(e: Emitter, kind: str, table: int, b: str, c: str) -> str | None:
    """A function of two values by its table of four bits; None if it is zero everywhere."""
    ones = "true" if kind == "i1" else "-1"
    match table:
        case 0:
            return None
        case 0xF:
            return ones
        case 0xC:
            return b
        case 0xA:
            return c
        case 0x8:
            return e.op(f"and {kind} {b}, {c}")
        case 0xE:
            return e.op(f"or {kind} {b}, {c}")
        case 0x6:
            return e.op(f"xor {kind} {b}, {c}")
        case 0x4:
            return e.op(f"and {kind} {b}, {e.op(f'xor {kind} {c}, {ones}')}")
        case 0x2:
            return e.op(f"and {kind} {c}, {e.op(f'xor {kind} {b}, {ones}')}")
        case _:
            positive = _two(e, kind, table ^ 0xF, b, c)
            return e.op(f"xor {kind} {positive}, {ones}")


def lookup(e: Emitter, kind: str, table: int, a: str, b: str, c: str) -> str:
    """A function of three values by its table of eight bits: ``f0(b, c) ^ (a & (f0 ^ f1)(b, c))``."""
    low, both = table & 15, (table >> 4 ^ table) & 15
    first = _two(e, kind, low, b, c)
    second = _two(e, kind, both, b, c)
    if second is None:
        return first or ("false" if kind == "i1" else "0")
    ones = "true" if kind == "i1" else "-1"
    if low and both == low:  # nothing where a is set
        inverted = e.op(f"xor {kind} {a}, {ones}")
        return inverted if first == ones else e.op(f"and {kind} {inverted}, {first}")
    masked = a if second == ones else e.op(f"and {kind} {a}, {second}")
    return masked if first is None else e.op(f"xor {kind} {first}, {masked}")


@opcode("LOP3", "ULOP3")
def logic(e: Emitter, code: Instruction) -> None:
    """Any function of three values, by its table; a predicate tells whether the result has any bit."""
    out, first = leading(code.operands, 0)
    to, a, b, c, table, *rest = code.operands[first:]
    assert isinstance(table, Imm)
    value = lookup(e, "i32", table.bits, e.integer(a), e.integer(b), e.integer(c))
    truth = ""
    if out:
        truth = e.op(f"icmp ne i32 {value}, 0")
        if rest and (other := e.truth(rest[0])) != "false":
            how = "and" if "PAND" in code.modifiers else "or"
            truth = e.op(f"{how} i1 {truth}, {other}")
    e.write(target(e, to), value)
    if out:
        e.set(out[0], truth)


@opcode("PLOP3", "UPLOP3")
def predicate_logic(e: Emitter, code: Instruction) -> None:
    """Two functions of three predicates."""
    one, two, a, b, c, *tables = code.operands
    values = [e.truth(x) for x in (a, b, c)]
    made: list[str] = []
    for table in tables:
        assert isinstance(table, Imm)
        made.append(lookup(e, "i1", table.bits, *values))
    e.set(one, made[0])
    if len(made) > 1:
        e.set(two, made[1])


@opcode("SHF", "USHF")
def shift(e: Emitter, code: Instruction) -> None:
    """Shifts the pair ``high:low`` and takes its lower word, or its upper one (.HI)."""
    to, low, by, high = code.operands
    mods = set(code.modifiers)
    kind = next(m for m in ("U32", "S32", "U64", "S64") if m in mods)
    left, upper, size = "L" in mods, "HI" in mods, int(kind[1:])
    signed = kind[0] == "S"
    if isinstance(by, Imm):
        count = by.bits & (size - 1) if "W" in mods else min(by.bits, size)
        if count < 32 and (value := _simple(e, low, high, count, left, upper, signed)):
            e.write(target(e, to), value)
            return
        amount, far = str(min(count, 63)), "true" if count > 63 else ""
    else:
        amount = e.op(f"zext i32 {e.integer(by)} to i64")
        far = ""
        if "W" in mods:
            amount = e.op(f"and i64 {amount}, {size - 1}")
        else:
            last = 32 if size == 32 else 63
            beyond = e.op(f"icmp ugt i64 {amount}, {last}")
            amount = e.op(f"select i1 {beyond}, i64 {last}, i64 {amount}")
            far = beyond if size == 64 else ""
    lower = e.op(f"zext i32 {e.integer(low)} to i64")
    higher = e.op(f"zext i32 {e.integer(high)} to i64")
    pair = e.op(f"or i64 {lower}, {e.op(f'shl i64 {higher}, 32')}")
    step = "shl" if left else "ashr" if signed else "lshr"
    moved = e.op(f"{step} i64 {pair}, {amount}")
    if far and step != "ashr":
        moved = e.op(f"select i1 {far}, i64 0, i64 {moved}")
    if upper:
        moved = e.op(f"lshr i64 {moved}, 32")
    e.write(target(e, to), e.op(f"trunc i64 {moved} to i32"))


def _simple(
    e: Emitter, low: Operand, high: Operand, count: int, left: bool, upper: bool, signed: bool
) -> str:
    """Shifts of one word by a number below 32; empty if it is none."""
    if left and not upper:
        return e.op(f"shl i32 {e.integer(low)}, {count}")
    if not left and upper:
        return e.op(f"{'ashr' if signed else 'lshr'} i32 {e.integer(high)}, {count}")
    return ""


@opcode("PRMT", "UPRMT")
def permute(e: Emitter, code: Instruction) -> None:
    """Four bytes picked from eight; the picks come second."""
    to, a, picks, b = code.operands
    suffix = "".join(f"_{m.lower()}" for m in code.modifiers)
    args = (("i32", e.integer(a)), ("i32", e.integer(b)), ("i32", e.integer(picks)))
    e.write(target(e, to), e.call("i32", f"gevolve_prmt{suffix}", *args))


@opcode("POPC", "UPOPC")
def population(e: Emitter, code: Instruction) -> None:
    to, source = code.operands
    e.write(target(e, to), e.call("i32", "llvm.ctpop.i32", ("i32", e.integer(source))))


@opcode("BREV", "UBREV")
def reverse(e: Emitter, code: Instruction) -> None:
    to, source = code.operands
    e.write(target(e, to), e.call("i32", "llvm.bitreverse.i32", ("i32", e.integer(source))))


@opcode("FLO", "UFLO")
def find_leading_one(e: Emitter, code: Instruction) -> None:
    """The place of the leading one (of the leading bit unlike the sign), or -1; .SH counts from the top."""
    to, *_, source = code.operands
    value = e.integer(source)
    if "U32" not in code.modifiers:
        sign = e.op(f"ashr i32 {value}, 31")
        value = e.op(f"xor i32 {value}, {sign}")
    e.declared["llvm.ctlz.i32"] = "declare i32 @llvm.ctlz.i32(i32, i1 immarg)"
    zeros = e.op(f"call i32 @llvm.ctlz.i32(i32 {value}, i1 false)")
    found = zeros if "SH" in code.modifiers else e.op(f"sub i32 31, {zeros}")
    none = e.op(f"icmp eq i32 {value}, 0")
    e.write(target(e, to), e.op(f"select i1 {none}, i32 -1, i32 {found}"))


@opcode("SGXT", "USGXT")
def extend(e: Emitter, code: Instruction) -> None:
    """The lower bits, so many of them, with their sign or with zeros."""
    to, value, width = code.operands
    sign = "u" if "U32" in code.modifiers else "s"
    how = "wrap" if "W" in code.modifiers else "clamp"
    args = (("i32", e.integer(value)), ("i32", e.integer(width)))
    e.write(target(e, to), e.call("i32", f"gevolve_szext_{sign}_{how}", *args))


@opcode("BMSK", "UBMSK")
def mask(e: Emitter, code: Instruction) -> None:
    """A row of ones: from where, how many."""
    to, first, width = code.operands
    how = "wrap" if "W" in code.modifiers else "clamp"
    args = (("i32", e.integer(first)), ("i32", e.integer(width)))
    e.write(target(e, to), e.call("i32", f"gevolve_bmsk_b_{how}", *args))


@opcode("P2R", "UP2UR")
def from_predicates(e: Emitter, code: Instruction) -> None:
    """Predicates as bits, those that the mask has; other bits of the source stay."""
    to, _, source, chosen = code.operands
    assert isinstance(chosen, Imm)
    shift = _byte(code, to)
    value = e.op(f"and i32 {e.integer(source)}, {~(chosen.bits << shift) & 0xFFFFFFFF}")
    for number in range(7):
        if chosen.bits >> number & 1:
            bit = e.op(f"zext i1 {e.predicate(number)} to i32")
            value = e.op(f"or i32 {value}, {e.op(f'shl i32 {bit}, {number + shift}')}")
    e.write(target(e, to), value)


@opcode("R2P")
def to_predicates(e: Emitter, code: Instruction) -> None:
    """Bits of a register as predicates, those that the mask has."""
    _, source, chosen = code.operands
    assert isinstance(chosen, Imm)
    shift = _byte(code, source)
    value = e.integer(source)
    for number in range(7):
        if chosen.bits >> number & 1:
            bit = e.op(f"and i32 {value}, {1 << (number + shift)}")
            e.set(number, e.op(f"icmp ne i32 {bit}, 0"))


def _byte(code: Instruction, operand: Operand) -> int:
    part = operand.part if isinstance(operand, (Reg, UReg, Const)) else ""
    names = (*code.modifiers, part)
    return next((8 * int(m[1]) for m in names if m in {"B0", "B1", "B2", "B3"}), 0)
