"""Machine code as the timing model sees it: of each instruction its unit, and its control bits.

NVIDIA's compiler writes into every instruction how long the warp must wait before the next one (the
stall count), which scoreboards it waits for, and which it holds until it has read its operands or
written its results. So the latency of arithmetic needs no table: the replay obeys the bits.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from gevolve.device.sim.timing.code import ACCESSES, OP, ROLES, SPAN, Code

BOARDS = 6
_NONE = 7
"""An instruction that holds no scoreboard."""

_ALU = (
    *(
        "IADD3",
        "IADD",
        "VIADD",
        "LOP3",
        "LOP",
        "SHF",
        "SHL",
        "SHR",
        "LEA",
        "ISETP",
        "ICMP",
        "SEL",
        "FSEL",
    ),
    *("FSETP", "FSET", "FMNMX", "IMNMX", "VIMNMX", "MOV", "PRMT", "BMSK", "SGXT", "PLOP3", "PSETP"),
    *(
        "P2R",
        "R2P",
        "VABSDIFF",
        "VABSDIFF4",
        "IABS",
        "I2FP",
        "F2FP",
        "VOTE",
        "LEPC",
        "ISCADD",
        "FMNMX3",
    ),
    *("VIADDMNMX", "VIMNMX3", "FCHK"),
)
CLASSES = {
    **dict.fromkeys(("FADD", "FMUL", "FFMA", "FADD32I", "FMUL32I", "FFMA32I", "FSWZADD"), "float"),
    **dict.fromkeys(("IMAD", "IMUL", "IDP", "IMAD32I", "IMUL32I"), "multiply"),
    **dict.fromkeys(_ALU, "logic"),
    "MUFU": "special",
    **dict.fromkeys(("I2F", "F2I", "F2F", "FRND", "I2I", "F2IP", "I2IP"), "convert"),
    **dict.fromkeys(("POPC", "FLO", "BREV"), "convert"),
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "DSETP", "DMNMX"), "double"),
    **dict.fromkeys(("HADD2", "HMUL2", "HFMA2", "HSETP2", "HSET2", "HMNMX2"), "half"),
    **dict.fromkeys(("SHFL", "MATCH", "REDUX", "CREDUX"), "shuffle"),
    **dict.fromkeys(("S2R", "S2UR", "R2UR"), "register"),
    "CS2R": "logic",
    **dict.fromkeys(("LDC", "LDCU"), "constant"),
    "ULDC": "uniform",
    "BAR": "barrier",
    **dict.fromkeys(("MEMBAR", "ERRBAR", "FENCE"), "fence"),
}
_BRANCHES = (
    *(
        "BRA",
        "BRX",
        "JMP",
        "JMX",
        "CALL",
        "RET",
        "EXIT",
        "BSSY",
        "BSYNC",
        "BREAK",
        "WARPSYNC",
        "YIELD",
    ),
    *("NOP", "BMOV", "NANOSLEEP", "KILL", "BPT", "DEPBAR", "RPCMOV", "CCTL", "ACQBULK", "PREEXIT"),
)
_MEMORY = ("LD", "ST", "ATOM", "RED", "QSPC")
_WIDE = {"F64", "S64", "U64"}


class Control(Protocol):
    """The bits that the compiler wrote; see `gevolve.device.sim.machine.instruction.Control`."""

    @property
    def stall(self) -> int: ...
    @property
    def yields(self) -> bool: ...
    @property
    def write(self) -> int | None: ...
    @property
    def read(self) -> int | None: ...
    @property
    def wait(self) -> int: ...


class Instruction(Protocol):
    """What is read here of a machine instruction."""

    @property
    def opcode(self) -> str: ...
    @property
    def modifiers(self) -> tuple[str, ...]: ...
    @property
    def operands(self) -> Sequence[object]: ...
    @property
    def control(self) -> Control: ...
    @property
    def line(self) -> tuple[str, int] | None: ...


def classify(opcode: str, modifiers: Sequence[str] = ()) -> str:
    """The class of an instruction: the unit that runs it, for short."""
    found = CLASSES.get(opcode)
    if found is not None:
        # conversions from and to 64 bits run on the double unit
        return "convert64" if found == "convert" and _WIDE & {*modifiers} else found
    if opcode in _BRANCHES:
        return "branch"
    if opcode.startswith(_MEMORY):
        return "memory"
    return "uniform" if opcode.startswith("U") else "logic"


def _access(opcode: str, modifiers: Sequence[str]) -> str:
    if opcode.startswith(("ATOM", "RED")):
        return "atomic"
    if opcode.startswith("ST"):
        return "store"
    return "read-only" if "CONSTANT" in modifiers else "load"


def _waits(code: Instruction) -> int:
    """The scoreboards that must be free, as a mask; DEPBAR names one more."""
    wait = code.control.wait
    if code.opcode == "DEPBAR" and code.operands:
        wait |= 1 << getattr(code.operands[0], "index", BOARDS)
    return wait & ((1 << BOARDS) - 1)


def machine_code(
    blocks: Iterable[Iterable[Instruction]], sites: Sequence[Instruction], registers: int
) -> Code:
    """The arrays of a kernel: its blocks in the order of the trace, and the instructions it traces."""
    rows: list[tuple[object, ...]] = []
    classes: list[str] = []
    lines: list[tuple[int | str, int]] = []
    names: list[str] = []
    spans: list[tuple[int, int]] = []
    site = 0
    for block in blocks:
        first = len(rows)
        for code in block:
            control = code.control
            traced = site < len(sites) and sites[site] is code
            site += traced
            kind = classify(code.opcode, code.modifiers)
            role = "memory" if traced else kind if kind in {"barrier", "fence"} else "compute"
            if kind == "barrier" and "ARV" in code.modifiers:
                role = "compute"
            access = ACCESSES.index(_access(code.opcode, code.modifiers))
            own = control.stall, control.yields, _board(control.write), _board(control.read)
            head = 0, 0, 0, 0, ROLES.index(role), 1, 0, 0, access, 0, 0
            rows.append((*head, *own, _waits(code), 0, (0, 0)))
            classes.append(kind)
            lines.append(code.line or (0, 0))
            names.append(".".join((code.opcode, *code.modifiers)))
        spans.append((first, len(rows) - first))
    accesses = [ACCESSES.index(_access(code.opcode, code.modifiers)) for code in sites]
    return Code(
        np.array(rows, OP),
        tuple(classes),
        tuple(lines),
        tuple(names),
        np.array(spans, SPAN),
        np.zeros(1, np.uint16),
        BOARDS,
        np.array(accesses or [0], np.int32),
        np.array([registers], np.int64),
        machine=True,
    )


def _board(number: int | None) -> int:
    return _NONE if number is None else number
