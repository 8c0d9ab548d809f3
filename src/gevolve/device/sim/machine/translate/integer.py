"""Integer arithmetic: sums with carries, products, comparisons, extremes."""

from gevolve.device.sim.machine.instruction import (
    RZ,
    Const,
    Imm,
    Instruction,
    Operand,
    Pred,
    Reg,
    UPred,
    UReg,
)
from gevolve.device.sim.machine.translate.emit import UNIFORM, Emitter
from gevolve.device.sim.machine.translate.table import leading, opcode, trailing


def target(e: Emitter, operand: Operand) -> int:
    """The number of the register that an operand names as a destination."""
    match operand:
        case Reg():
            return operand.index
        case UReg():
            return UNIFORM + operand.index
        case _:
            raise e.unsupported()


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Reg) and operand.index == RZ and not operand.invert


def _parts(
    code: Instruction,
) -> tuple[Operand, list[Pred | UPred], tuple[Operand, ...], list[Pred | UPred]]:
    """Destination, carries out, sources, carries in."""
    out, first = leading(code.operands, 1)
    inward = trailing(code.operands)
    return code.operands[0], out, code.operands[first : len(code.operands) - len(inward)], inward


def _bits_and_one(e: Emitter, operand: Operand) -> tuple[str, int]:
    """An addend as 64 bits without its sign, and 1 if it was negated: ``-x`` is ``~x + 1``."""
    if isinstance(operand, (Reg, UReg, Const)) and operand.negate:
        value = e.op(f"xor i32 {e.bare(operand)}, -1")
        return e.op(f"zext i32 {value} to i64"), 1
    return e.op(f"zext i32 {e.integer(operand)} to i64"), 0


@opcode("IADD3", "UIADD3", "VIADD", "IADD", "IADD32I", "UIADD")
def add(e: Emitter, code: Instruction) -> None:
    """Up to three addends. The carries out count how often the sum passes 32 bits."""
    to, out, sources, inward = _parts(code)
    extended = "X" in code.modifiers
    if not extended and not any(p.index != 7 for p in out):
        total = "0"
        for source in sources:
            if _is_zero(source) or (isinstance(source, UReg) and source.index == 63):
                continue
            if isinstance(source, (Reg, UReg)) and source.negate:
                total = e.op(f"sub i32 {total}, {e.bare(source)}")
            else:
                value = e.integer(source)
                total = value if total == "0" else e.op(f"add i32 {total}, {value}")
        e.write(target(e, to), total)
        return
    ones, terms = 0, list[str]()
    for source in sources:
        if _is_zero(source):
            continue
        value, one = _bits_and_one(e, source)
        terms.append(value)
        ones += one
    if ones:
        terms.append(str(ones))
    if extended:
        for carry in inward:
            if not (carry.index == 7 and carry.negate):
                terms.append(e.op(f"zext i1 {e.truth(carry)} to i64"))
    total = _sum(e, terms)
    passed = e.op(f"lshr i64 {total}, 32")
    truths = [e.op(f"icmp ugt i64 {passed}, {times}") for times in range(len(out))]
    e.write(target(e, to), e.op(f"trunc i64 {total} to i32"))
    for carry, truth in zip(out, truths, strict=True):
        e.set(carry, truth)


def _sum(e: Emitter, terms: list[str]) -> str:
    if not terms:
        return "0"
    total = terms[0]
    for term in terms[1:]:
        total = e.op(f"add i64 {total}, {term}")
    return total


def _product(e: Emitter, a: Operand, b: Operand, *, signed: bool) -> str:
    step = "sext" if signed else "zext"
    wide = [e.op(f"{step} i32 {e.integer(x)} to i64") for x in (a, b)]
    return e.op(f"mul i64 {wide[0]}, {wide[1]}")


@opcode("IMAD", "UIMAD", "IMUL", "UIMUL")
def multiply(e: Emitter, code: Instruction) -> None:
    """``a*b + c``: its lower half, its upper half (.HI), or both (.WIDE). In the last two, c has 64 bits."""
    to, out, sources, inward = _parts(code)
    mods = code.modifiers
    a, b = sources[:2]
    c = sources[2] if len(sources) > 2 else Imm(0)
    carry = [e.op(f"zext i1 {e.truth(p)} to i64") for p in inward] if "X" in mods else []
    if "WIDE" not in mods and "HI" not in mods:
        if any(p.index != 7 for p in out):
            raise e.unsupported()
        value = _low(e, a, b, c)
        for one in carry:
            value = e.op(f"add i32 {value}, {e.op(f'trunc i64 {one} to i32')}")
        e.write(target(e, to), value)
        return
    product = _product(e, a, b, signed="U32" not in mods)
    total = product if _is_zero(c) else e.op(f"add i64 {product}, {e.whole(c)}")
    passed: list[str] = []
    if out:
        passed.append(e.op(f"icmp ult i64 {total}, {product}"))
    for one in carry:
        before, total = total, e.op(f"add i64 {total}, {one}")
        if out:
            passed.append(e.op(f"icmp ult i64 {total}, {before}"))
    if "HI" in mods:
        e.write(target(e, to), e.op(f"trunc i64 {e.op(f'lshr i64 {total}, 32')} to i32"))
    else:
        e.write_wide(target(e, to), total)
    if out:
        truth = passed[0]
        for other in passed[1:]:
            truth = e.op(f"or i1 {truth}, {other}")
        e.set(out[0], truth)


