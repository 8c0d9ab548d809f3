"""Loads, stores and atomics, each confined to device memory.

An address outside the device's range, or not a multiple of the access size, becomes null, so that a wild
access faults and can never reach the host's own memory. Where the guard is false, the access goes to a
scratch area and leaves no trace. The runtime checks what was traced against the exact bounds.
"""

from gevolve.device.sim import layout
from gevolve.device.sim.machine.instruction import Address, Const, Instruction, Operand, Reg, UReg
from gevolve.device.sim.machine.translate.emit import UNIFORM, Emitter, Site
from gevolve.device.sim.machine.translate.integer import target
from gevolve.device.sim.machine.translate.table import opcode
from gevolve.device.sim.translate.text import literal

_WINDOW = 1 << 24
"""Bytes of the windows for shared and local memory."""
_NARROW = {"U8": 1, "S8": 1, "U16": 2, "S16": 2}
_WIDE = {"64": 8, "128": 16}
_SPACES = {
    "LDG": "global",
    "STG": "global",
    "ATOMG": "global",
    "RED": "global",
    "LDS": "shared",
    "STS": "shared",
    "ATOMS": "shared",
    "LDL": "local",
    "STL": "local",
    "LD": "generic",
    "ST": "generic",
    "ATOM": "generic",
    "REDG": "global",
    "QSPC": "generic",
}


def offset_of(e: Emitter, operand: Operand) -> str:
    """The address that an operand means, as i64; of shared and local memory, 32 bits."""
    if not isinstance(operand, Address) or operand.space:
        raise e.unsupported()
    scale = {"": 0, "X4": 2, "X8": 3, "X16": 4, "U32": 0, "64": 0}.get(operand.part)
    if scale is None:
        raise e.unsupported()
    narrow = _space(e) in {"shared", "local"}
    if narrow:
        value = "0" if operand.register is None else e.read(operand.register)
        if scale:
            value = e.op(f"shl i32 {value}, {scale}")
        if operand.uniform is not None:
            value = e.op(f"add i32 {value}, {e.read(UNIFORM + operand.uniform)}")
        if operand.offset:
            value = e.op(f"add i32 {value}, {literal(operand.offset, 'i32')}")
        return e.op(f"zext i32 {value} to i64")
    if operand.register is None:
        value = "0"
    elif operand.wide:
        value = e.read_wide(operand.register)
    else:
        value = e.op(f"zext i32 {e.read(operand.register)} to i64")
    if operand.uniform is not None:
        value = e.op(f"add i64 {value}, {e.read_wide(UNIFORM + operand.uniform)}")
    return e.op(f"add i64 {value}, {operand.offset}") if operand.offset else value


def _space(e: Emitter) -> str:
    assert e.code is not None
    return _SPACES[e.code.opcode]


def pointer(e: Emitter, operand: Operand, size: int, kind: str) -> str:
    """A host pointer for an access that is safe to use; the access is traced."""
    where, space = offset_of(e, operand), _space(e)
    if space == "shared":
        return _inside(e, where, size, kind, layout.SHARED_SIZE, layout.SHARED_BASE)
    if space == "local":
        end = e.op(f"add i64 {where}, {size}")
        fits = e.op(f"icmp ule i64 {end}, {e.of_launch(layout.LOCAL_SIZE, 'i64')}")
        absolute = e.op(f"add i64 {where}, {e.get(layout.LOCAL, 'i64')}")
        where = e.op(f"select i1 {fits}, i64 {absolute}, i64 {where}")
    elif space == "generic":
        own = e.op(f"sub i64 {where}, {e.of_launch(layout.LOCAL_WINDOW, 'i64')}")
        local = e.op(f"icmp ult i64 {own}, {_WINDOW}")
        absolute = e.op(f"add i64 {own}, {e.get(layout.LOCAL, 'i64')}")
        where = e.op(f"select i1 {local}, i64 {absolute}, i64 {where}")
    trace(e, where, size, kind)
    apart = e.op(f"xor i64 {where}, {layout.BASE}")
    wrong = e.op(f"and i64 {apart}, {literal(layout.OUTSIDE | (size - 1), 'i64')}")
    right = e.op(f"icmp eq i64 {wrong}, 0")
    return guarded(e, e.op(f"inttoptr i64 {e.op(f'select i1 {right}, i64 {where}, i64 0')} to ptr"))


def _inside(e: Emitter, where: str, size: int, kind: str, limit: int, base: int) -> str:
    """Bounds are exact for shared memory: the launch knows its size."""
    last = e.op(f"add i64 {where}, {size}")
    inside = e.op(f"icmp ule i64 {last}, {e.of_launch(limit, 'i64')}")
    if size > 1:
        low = e.op(f"and i64 {where}, {size - 1}")
        inside = e.op(f"and i1 {inside}, {e.op(f'icmp eq i64 {low}, 0')}")
    absolute = e.op(f"add i64 {e.of_launch(base, 'i64')}, {where}")
    trace(e, absolute, size, kind, checked=True)
    chosen = e.op(f"select i1 {inside}, i64 {absolute}, i64 0")
    return guarded(e, e.op(f"inttoptr i64 {chosen} to ptr"))


def guarded(e: Emitter, place: str) -> str:
    """The scratch area instead of a place, where the guard is false."""
    if e.guard is None:
        return place
    return e.op(f"select i1 {e.guard}, ptr {place}, ptr {e.at('%w', layout.SCRATCH)}")


