"""Integer arithmetic: add to sad, with the carry flag, and division that never faults."""

from collections.abc import Callable

from gevolve.device.sim.flow import CARRY
from gevolve.device.sim.ptx import Instruction
from gevolve.device.sim.translate import floating
from gevolve.device.sim.translate.emit import Emitter, integer_of
from gevolve.device.sim.translate.table import pure

Binary = Callable[[Emitter, str, str, str, bool], str]
"""(emitter, LLVM type, a, b, signed) → value."""


def is_float(code: Instruction) -> bool:
    kind = code.mods[-1] if code.mods else ""
    return kind.startswith(("f", "bf", "tf"))


def signed(kind: str) -> bool:
    return kind[0] == "s"


def extend(e: Emitter, value: str, have: str, want: str, sign: bool) -> str:
    return e.op(f"{'sext' if sign else 'zext'} {have} {value} to {want}")


def double(kind: str) -> str:
    """The integer twice as wide."""
    return f"i{int(kind[1:]) * 2}"


def halves(e: Emitter, code: Instruction, compute: Binary) -> bool:
    """Do a packed 16-bit operation on each half; False if the type is not packed."""
    kind = code.mods[-1]
    if not kind.endswith("x2") or kind == "f32x2":
        return False
    a, b = e.read(code.args[1], "i32"), e.read(code.args[2], "i32")
    parts: list[str] = []
    for shift in (0, 16):
        x, y = (e.op(f"trunc i32 {e.op(f'lshr i32 {v}, {shift}')} to i16") for v in (a, b))
        parts.append(e.op(f"zext i16 {compute(e, 'i16', x, y, signed(kind))} to i32"))
    e.write(code.args[0], "i32", e.op(f"or i32 {parts[0]}, {e.op(f'shl i32 {parts[1]}, 16')}"))
    return True


@pure("add", "sub")
def add_sub(e: Emitter, code: Instruction) -> None:
    if is_float(code):
        floating.arithmetic(e, code)
        return
    if halves(e, code, lambda e, k, a, b, _: e.op(f"{code.op} {k} {a}, {b}")):
        return
    kind = integer_of(code.mods[-1])
    a, b = e.read(code.args[1], kind), e.read(code.args[2], kind)
    if "sat" in code.mods:
        value = e.call(kind, f"llvm.s{code.op}.sat.{kind}", (kind, a), (kind, b))
    else:
        value = e.op(f"{code.op} {kind} {a}, {b}")
    if "cc" in code.mods:
        carry = f"ult {kind} {value}, {a}" if code.op == "add" else f"ult {kind} {a}, {b}"
        e.write(CARRY, "i1", e.op(f"icmp {carry}"))
    e.write(code.args[0], kind, value)


@pure("addc", "subc")
def add_carry(e: Emitter, code: Instruction) -> None:
    kind = integer_of(code.mods[-1])
    wide, bits = double(kind), int(kind[1:])
    a, b = (extend(e, e.read(x, kind), kind, wide, False) for x in code.args[1:3])
    carry = e.op(f"zext i1 {e.read(CARRY, 'i1')} to {wide}")
    name = code.op[:3]
    total = e.op(f"{name} {wide} {e.op(f'{name} {wide} {a}, {b}')}, {carry}")
    if "cc" in code.mods:
        e.write(CARRY, "i1", e.op(f"icmp ne {wide} {e.op(f'lshr {wide} {total}, {bits}')}, 0"))
    e.write(code.args[0], kind, e.op(f"trunc {wide} {total} to {kind}"))


def product(e: Emitter, code: Instruction, part: str) -> tuple[str, str]:
    """The wanted part (``lo``, ``hi``, ``wide``) of a product, as (LLVM type, value)."""
    kind = integer_of(code.mods[-1])
    a, b = e.read(code.args[1], kind), e.read(code.args[2], kind)
    if part == "lo":
        return kind, e.op(f"mul {kind} {a}, {b}")
    wide, sign = double(kind), signed(code.mods[-1])
    x, y = extend(e, a, kind, wide, sign), extend(e, b, kind, wide, sign)
    whole = e.op(f"mul {wide} {x}, {y}")
    if part == "wide":
        return wide, whole
    high = e.op(f"lshr {wide} {whole}, {kind[1:]}")
    return kind, e.op(f"trunc {wide} {high} to {kind}")


def _part(code: Instruction) -> str:
    return next((m for m in code.mods if m in {"lo", "hi", "wide"}), "lo")


@pure("mul")
def mul(e: Emitter, code: Instruction) -> None:
    if is_float(code):
        floating.arithmetic(e, code)
        return
    kind, value = product(e, code, _part(code))
    e.write(code.args[0], kind, value)


@pure("mad", "madc")
def mad(e: Emitter, code: Instruction) -> None:
    if is_float(code):
        floating.fma(e, code)
        return
    kind, value = product(e, code, _part(code))
    c = e.read(code.args[3], kind)
    if "sat" in code.mods:
        total = e.call(kind, f"llvm.sadd.sat.{kind}", (kind, value), (kind, c))
    elif "cc" in code.mods or code.op == "madc":
        wide, bits = double(kind), int(kind[1:])
        x, y = extend(e, value, kind, wide, False), extend(e, c, kind, wide, False)
        whole = e.op(f"add {wide} {x}, {y}")
        if code.op == "madc":
            carry = e.op(f"zext i1 {e.read(CARRY, 'i1')} to {wide}")
            whole = e.op(f"add {wide} {whole}, {carry}")
        if "cc" in code.mods:
            e.write(CARRY, "i1", e.op(f"icmp ne {wide} {e.op(f'lshr {wide} {whole}, {bits}')}, 0"))
        total = e.op(f"trunc {wide} {whole} to {kind}")
    else:
        total = e.op(f"add {kind} {value}, {c}")
    e.write(code.args[0], kind, total)


