"""Moves: registers, constants, selections, special registers, convergence barriers as values."""

from gevolve.device.sim import layout
from gevolve.device.sim.machine.instruction import Barrier, Const, Instruction, Label, Special
from gevolve.device.sim.machine.translate.emit import Emitter
from gevolve.device.sim.machine.translate.integer import target
from gevolve.device.sim.machine.translate.memory import load_constant
from gevolve.device.sim.machine.translate.table import opcode
from gevolve.device.sim.translate.special import SMS

_AXES = {"X": 0, "Y": 1, "Z": 2}


@opcode("MOV", "UMOV", "MOV32I", "R2UR", "UMOV32I")
def move(e: Emitter, code: Instruction) -> None:
    """A register, a constant or a number; R2UR too, because each thread has its uniform registers."""
    to, *sources = code.operands
    source = sources[-1] if code.opcode == "R2UR" else sources[0]
    e.write(target(e, to), e.integer(source))


@opcode("SEL", "USEL")
def select(e: Emitter, code: Instruction) -> None:
    to, a, b, which = code.operands
    x, y = e.integer(a), e.integer(b)
    e.write(target(e, to), e.op(f"select i1 {e.truth(which)}, i32 {x}, i32 {y}"))


@opcode("FSEL")
def select_float(e: Emitter, code: Instruction) -> None:
    to, a, b, which = code.operands
    x, y = e.float(a), e.float(b)
    if "FTZ" in code.modifiers:
        raise e.unsupported()
    value = e.op(f"select i1 {e.truth(which)}, float {x}, float {y}")
    e.write(target(e, to), value, "float")


@opcode("ULDC")
def load_uniform(e: Emitter, code: Instruction) -> None:
    """A constant at a fixed place; one at a computed place is like any other load."""
    to, source = code.operands
    assert isinstance(source, Const)
    if source.descriptor is not None:
        raise e.unsupported()
    if source.register is not None:
        load_constant(e, code)
        return
    register = target(e, to)
    kind = code.modifiers[0] if code.modifiers else ""
    if kind == "64":
        e.write_wide(register, e.constant(source, "i64"))
    elif kind in {"U8", "S8", "U16", "S16"}:
        narrow = e.constant(source, f"i{kind[1:]}")
        step = "sext" if kind[0] == "S" else "zext"
        e.write(register, e.op(f"{step} i{kind[1:]} {narrow} to i32"))
    elif kind:
        raise e.unsupported()
    else:
        e.write(register, e.constant(source, "i32"))


@opcode("S2R", "S2UR", "CS2R", "CS2UR")
def special(e: Emitter, code: Instruction) -> None:
    """Who a thread is and where it runs."""
    to, source = code.operands
    assert isinstance(source, Special)
    register = target(e, to)
    if code.opcode.startswith("CS2") and "32" not in code.modifiers:
        e.write_wide(register, _wide_special(e, source.name))
    else:
        e.write(register, _special(e, source.name))


def _wide_special(e: Emitter, name: str) -> str:
    if name == "SRZ":
        return "0"
    if name in {"SR_CLOCKLO", "SR_GLOBALTIMERLO"}:
        return e.of_launch(layout.CLOCK, "i64")
    raise e.unsupported()


def _special(e: Emitter, name: str) -> str:
    base, _, axis = name.removeprefix("SR_").partition(".")
    if axis in _AXES:
        index = _AXES[axis]
        if base == "TID":
            return e.get(layout.TID + index * layout.LANES * 4)
        offset = {"CTAID": layout.CTAID, "NTID": layout.NTID, "NCTAID": layout.NCTAID}.get(base)
        if offset is not None:
            return e.of_launch(offset + 4 * index, "i32")
    match base:
        case "LANEID":
            return e.op(f"trunc i64 {e.lane} to i32")
        case "SRZ" | "CgaCtaId":  # every block is a cluster of its own
            return "0"
        case "LMEMHIOFF":  # where a stack ends at the latest, which code for debuggers looks at
            return "0"
        case "VIRTUALSMID" | "SMID":
            return _turned(e, e.of_launch(layout.CTAID, "i32"), str(SMS))
        case "SWINHI":
            high = e.once(f"lshr i64 {e.of_launch(layout.SHARED_BASE, 'i64')}, 32")
            return e.once(f"trunc i64 {high} to i32")
        case "SMEMSZ":
            return e.once(f"trunc i64 {e.of_launch(layout.SHARED_SIZE, 'i64')} to i32")
        case "CLOCKLO" | "GLOBALTIMERLO":
            return e.op(f"trunc i64 {_clock(e)} to i32")
        case "CLOCKHI" | "GLOBALTIMERHI":
            return e.op(f"trunc i64 {e.op(f'lshr i64 {_clock(e)}, 32')} to i32")
        case "EQMASK" | "LTMASK" | "LEMASK" | "GTMASK" | "GEMASK":
            return _mask(e, base[:2])
        case "VIRTID":
            place = e.once(f"getelementptr i8, ptr %w, i64 {layout.WARP_ID}")
            sizes = [e.of_launch(layout.NTID + 4 * axis, "i32") for axis in range(3)]
            threads = e.once(f"mul i32 {e.once(f'mul i32 {sizes[0]}, {sizes[1]}')}, {sizes[2]}")
            warps = e.once(f"lshr i32 {e.once(f'add i32 {threads}, 31')}, 5")
            return e.once(f"shl i32 {_turned(e, e.once(f'load i32, ptr {place}'), warps)}, 8")
        case _:
            raise e.unsupported()


