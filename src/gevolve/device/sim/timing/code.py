"""A kernel as the timing model sees it: for each block, the class and registers of each instruction.

Made once per kernel from its control flow; the runtime reads it as arrays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from gevolve.device.base import Array
from gevolve.device.sim.flow import SKIP, Block, Flow, results, sources
from gevolve.device.sim.ptx import SIZES, Instruction
from gevolve.device.sim.timing.gpu import LINE, UNITS, Class, Gpu, machine_of
from gevolve.device.sim.timing.registers import pressure_of
from gevolve.device.sim.translate.emit import Site
from gevolve.errors import DeviceError

OP = np.dtype(
    [
        ("first", "<u4"),
        *((name, "<u2") for name in ("latency", "interval")),
        *((name, "u1") for name in ("unit", "role", "slots", "results")),
        *((name, "u1") for name in ("sources", "access", "reads", "folded")),
        *((name, "u1") for name in ("stall", "yields", "write", "read", "wait", "other")),
        ("pad", "u1", 2),
    ]
)
"""`struct op` of the runtime."""
_NO_CONTROL = (0, 0, 0, 0, 0, 0, (0, 0))
SPAN = np.dtype([("first", "<u4"), ("count", "<u4")])
ROLES = ("compute", "memory", "parameter", "barrier", "fence")
ACCESSES = ("load", "store", "atomic", "read-only")
"""What a memory instruction does; the order is that of the runtime."""

_LOGIC = ("and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "lop3", "bfe", "bfi", "prmt")
_COUNT = ("popc", "clz", "bfind", "brev", "fns", "bmsk", "szext")
_SPECIAL = ("sqrt", "rsqrt", "rcp", "sin", "cos", "ex2", "lg2", "tanh")
_CLASSES = {
    **dict.fromkeys(("mov", "cvta", "isspacep", "mapa", "createpolicy"), "move"),
    **dict.fromkeys((*_LOGIC, *_COUNT), "logic"),
    **dict.fromkeys(("setp", "set", "selp", "slct", "testp"), "compare"),
    **dict.fromkeys(("cvt", "szext"), "convert"),
    **dict.fromkeys(("add", "sub", "addc", "subc", "neg", "abs", "sad", "copysign"), "add"),
    **dict.fromkeys(("min", "max"), "extreme"),
    **dict.fromkeys(("mul", "mad", "madc", "mul24", "mad24", "fma", "dp4a", "dp2a"), "multiply"),
    **dict.fromkeys(("div", "rem"), "divide"),
    **dict.fromkeys(_SPECIAL, "special"),
    **dict.fromkeys(("shfl", "redux", "match"), "shuffle"),
    **dict.fromkeys(("vote", "activemask", "elect"), "vote"),
    **dict.fromkeys(("bra", "brx", "exit", "ret", "call", "trap", "brkpt", "callhost"), "branch"),
    **dict.fromkeys(("bar", "barrier"), "barrier"),
    **dict.fromkeys(("membar", "fence"), "fence"),
}
_FLOAT = {"add": "float", "multiply": "float", "extreme": "float_extreme", "divide": "float_divide"}
_DOUBLE = {
    "add": "double",
    "multiply": "double",
    "extreme": "double_extreme",
    **dict.fromkeys(("divide", "special"), "double_divide"),
}
_WIDE = {"logic", "add", "extreme", "multiply", "divide", "convert"}
_HALF = {"f16", "bf16", "f16x2", "bf16x2"}
_SPILL = "spill"
"""The class of what moves a value that has no register."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Code:
    """All instructions that a kernel may run, block after block."""

    ops: Array
    classes: tuple[str, ...]
    """The class of each instruction."""
    lines: tuple[tuple[int | str, int], ...]
    """The source file (or its number) and line of each instruction; (0, 0) if unknown."""
    names: tuple[str, ...]
    spans: Array
    registers: Array
    slots: int
    """How many registers a warp's scoreboard must hold."""
    accesses: Array
    """What each memory site does."""
    pressure: Array
    """Registers of a thread in each block, as far as can be told without the machine's own compiler."""
    machine: bool = False
    """Whether these are machine instructions, which say themselves when they may issue."""

    @property
    def need(self) -> int:
        """Registers of a thread."""
        return int(self.pressure.max(initial=0))

    def spilling(self, values: int) -> "Code":
        """The same code if so many values have no register: blocks in which they live move them.

        Each is written to local memory and read back once, which PTX does not show. Machine code does.
        """
        over = 2 * np.maximum(self.pressure - (self.need - values), 0)
        if not values or not over.any():
            return self
        spans = self.spans.copy()
        spans["count"] += over.astype(np.uint32)
        spans["first"] = np.cumsum(spans["count"]) - spans["count"]
        # after the last instruction of each block come those that move its values
        ends = np.repeat((self.spans["first"] + self.spans["count"]).astype(np.intp), over)
        moved = np.zeros(len(ends), OP)
        moved["role"], moved["slots"] = ROLES.index("compute"), 1
        kept: list[int] = np.insert(np.arange(len(self.ops)), ends, -1).tolist()

        def with_moves(values: Sequence[_T], other: _T) -> tuple[_T, ...]:
            return tuple(values[i] if i >= 0 else other for i in kept)

        return replace(
            self,
            ops=np.insert(self.ops, ends, moved),
            classes=with_moves(self.classes, _SPILL),
            lines=with_moves(self.lines, (0, 0)),
            names=with_moves(self.names, _SPILL),
            spans=spans,
        )

    @property
    def shared(self) -> Array:
        """Which instructions say that they access shared memory."""
        kinds = {name: _is_shared(name) for name in set(self.names)}
        return np.array([kinds[name] for name in self.names], bool)

    def priced(self, gpu: Gpu) -> Array:
        """The instructions with the latencies of a GPU."""
        ops = self.ops.copy()
        table = dict(machine_of(gpu).classes if self.machine else gpu.classes)
        # a register of a warp is a line of L1, which all schedulers share
        through = LINE // 32 * gpu.issue.schedulers // gpu.l1.rate
        table[_SPILL] = Class("memory", gpu.l1.latency, max(1, through))
        kinds = sorted(set(self.classes))
        for kind in kinds:
            if kind not in table:
                raise DeviceError(f"{gpu.title}: the table has no class {kind!r}; add it")
        place = {kind: index for index, kind in enumerate(kinds)}
        which = np.array([place[kind] for kind in self.classes], np.intp)
        rows = [table[kind] for kind in kinds]
        for name in ("latency", "interval", "slots"):
            ops[name] = np.array([getattr(row, name) for row in rows])[which]
        ops["unit"] = np.array([UNITS.index(row.unit) for row in rows])[which]
        ops["other"] = np.array([UNITS.index(row.other or row.unit) for row in rows])[which]
        ops["folded"] = np.array([kind in gpu.issue.folded for kind in kinds])[which]
        return ops