def _low(e: Emitter, a: Operand, b: Operand, c: Operand) -> str:
    if _is_zero(a) or _is_zero(b) or (isinstance(b, UReg) and b.index == 63):
        return e.integer(c)
    if isinstance(b, Imm) and b.bits == 1:
        value = e.integer(a)
    elif isinstance(b, Imm) and b.bits and not b.bits & (b.bits - 1):
        value = e.op(f"shl i32 {e.integer(a)}, {b.bits.bit_length() - 1}")
    else:
        value = e.op(f"mul i32 {e.integer(a)}, {e.integer(b)}")
    return value if _is_zero(c) else e.op(f"add i32 {value}, {e.integer(c)}")


@opcode("LEA", "ULEA")
def scaled_add(e: Emitter, code: Instruction) -> None:
    """``(a << s) + b``; with .HI the upper half of the 64-bit ``(c:a << s)``, or of a with its sign."""
    to, out, sources, inward = _parts(code)
    mods = code.modifiers
    shift = sources[-1]
    assert isinstance(shift, Imm)
    a, b = sources[:2]
    if "HI" in mods:
        if isinstance(a, (Reg, UReg, Const)) and (a.negate or a.invert):
            raise e.unsupported()
        if "SX32" in mods:
            base = e.op(f"sext i32 {e.integer(a)} to i64")
        else:
            low = e.op(f"zext i32 {e.integer(a)} to i64")
            base = low
            if len(sources) > 3 and not _is_zero(sources[2]):
                high = e.op(f"zext i32 {e.integer(sources[2])} to i64")
                base = e.op(f"or i64 {low}, {e.op(f'shl i64 {high}, 32')}")
        shifted = e.op(f"shl i64 {base}, {shift.bits & 31}") if shift.bits & 31 else base
        first = e.op(f"lshr i64 {shifted}, 32")
    else:
        value = e.integer(a)
        if shift.bits & 31:
            value = e.op(f"shl i32 {value}, {shift.bits & 31}")
        if not out and "X" not in mods:
            e.write(target(e, to), e.op(f"add i32 {value}, {e.integer(b)}"))
            return
        first = e.op(f"zext i32 {value} to i64")
    second, one = _bits_and_one(e, b)
    terms = [first, second, *(("1",) if one else ())]
    if "X" in mods:
        terms += [e.op(f"zext i1 {e.truth(p)} to i64") for p in inward]
    total = _sum(e, terms)
    truth = e.op(f"icmp ugt i64 {e.op(f'lshr i64 {total}, 32')}, 0") if out else ""
    e.write(target(e, to), e.op(f"trunc i64 {total} to i32"))
    if out:
        e.set(out[0], truth)