def _turned(e: Emitter, number: str, count: str) -> str:
    """One of so many numbers, that is another one in a run with another poison."""
    turn = e.once(f"trunc i64 {e.of_launch(layout.TURN, 'i64')} to i32")
    return e.once(f"urem i32 {e.once(f'add i32 {number}, {turn}')}, {count}")


def _clock(e: Emitter) -> str:
    return e.of_launch(layout.CLOCK, "i64")


def _mask(e: Emitter, name: str) -> str:
    bit = e.op(f"shl i64 1, {e.lane}")
    below = e.op(f"sub i64 {bit}, 1")
    upto = e.op(f"or i64 {below}, {bit}")
    value = {"EQ": bit, "LT": below, "LE": upto}.get(name)
    if value is None:
        value = e.op(f"xor i64 {upto if name == 'GT' else below}, 4294967295")
    return e.op(f"trunc i64 {value} to i32")


@opcode("BMOV")
def barrier_value(e: Emitter, code: Instruction) -> None:
    """A convergence barrier's lanes to a register or back; functions that are called save them so."""
    to, source = code.operands
    if "32" not in code.modifiers:
        raise e.unsupported()
    if isinstance(to, Barrier):
        value = e.integer(source)
        place = barrier(e, to)
        if e.guard is not None:
            old = e.op(f"load i32, ptr {place}")
            value = e.op(f"select i1 {e.guard}, i32 {value}, i32 {old}")
        e.do(f"store i32 {value}, ptr {place}")
        return
    if not isinstance(source, Barrier):
        raise e.unsupported()
    place = barrier(e, source)
    value = e.op(f"load i32, ptr {place}")
    if "CLEAR" in code.modifiers:
        left = e.op(f"select i1 {e.guard}, i32 0, i32 {value}") if e.guard is not None else "0"
        e.do(f"store i32 {left}, ptr {place}")
    e.write(target(e, to), value)


def barrier(e: Emitter, operand: Barrier) -> str:
    """A pointer to the lanes that this lane meets at a convergence barrier."""
    return e.lane_field(layout.BARRIER + 4 * layout.LANES * operand.index)


@opcode("BSSY")
def meet(e: Emitter, code: Instruction) -> None:
    """All lanes that are here will meet again."""
    where = code.operands[0]
    assert isinstance(where, Barrier)
    place = e.once(f"getelementptr i8, ptr %w, i64 {layout.MASK}")
    lanes = e.once(f"load i32, ptr {place}")
    e.do(f"store i32 {lanes}, ptr {barrier(e, where)}")


@opcode("BREAK")
def leave(e: Emitter, code: Instruction) -> None:
    """These lanes will not come to the barrier."""
    where = code.operands[-1]
    assert isinstance(where, Barrier)
    taking = f"select i1 {e.guard}, i32 {where.index}, i32 -1" if e.guard is not None else ""
    number = e.op(taking) if taking else str(where.index)
    e.call("void", "gevolve_break", ("ptr", "%w"), ("i32", number), ("i64", e.lane))


@opcode("B2R")
def barrier_result(e: Emitter, code: Instruction) -> None:
    """What a block barrier with a reduction gave."""
    if "RESULT" not in code.modifiers:
        raise e.unsupported()
    to, *rest = code.operands
    value = e.get(layout.GATHERED)
    truth = e.op(f"icmp ne i32 {value}, 0")
    e.write(target(e, to), value)
    if rest:
        e.set(rest[0], truth)


@opcode(
    *("NOP", "MEMBAR", "ERRBAR", "CCTL", "CCTLL", "FENCE", "DEPBAR", "LDGDEPBAR", "YIELD"),
    *("NANOSLEEP", "ACQBULK", "PREEXIT", "PMTRIG", "USETMAXREG"),
    *("CGAERRBAR", "ACQSHMINIT", "CCTLT", "ENDCOLLECTIVE"),
)
def nothing(e: Emitter, code: Instruction) -> None:
    """Order and hints: lanes run one at a time in a fixed order, so there is nothing to do."""


@opcode("LEPC")
def program_counter(e: Emitter, code: Instruction) -> None:
    """The address of this instruction, or of the one that it names."""
    to, *rest = code.operands
    if not rest:
        e.write_wide(target(e, to), str(code.address))
    elif isinstance(label := rest[0], Label):
        e.write_wide(target(e, to), str(label.address))
    else:
        raise e.unsupported()