def trace(e: Emitter, where: str, size: int, kind: str, *, checked: bool = False) -> None:
    """Leave the address where the runtime finds it after the block; 0 where the guard is false."""
    assert e.code is not None
    if e.guard is not None:
        where = e.op(f"select i1 {e.guard}, i64 {where}, i64 0")
    row = (e.first_site + len(e.sites)) * layout.LANES * 8
    e.do(f"store i64 {where}, ptr {e.at(e.traced, row)}")
    e.sites.append(Site(size, kind, e.code, checked))


def _size(code: Instruction) -> tuple[int, str]:
    """Bytes of an access, and the narrow type if it is one."""
    for m in code.modifiers:
        if m in _NARROW:
            return _NARROW[m], m
        if m in _WIDE:
            return _WIDE[m], ""
    return 4, ""


def _load(e: Emitter, to: Operand, place: str, size: int, narrow: str, align: int) -> None:
    register = target(e, to)
    # volatile, so that a load whose result nobody reads faults all the same
    if narrow:
        bits = int(narrow[1:])
        value = e.op(f"load volatile i{bits}, ptr {place}")
        step = "sext" if narrow[0] == "S" else "zext"
        e.write(register, e.op(f"{step} i{bits} {value} to i32"))
    elif size == 4:
        e.write(register, e.op(f"load volatile i32, ptr {place}, align {align}"))
    else:
        parts = [
            e.op(f"load volatile i64, ptr {e.at(place, 8 * k)}, align {min(align, 8)}")
            for k in range(size // 8)
        ]
        for k, part in enumerate(parts):
            e.write_wide(register + 2 * k if register != 255 else 255, part)


@opcode("LDG", "LDS", "LDL", "LD")
def load(e: Emitter, code: Instruction) -> None:
    to, *rest = code.operands
    where = next((x for x in rest if isinstance(x, Address)), None)
    known = {"E", "CONSTANT", "STRONG", "WEAK", "SYS", "GPU", "CTA", "SM", "EF", "EL", "LU", "NA"}
    known |= {"EU", "U", "64", "128", "LTC64B", "LTC128B", "LTC256B", "CG", "CV", *_NARROW}
    if where is None or set(code.modifiers) - known or len(rest) != 1:
        raise e.unsupported()
    size, narrow = _size(code)
    _load(e, to, pointer(e, where, size, "load"), size, narrow, size)


@opcode("STG", "STS", "STL", "ST")
def store(e: Emitter, code: Instruction) -> None:
    where, source = code.operands
    size, narrow = _size(code)
    assert isinstance(source, (Reg, UReg))
    base = source.index + (UNIFORM if isinstance(source, UReg) else 0)
    zero = base in {255, UNIFORM + 63}
    place = pointer(e, where, size, "store")
    if narrow:
        bits = int(narrow[1:])
        value = e.op(f"trunc i32 {e.read(base)} to i{bits}")
        e.do(f"store i{bits} {value}, ptr {place}")
    elif size == 4:
        e.do(f"store i32 {e.read(base)}, ptr {place}")
    else:
        for k in range(size // 8):
            value = "0" if zero else e.read_wide(base + 2 * k)
            e.do(f"store i64 {value}, ptr {e.at(place, 8 * k)}")


@opcode("LDC")
def load_constant(e: Emitter, code: Instruction) -> None:
    """A constant at a computed place."""
    to, source = code.operands
    assert isinstance(source, Const)
    size, narrow = _size(code)
    if source.descriptor is not None or set(code.modifiers) - {*_NARROW, *_WIDE}:
        raise e.unsupported()
    if source.register is None:
        _fixed(e, to, source, size, narrow)
        return
    index = e.bare(source.register)
    if source.offset:
        index = e.op(f"add i32 {index}, {literal(source.offset, 'i32')}")
    bank = e.once(f"ptrtoint ptr {e.bank(source.bank)} to i64")
    where = e.op(f"add i64 {bank}, {e.op(f'zext i32 {index} to i64')}")
    trace(e, where, size, "load")
    apart = e.op(f"xor i64 {where}, {layout.BASE}")
    wrong = e.op(f"and i64 {apart}, {literal(layout.OUTSIDE | (min(size, 4) - 1), 'i64')}")
    right = e.op(f"icmp eq i64 {wrong}, 0")
    chosen = e.op(f"select i1 {right}, i64 {where}, i64 0")
    place = guarded(e, e.op(f"inttoptr i64 {chosen} to ptr"))
    _load(e, to, place, size, narrow, min(size, 4))


def _fixed(e: Emitter, to: Operand, source: Const, size: int, narrow: str) -> None:
    register = target(e, to)
    if narrow:
        bits = int(narrow[1:])
        step = "sext" if narrow[0] == "S" else "zext"
        e.write(register, e.op(f"{step} i{bits} {e.constant(source, f'i{bits}')} to i32"))
    elif size == 4:
        e.write(register, e.constant(source, "i32"))
    else:
        for k in range(size // 8):
            part = Const(source.bank, source.offset + 8 * k)
            e.write_wide(register + 2 * k, e.constant(part, "i64"))


@opcode("QSPC")
def query_space(e: Emitter, code: Instruction) -> None:
    """Whether a generic address is in a space."""
    to, _, where = code.operands
    address = offset_of(e, where)
    windows = {"S": layout.SHARED_BASE, "L": layout.LOCAL_WINDOW}
    inside: dict[str, str] = {}
    for name, base in windows.items():
        apart = e.op(f"sub i64 {address}, {e.of_launch(base, 'i64')}")
        inside[name] = e.op(f"icmp ult i64 {apart}, {_WINDOW}")
    name = code.modifiers[-1]
    if name in inside:
        e.set(to, inside[name])
    elif name == "G":
        either = e.op(f"or i1 {inside['S']}, {inside['L']}")
        e.set(to, e.op(f"xor i1 {either}, true"))
    else:
        raise e.unsupported()