@pure("mul24", "mad24")
def mul24(e: Emitter, code: Instruction) -> None:
    sign = signed(code.mods[-1])
    factors: list[str] = []
    for operand in code.args[1:3]:
        top = e.op(f"shl i32 {e.read(operand, 'i32')}, 8")
        cut = e.op(f"{'ashr' if sign else 'lshr'} i32 {top}, 8")
        factors.append(extend(e, cut, "i32", "i64", sign))
    whole = e.op(f"mul i64 {factors[0]}, {factors[1]}")
    if "hi" in code.mods:
        whole = e.op(f"lshr i64 {whole}, 16")
    value = e.op(f"trunc i64 {whole} to i32")
    if code.op == "mad24":
        c = e.read(code.args[3], "i32")
        if "sat" in code.mods:
            value = e.call("i32", "llvm.sadd.sat.i32", ("i32", value), ("i32", c))
        else:
            value = e.op(f"add i32 {value}, {c}")
    e.write(code.args[0], "i32", value)


@pure("div", "rem")
def div_rem(e: Emitter, code: Instruction) -> None:
    """Integer division by zero gives what GPUs give: all ones, or the dividend as remainder."""
    if is_float(code):
        floating.divide(e, code)
        return
    kind, sign = integer_of(code.mods[-1]), signed(code.mods[-1])
    a, b = e.read(code.args[1], kind), e.read(code.args[2], kind)
    zero = e.op(f"icmp eq {kind} {b}, 0")
    # MIN / -1 would fault on the host
    minus = e.op(f"icmp eq {kind} {b}, -1") if sign else "false"
    special = e.op(f"or i1 {zero}, {minus}")
    safe = e.op(f"select i1 {special}, {kind} 1, {kind} {b}")
    value = e.op(f"{'s' if sign else 'u'}{code.op} {kind} {a}, {safe}")
    if sign:
        other = e.op(f"sub {kind} 0, {a}") if code.op == "div" else "0"
        value = e.op(f"select i1 {minus}, {kind} {other}, {kind} {value}")
    by_zero = "-1" if code.op == "div" else a
    e.write(code.args[0], kind, e.op(f"select i1 {zero}, {kind} {by_zero}, {kind} {value}"))


@pure("neg", "abs")
def neg_abs(e: Emitter, code: Instruction) -> None:
    if is_float(code):
        floating.sign(e, code)
        return
    kind = integer_of(code.mods[-1])
    a = e.read(code.args[1], kind)
    minus = e.op(f"sub {kind} 0, {a}")
    if code.op == "neg":
        e.write(code.args[0], kind, minus)
        return
    negative = e.op(f"icmp slt {kind} {a}, 0")
    e.write(code.args[0], kind, e.op(f"select i1 {negative}, {kind} {minus}, {kind} {a}"))


@pure("min", "max")
def min_max(e: Emitter, code: Instruction) -> None:
    if is_float(code):
        floating.min_max(e, code)
        return

    def pick(e: Emitter, kind: str, a: str, b: str, sign: bool) -> str:
        order = ("s" if sign else "u") + ("lt" if code.op == "min" else "gt")
        found = e.op(f"select i1 {e.op(f'icmp {order} {kind} {a}, {b}')}, {kind} {a}, {kind} {b}")
        if "relu" in code.mods:
            below = e.op(f"icmp slt {kind} {found}, 0")
            found = e.op(f"select i1 {below}, {kind} 0, {kind} {found}")
        return found

    if halves(e, code, pick):
        return
    kind = integer_of(code.mods[-1])
    values = [e.read(x, kind) for x in code.args[1:]]
    value = values[0]
    for other in values[1:]:
        value = pick(e, kind, value, other, signed(code.mods[-1]))
    e.write(code.args[0], kind, value)


@pure("sad")
def sad(e: Emitter, code: Instruction) -> None:
    kind, sign = integer_of(code.mods[-1]), signed(code.mods[-1])
    a, b, c = (e.read(x, kind) for x in code.args[1:4])
    less = e.op(f"icmp {'s' if sign else 'u'}lt {kind} {a}, {b}")
    up, down = e.op(f"sub {kind} {b}, {a}"), e.op(f"sub {kind} {a}, {b}")
    distance = e.op(f"select i1 {less}, {kind} {up}, {kind} {down}")
    e.write(code.args[0], kind, e.op(f"add {kind} {distance}, {c}"))


@pure("dp4a", "dp2a")
def dot(e: Emitter, code: Instruction) -> None:
    """Dot product of four bytes with four bytes, or of two halves with two bytes."""
    a_kind, b_kind = code.mods[-2:]
    a, b, total = (e.read(x, "i32") for x in code.args[1:4])
    four = code.op == "dp4a"
    for i in range(4 if four else 2):
        x = _field(e, a, i * (8 if four else 16), 8 if four else 16, signed(a_kind))
        y = _field(e, b, i * 8 + (16 if "hi" in code.mods else 0), 8, signed(b_kind))
        total = e.op(f"add i32 {total}, {e.op(f'mul i32 {x}, {y}')}")
    e.write(code.args[0], "i32", total)


def _field(e: Emitter, value: str, start: int, bits: int, sign: bool) -> str:
    cut = e.op(f"trunc i32 {e.op(f'lshr i32 {value}, {start}')} to i{bits}")
    return extend(e, cut, f"i{bits}", "i32", sign)