_ORDER = {"LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}
_STRICT = {"LT": "lt", "LE": "lt", "GT": "gt", "GE": "gt"}


@opcode("ISETP", "UISETP")
def compare(e: Emitter, code: Instruction) -> None:
    """Sets one predicate to the truth joined with another, and a second to the opposite joined with it."""
    mods = code.modifiers
    first, second, a, b, joined, *rest = code.operands
    sign = "u" if "U32" in mods else "s"
    x, y = e.integer(a), e.integer(b)
    name = mods[0]
    if name in {"T", "F"}:
        truth = "true" if name == "T" else "false"
    elif name in {"EQ", "NE"}:
        truth = e.op(f"icmp {name.lower()} i32 {x}, {y}")
    else:
        truth = e.op(f"icmp {sign}{_ORDER[name]} i32 {x}, {y}")
    if "EX" in mods:
        low = e.truth(rest[0]) if rest else "true"  # PT is not printed
        if name == "EQ":
            truth = e.op(f"and i1 {truth}, {low}")
        elif name == "NE":
            truth = e.op(f"or i1 {truth}, {low}")
        else:
            beyond = e.op(f"icmp {sign}{_STRICT[name]} i32 {x}, {y}")
            same = e.op(f"icmp eq i32 {x}, {y}")
            truth = e.op(f"or i1 {beyond}, {e.op(f'and i1 {same}, {low}')}")
    join(e, mods, (first, second), truth, joined)


def join(
    e: Emitter,
    mods: tuple[str, ...],
    targets: tuple[Operand, Operand],
    truth: str,
    other: Operand,
) -> None:
    """Set a predicate to a truth, and a second one to its opposite, each joined with a predicate."""
    how = next((m for m in ("AND", "OR", "XOR") if m in mods), "AND").lower()
    with_ = e.truth(other)
    trivial = {"and": "true", "or": "false", "xor": "false"}[how]
    results: list[str] = []
    for one, target_ in enumerate(targets):
        if isinstance(target_, (Pred, UPred)) and target_.index == 7:
            results.append("")
            continue
        value = e.op(f"xor i1 {truth}, true") if one else truth
        results.append(value if with_ == trivial else e.op(f"{how} i1 {value}, {with_}"))
    for target_, value in zip(targets, results, strict=True):
        if value:
            e.set(target_, value)


@opcode("IMNMX", "UIMNMX", "VIMNMX", "VIMNMX3")
def extreme(e: Emitter, code: Instruction) -> None:
    """The least of two or three where the predicate holds, else the greatest; with RELU no less than 0."""
    to, *sources, which = code.operands
    kind, *rest = [m for m in code.modifiers if m != "RELU"] or ["S32"]
    if kind not in {"U32", "S32", "U16x2", "S16x2"} or rest:
        raise e.unsupported()
    sign, least = kind[0].lower(), e.truth(which)
    of = _of_halves if kind.endswith("x2") else _extreme
    value, *others = (e.integer(x) for x in sources)
    for other in others:
        value = of(e, value, other, sign, least)
    if "RELU" in code.modifiers:
        value = of(e, value, "0", sign, "false")
    e.write(target(e, to), value)


def _of_halves(e: Emitter, x: str, y: str, sign: str, least: str) -> str:
    signed = sign == "s"
    low, high = (
        _extreme(e, _field(e, x, at, 16, signed), _field(e, y, at, 16, signed), sign, least)
        for at in (0, 16)
    )
    return e.op(f"or i32 {e.op(f'and i32 {low}, 65535')}, {e.op(f'shl i32 {high}, 16')}")


def _extreme(e: Emitter, x: str, y: str, sign: str, least: str) -> str:
    below = e.op(f"icmp {sign}lt i32 {x}, {y}")
    first = e.op(f"xor i1 {e.op(f'xor i1 {below}, {least}')}, true")
    return e.op(f"select i1 {first}, i32 {x}, i32 {y}")


@opcode("VIADDMNMX")
def add_extreme(e: Emitter, code: Instruction) -> None:
    """The lesser or greater of ``a + b`` and c."""
    to, a, b, c, which = code.operands
    if set(code.modifiers) - {"U32", "S32"}:
        raise e.unsupported()
    sign = "u" if "U32" in code.modifiers else "s"
    total = e.op(f"add i32 {e.integer(a)}, {e.integer(b)}")
    e.write(target(e, to), _extreme(e, total, e.integer(c), sign, e.truth(which)))


@opcode("IABS")
def absolute(e: Emitter, code: Instruction) -> None:
    to, source = code.operands
    value = e.integer(source)
    below = e.op(f"icmp slt i32 {value}, 0")
    negative = e.op(f"sub i32 0, {value}")
    e.write(target(e, to), e.op(f"select i1 {below}, i32 {negative}, i32 {value}"))


@opcode("VABSDIFF")
def difference(e: Emitter, code: Instruction) -> None:
    """``|a - b| + c``."""
    to, a, b, *rest = code.operands
    if set(code.modifiers) - {"U32"}:
        raise e.unsupported()
    sign = "u" if "U32" in code.modifiers else "s"
    x, y = e.integer(a), e.integer(b)
    below = e.op(f"icmp {sign}lt i32 {x}, {y}")
    up, down = e.op(f"sub i32 {x}, {y}"), e.op(f"sub i32 {y}, {x}")
    value = e.op(f"select i1 {below}, i32 {down}, i32 {up}")
    if rest:
        value = e.op(f"add i32 {value}, {e.integer(rest[0])}")
    e.write(target(e, to), value)


@opcode("IDP")
def dot(e: Emitter, code: Instruction) -> None:
    """Products of bytes (.4A), or of two halves with the lower or upper two bytes (.2A), added to c."""
    to, a, b, c = code.operands
    form, *rest = code.modifiers
    types = [m for m in rest if m[0] in "SU"]
    total = e.integer(c)
    x, y = e.integer(a), e.integer(b)
    count = 4 if form == "4A" else 2
    width = 8 if form == "4A" else 16
    skip = 16 if form == "2A" and "HI" in rest else 0
    for k in range(count):
        left = _field(e, x, k * width, width, types[0][0] == "S")
        right = _field(e, y, skip + k * 8, 8, types[1][0] == "S")
        total = e.op(f"add i32 {total}, {e.op(f'mul i32 {left}, {right}')}")
    e.write(target(e, to), total)


def _field(e: Emitter, value: str, at: int, width: int, signed: bool) -> str:
    up = e.op(f"shl i32 {value}, {32 - at - width}")
    return e.op(f"{'ashr' if signed else 'lshr'} i32 {up}, {32 - width}")
