"""Loads, stores and atomics, each confined to device memory.

An address outside the device's range, or not aligned as PTX demands, becomes null without a branch,
so that a wild access faults and can never reach the host's own memory. Where the address is traced,
the runtime also checks it against the exact bounds of the buffer.
"""

from collections.abc import Sequence

from gevolve.device.sim import layout
from gevolve.device.sim.ptx import SIZES, Address, Instruction, Operand, Vector
from gevolve.device.sim.translate.convert import write_integer
from gevolve.device.sim.translate.emit import INTEGER, Emitter, Site, integer_of, literal
from gevolve.device.sim.translate.floating import narrow, widen
from gevolve.device.sim.translate.table import effect, pure

_SPACES = frozenset({"global", "shared", "local", "const", "param"})
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_ATOMICS = frozenset({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"})


def space_of(code: Instruction) -> str:
    for mod in code.mods:
        name = mod.partition("::")[0]
        if name in _SPACES:
            if mod == "shared::cluster":
                return "shared"
            return name
    return "generic"


def address(e: Emitter, operand: Operand, offset: int = 0) -> str:
    """The address that a memory operand means, as i64."""
    if not isinstance(operand, Address):
        raise e.unsupported(f"operand {operand!r}")
    total = operand.offset + offset
    if operand.base is None:
        return literal(total, "i64")
    base = e.read(operand.base, "i64")
    return e.op(f"add i64 {base}, {total}") if total else base


def pointer(e: Emitter, code: Instruction, operand: Operand, size: int, kind: str) -> str:
    """A host pointer for an access of `size` bytes that is safe to use: null if the access is not."""
    space = space_of(code)
    if space == "param" and isinstance(operand, Address) and operand.base not in e.registers:
        return e.op(f"inttoptr i64 {address(e, operand)} to ptr")
    where = address(e, operand)
    if space == "shared":
        return shared_pointer(e, where, size, kind)
    trace(e, where, size, kind)
    return checked(e, where, size)


def shared_pointer(e: Emitter, where: str, size: int, kind: str = "") -> str:
    """Bounds are exact for shared memory: the launch knows its size. Without a `kind`, no trace.

    Its addresses have 32 bits, whatever the register has: compilers compute them with wrap-around.
    """
    where = e.op(f"and i64 {where}, {0xFFFFFFFF}")
    last = e.op(f"add i64 {where}, {size}")
    inside = e.op(f"icmp ule i64 {last}, {e.load_launch(layout.SHARED_SIZE, 'i64')}")
    if size > 1:
        low = e.op(f"and i64 {where}, {size - 1}")
        inside = e.op(f"and i1 {inside}, {e.op(f'icmp eq i64 {low}, 0')}")
    absolute = e.op(f"add i64 {e.load_launch(layout.SHARED_BASE, 'i64')}, {where}")
    if kind:
        trace(e, absolute, size, kind, checked=True)
    return e.op(f"inttoptr i64 {e.op(f'select i1 {inside}, i64 {absolute}, i64 0')} to ptr")


def checked(e: Emitter, where: str, size: int) -> str:
    """Confine a generic address to device memory, and to multiples of the access size."""
    apart = e.op(f"xor i64 {where}, {layout.BASE}")
    wrong = e.op(f"and i64 {apart}, {literal(layout.OUTSIDE | (size - 1), 'i64')}")
    right = e.op(f"icmp eq i64 {wrong}, 0")
    return e.op(f"inttoptr i64 {e.op(f'select i1 {right}, i64 {where}, i64 0')} to ptr")


def trace(e: Emitter, where: str, size: int, kind: str, *, checked: bool = False) -> None:
    """Leave the address where the runtime finds it after the block."""
    assert e.code is not None
    line = e.code.line.line if e.code.line else 0
    e.do(f"store i64 {where}, ptr {trace_slot(e)}")
    e.sites.append(Site(size, kind, line, e.code, checked))


def trace_slot(e: Emitter) -> str:
    row = e.at("%trace", len(e.sites) * layout.LANES * 8)
    return e.op(f"getelementptr i64, ptr {row}, i64 {e.index}")


def _vector(code: Instruction) -> int:
    return next((_VECTORS[m] for m in code.mods if m in _VECTORS), 1)


def _elements(operand: Operand, count: int) -> Sequence[Operand]:
    return operand.parts if isinstance(operand, Vector) else [operand] * count


@effect("ld", "ldu")
def load(e: Emitter, code: Instruction) -> None:
    kind, count = code.mods[-1], _vector(code)
    size = SIZES[kind]
    base = pointer(e, code, code.args[1], size * count, "load")
    t = integer_of(kind) if kind not in {"f32", "f64"} else {"f32": "float", "f64": "double"}[kind]
    for index, target in enumerate(_elements(code.args[0], count)):
        # volatile, so that a load whose result nobody reads faults all the same
        value = e.op(f"load volatile {t}, ptr {e.at(base, index * size)}, align {size}")
        if target == "_":
            continue
        if t in {"float", "double"}:
            e.write(target, t, value)
        else:
            write_integer(e, target, kind, value)


@effect("st")
def store(e: Emitter, code: Instruction) -> None:
    kind, count = code.mods[-1], _vector(code)
    if space_of(code) == "const":
        raise e.unsupported("constant memory cannot be written")
    size = SIZES[kind]
    t = integer_of(kind)
    parts = _elements(code.args[1], count)
    if kind in {"f32", "f64"}:
        t = {"f32": "float", "f64": "double"}[kind]
    values = [e.read(part, t) for part in parts]
    base = pointer(e, code, code.args[0], size * count, "store")
    for index, value in enumerate(values):
        e.do(f"store {t} {value}, ptr {e.at(base, index * size)}, align {size}")


@effect("atom", "red")
def atomic(e: Emitter, code: Instruction) -> None:
    """Threads run one at a time between steps, so reading, changing and writing back is atomic."""
    kind, count = code.mods[-1], _vector(code)
    name = next((m for m in code.mods if m in _ATOMICS), None)
    if name is None:
        raise e.unsupported()
    with_result = code.op == "atom"
    target = code.args[0] if with_result else "_"
    where, *operands = code.args[1:] if with_result else code.args
    size, t = SIZES[kind], integer_of(kind)
    base = pointer(e, code, where, size * count, "atomic")
    targets = _elements(target, count) if count > 1 and with_result else [target] * count
    columns = [_elements(x, count) for x in operands[: 2 if name == "cas" else 1]]
    for index in range(count):
        place = e.at(base, index * size)
        old = e.op(f"load {t}, ptr {place}, align {size}")
        values = [e.read(column[index], t) for column in columns]
        new = _update(e, name, kind, t, old, values)
        e.do(f"store {t} {new}, ptr {place}, align {size}")
        if targets[index] != "_":
            e.write(targets[index], t, old)


def _update(e: Emitter, name: str, kind: str, t: str, old: str, values: Sequence[str]) -> str:
    given = values[0]
    if name == "exch":
        return given
    if name == "cas":
        same = e.op(f"icmp eq {t} {old}, {given}")
        return e.op(f"select i1 {same}, {t} {values[1]}, {t} {old}")
    if name == "inc":
        up = e.op(f"add {t} {old}, 1")
        wraps = e.op(f"icmp uge {t} {old}, {given}")
        return e.op(f"select i1 {wraps}, {t} 0, {t} {up}")
    if name == "dec":
        down = e.op(f"sub {t} {old}, 1")
        above = e.op(f"icmp ugt {t} {old}, {given}")
        zero = e.op(f"icmp eq {t} {old}, 0")
        wraps = e.op(f"or i1 {above}, {zero}")
        return e.op(f"select i1 {wraps}, {t} {given}, {t} {down}")
    if kind[0] in "fb" and kind[:2] != "b3" and kind[:2] != "b6":
        return _update_float(e, name, kind, t, old, given)
    if name in {"min", "max"}:
        order = ("s" if kind[0] == "s" else "u") + ("lt" if name == "min" else "gt")
        keep = e.op(f"icmp {order} {t} {old}, {given}")
        return e.op(f"select i1 {keep}, {t} {old}, {t} {given}")
    return e.op(f"{name} {t} {old}, {given}")


def _update_float(e: Emitter, name: str, kind: str, t: str, old: str, given: str) -> str:
    if kind.endswith("x2"):
        total = "0"
        for shift in (0, 16):
            a, b = (
                e.op(f"trunc i32 {e.op(f'lshr i32 {v}, {shift}')} to i16") for v in (old, given)
            )
            part = _update_float(e, name, kind[:-2], "i16", a, b)
            placed = e.op(f"shl i32 {e.op(f'zext i16 {part} to i32')}, {shift}")
            total = e.op(f"or i32 {total}, {placed}")
        return total
    if kind in {"f16", "bf16"}:
        a, b = widen(e, old, kind), widen(e, given, kind)
        return narrow(e, _combine(e, name, "float", "f32", a, b), kind)
    f = "float" if kind == "f32" else "double"
    a, b = (e.op(f"bitcast {t} {v} to {f}") for v in (old, given))
    return e.op(f"bitcast {f} {_combine(e, name, f, kind, a, b)} to {t}")


def _combine(e: Emitter, name: str, f: str, suffix: str, a: str, b: str) -> str:
    if name == "add":
        return e.op(f"fadd {f} {a}, {b}")
    function = {"min": "minimumnum", "max": "maximumnum"}.get(name)
    if function is None:
        raise e.unsupported()
    return e.call(f, f"gevolve_{function}_{suffix}", (f, a), (f, b))


@effect("cp")
def copy(e: Emitter, code: Instruction) -> None:
    """cp.async is done at once, so waiting for it is nothing."""
    if code.mods[0] != "async" or "bulk" in code.mods or "tensor" in code.mods:
        raise e.unsupported()
    if {"commit_group", "wait_group", "wait_all"} & set(code.mods):
        return
    if "mbarrier" in code.mods or not isinstance(code.args[2], int):
        raise e.unsupported()
    size = code.args[2]
    to = shared_pointer(e, address(e, code.args[0]), size)
    where = address(e, code.args[1])
    t = INTEGER[size]
    if len(code.args) > 3 and "cache_hint" not in code.name:
        wanted = e.read(code.args[3], "i32")
        some = e.op(f"icmp ne i32 {wanted}, 0")
        e.do(f"store {t} 0, ptr {to}, align {size}")
        trace(e, e.op(f"select i1 {some}, i64 {where}, i64 0"), size, "load")
        args = (("ptr", to), ("ptr", checked(e, where, size)), ("i32", wanted), ("i32", str(size)))
        e.call("void", "gevolve_copy", *args)
        return
    trace(e, where, size, "load")
    value = e.op(f"load {t}, ptr {checked(e, where, size)}, align {size}")
    e.do(f"store {t} {value}, ptr {to}, align {size}")


@pure(
    *("membar", "fence", "prefetch", "prefetchu", "nanosleep", "discard", "applypriority"),
    *("pmevent", "griddepcontrol", "createpolicy", "setmaxnreg"),
)
def nothing(e: Emitter, code: Instruction) -> None:
    """Ordering and hints: threads run one at a time in a fixed order, so there is nothing to do."""
    if code.op == "createpolicy":
        e.write(code.args[0], "i64", "0")