def _is_shared(name: str) -> bool:
    """By the name of PTX (``ld.shared.f32``) or of machine code (``LDS.64``)."""
    head, *rest = name.split(".")
    return "shared" in rest or head in {"LDS", "STS", "ATOMS", "LDSM"}


def classify(code: Instruction) -> str:
    """The class of an instruction: its kind of work, and for some its type."""
    op, mods = code.op, code.mods
    if op in {"ld", "ldu", "st", "atom", "red", "cp", "prefetch", "prefetchu"}:
        return "parameter" if _is_parameter(code) else "memory"
    kind = _CLASSES.get(op, "move")
    types = [m for m in mods if m in SIZES]
    if kind in {"move", "compare", "shuffle", "vote", "branch", "barrier", "fence"}:
        return kind
    if any(t in _HALF for t in types) and kind != "convert":
        return "special" if kind in {"special", "divide"} else "half"
    if "f64" in types:
        return "convert64" if kind == "convert" else _DOUBLE.get(kind, kind)
    if "f32" in types and kind != "convert":
        return _FLOAT.get(kind, kind)
    if kind in _WIDE and any(SIZES[t] == 8 for t in types):
        return f"{kind}64"
    # mul.wide gives 64 bits from 32-bit operands: one multiplication
    return kind


def _is_parameter(code: Instruction) -> bool:
    """Whether an instruction reads a kernel's or writes a call's parameters."""
    return any(m.partition("::")[0] == "param" for m in code.mods)


