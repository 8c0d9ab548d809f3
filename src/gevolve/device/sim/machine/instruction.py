"""One machine instruction, as data: what NVIDIA's disassembler prints, without the text.

    IMAD.WIDE.U32 R4, R16, R5, c[0x0][0x160]

is an `Instruction` with opcode ``IMAD``, modifiers ``("WIDE", "U32")`` and four operands in the order
of the text. Operands that the disassembler leaves out (a carry that is not used) are left out here.
"""

from dataclasses import dataclass
from typing import Literal

RZ = 255
"""The register that reads as zero."""
URZ = 63
"""The uniform register that reads as zero (255 from sm_100 on, and 63 here all the same)."""
PT = 7
"""The predicate that is always true; as a uniform one too."""


@dataclass(frozen=True, slots=True)
class Control:
    """How the compiler schedules an instruction: bits 105 to 125 of its word."""

    stall: int
    """Cycles until the warp's next instruction may issue."""
    yields: bool
    """Whether the scheduler should rather turn to another warp."""
    write: int | None
    """Scoreboard (0 to 5) that is released when the results are written."""
    read: int | None
    """Scoreboard (0 to 5) that is released when the operands are read."""
    wait: int
    """Mask of the scoreboards that must be free before the instruction issues."""
    reuse: int
    """Mask of the source slots whose registers stay in the operand cache."""


@dataclass(frozen=True, slots=True)
class Reg:
    """A register of a thread; a wide operation takes the following ones too."""

    index: int
    negate: bool = False
    absolute: bool = False
    invert: bool = False
    part: str = ""
    """What of it is taken, such as ``H0_H0``, ``B1``, ``ROW``."""


@dataclass(frozen=True, slots=True)
class UReg:
    """A uniform register: one for all threads of a warp."""

    index: int
    negate: bool = False
    absolute: bool = False
    invert: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Pred:
    """A predicate of a thread."""

    index: int
    negate: bool = False


@dataclass(frozen=True, slots=True)
class UPred:
    """A uniform predicate."""

    index: int
    negate: bool = False


@dataclass(frozen=True, slots=True)
class Imm:
    """A number in the instruction, as its bits: of 64 for `f64`, of 16 for `f16`, else of 32.

    Whether 16 bits are a half or bfloat16 is for the instruction to say.
    """

    bits: int
    kind: Literal["int", "f16", "f32", "f64"] = "int"


@dataclass(frozen=True, slots=True)
class Const:
    """A value in a constant bank: ``c[bank][offset]``, or ``c[bank][register+offset]``.

    With `descriptor`, the bank is the one that this uniform register names: ``cx[UR4][offset]``.
    """

    bank: int
    offset: int
    register: Reg | UReg | None = None
    descriptor: int | None = None
    negate: bool = False
    absolute: bool = False
    invert: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """An address in memory: the sum of a register, a uniform register and an offset.

    With `wide` the register is a pair (the text says ``R4.64``); `part` is how else it is taken, such as
    ``X4`` or ``U32``. `descriptor` is the uniform register in ``desc[UR4][R2.64]``, which names no
    address. The width of `uniform` is that of the instruction (``.U32`` or ``.64`` on the register).
    """

    register: int | None
    uniform: int | None
    offset: int
    wide: bool = False
    part: str = ""
    uniform_part: str = ""
    descriptor: int | None = None
    space: str = ""
    """``a`` (attributes) and the like in front of the bracket; graphics only, but for ``gdesc``."""


@dataclass(frozen=True, slots=True)
class Label:
    """An instruction of the same section, by its address."""

    address: int


@dataclass(frozen=True, slots=True)
class Special:
    """Something that has a name: a special register (``SR_TID.X``), all predicates (``PR``), ``2D``."""

    name: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """A convergence barrier, B0 to B15, where diverged threads of a warp meet."""

    index: int


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """A scoreboard as an operand: ``SB0``."""

    index: int


@dataclass(frozen=True, slots=True)
class Numbers:
    """A set of numbers: ``{4,3}``."""

    items: tuple[int, ...]


Operand = (
    Reg
    | UReg
    | Pred
    | UPred
    | Imm
    | Const
    | Address
    | Label
    | Special
    | Barrier
    | Scoreboard
    | Numbers
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction at its address, which counts from the start of its section."""

    address: int
    guard: Pred | UPred | None
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    control: Control
    line: tuple[str, int] | None = None
    """File and line of the source, if the PTX had them."""