def _role(kind: str, code: Instruction, *, traced: bool) -> int:
    if traced:
        return ROLES.index("memory")
    if kind == "barrier":
        return ROLES.index("compute" if "warp" in code.mods or "arrive" in code.mods else "barrier")
    return ROLES.index(kind if kind in {"parameter", "fence"} else "compute")


def _access(code: Instruction) -> int:
    if code.op in {"atom", "red"}:
        return ACCESSES.index("atomic")
    if code.op == "st":
        return ACCESSES.index("store")
    cached = code.op == "ldu" or {"nc", "ca"} & set(code.mods)
    return ACCESSES.index("read-only" if cached else "load")


def issued(block: Block) -> Iterable[Instruction]:
    """The instructions of a block that a warp issues."""
    for code in block.code:
        if code.op != "gevolve":
            yield code
    if block.end is not None and block.end.op != SKIP and block.issued:
        yield block.end


def code_of(flows: Sequence[Flow], sites: Sequence[Site]) -> Code:
    """The arrays of a kernel: its functions' flows in the order of their blocks, and its sites."""
    rows: list[tuple[object, ...]] = []
    classes: list[str] = []
    lines: list[tuple[int | str, int]] = []
    spoken: list[str] = []
    spans: list[tuple[int, int]] = []
    registers: list[int] = []
    slots = site = 0
    for flow in flows:
        allot = _Allotment(flow, slots)
        for block in flow.blocks:
            first = len(rows)
            allot.begin(block)
            for code in issued(block):
                traced = site < len(sites) and sites[site].code is code
                # A parameter at an address that is computed is an access like any other.
                kind = "memory" if traced and _is_parameter(code) else classify(code)
                access = _access(code)
                site += traced
                written, read = allot.step(code)
                role = _role(kind, code, traced=traced)
                reads = max(1, (len(read) + 1) // 2)
                counts = len(written), len(read), access, reads
                rows.append((len(registers), 0, 0, 0, role, 1, *counts, 0, *_NO_CONTROL))
                registers += [*written, *read]
                classes.append(kind)
                lines.append((code.line.file, code.line.line) if code.line else (0, 0))
                spoken.append(code.name)
            spans.append((first, len(rows) - first))
        slots = allot.most
    return Code(
        np.array(rows, OP),
        tuple(classes),
        tuple(lines),
        tuple(spoken),
        np.array(spans, SPAN),
        np.array(registers or [0], np.uint16),
        max(slots, 1),
        np.array([_access(s.code) for s in sites] or [0], np.int32),
        np.array(pressure_of(flows) or [0], np.int64),
    )


class _Allotment:
    """Numbers a function's registers: one each for those that live across blocks, shared for others."""

    def __init__(self, flow: Flow, first: int) -> None:
        self.flow = flow
        self.fixed = {name: first + i for i, name in enumerate(flow.crossing)}
        self.base = first + len(self.fixed)
        self.most = self.base
        self.local: dict[str, int] = {}
        self.free: list[int] = []
        self.uses: dict[str, int] = {}

    def begin(self, block: Block) -> None:
        self.local = {}
        self.free = []
        self.next = self.base
        self.uses = {}
        for code in (*block.code, block.end) if block.end else block.code:
            for name in sources(code):
                self.uses[name] = self.uses.get(name, 0) + 1

    def step(self, code: Instruction) -> tuple[list[int], list[int]]:
        """The numbers of the registers that an instruction writes and reads."""
        bits = self.flow.bit
        read: list[int] = []
        done: list[int] = []
        for name in sources(code):
            if name not in bits:
                continue
            place = self._place(name)
            if place not in read:
                read.append(place)
            self.uses[name] -= 1
            if not self.uses[name] and name in self.local:
                done.append(self.local.pop(name))
        self.free += done
        written = [self._place(name) for name in results(code) if name in bits]
        return written, read

    def _place(self, name: str) -> int:
        place = self.fixed.get(name)
        if place is None:
            place = self.local.get(name)
        if place is None:
            place = self.free.pop() if self.free else self._fresh()
            self.local[name] = place
        return place

    def _fresh(self) -> int:
        self.next += 1
        self.most = max(self.most, self.next)
        return self.next - 1
