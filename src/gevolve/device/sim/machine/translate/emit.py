"""Host LLVM-IR for one segment of machine code and one thread: registers, predicates, constants.

A segment is a part of a block that every lane of a group runs before any lane runs what comes next.
Inside it a register is an SSA value, read from the thread's frame when first needed; those that a later
segment may read are written back at its end. What a segment reads and writes is noted on the way, and
that is all that the search for live registers needs to know.

A uniform register is kept by each thread for itself, as a register like others: code that all threads
of a warp run together gives it the same value in each.
"""

from dataclasses import dataclass

from gevolve.device.sim import layout
from gevolve.device.sim.machine.instruction import (
    PT,
    RZ,
    URZ,
    Const,
    Imm,
    Instruction,
    Operand,
    Pred,
    Reg,
    UPred,
    UReg,
)
from gevolve.device.sim.translate.text import BITS, Text, literal
from gevolve.errors import UnsupportedError

UNIFORM = 256
"""Added to a uniform register's number."""
_ZEROS = frozenset({RZ, UNIFORM + URZ})
_UNIFORM_PREDICATE = 8
PREDICATES = 320
"""The place of the first predicate among the bits of the sets of live registers."""


class Frame:
    """Where in a thread's frame each register lies: at the same place in every kernel, whatever it takes."""

    predicates = 0
    _uniform = 16
    _registers = _uniform + 4 * (URZ + 1)

    def __init__(self, registers: int) -> None:
        self.size = -(-(self._registers + 4 * registers) // 16) * 16

    def place(self, register: int) -> int:
        """The offset of a register (by its number, uniform ones after `UNIFORM`)."""
        if register >= UNIFORM:
            return self._uniform + 4 * (register - UNIFORM)
        return self._registers + 4 * register


@dataclass(frozen=True, slots=True)
class Site:
    """One memory instruction whose addresses are traced."""

    size: int
    kind: str
    """``load``, ``store`` or ``atomic``."""
    code: Instruction
    checked: bool = False
    """Whether generated code checks the bounds exactly."""

    @property
    def line(self) -> int:
        return self.code.line[1] if self.code.line else 0


class Emitter(Text):
    """Writes the body of one segment, which has a number in its block."""

    def __init__(self, number: int, frame: Frame, arch: str, declared: dict[str, str]) -> None:
        super().__init__(declared)
        self.number = number
        self.layout = frame
        self.arch = arch
        self.head: list[str] = []
        """What is done once, before the first lane."""
        self.lane, self.traced, self.frame = f"%lane{number}", f"%t{number}", f"%f{number}"
        self.guard: str | None = None
        self.code: Instruction | None = None
        self.after: str | None = None
        """What is called once the last lane is through, as text."""
        self.sites: list[Site] = []
        self.first_site = 0
        """How many sites the block has before this segment."""
        self.uses = self.defines = 0
        """The registers that are read before they are written, and those that are written."""
        self.values: dict[int, dict[str, str]] = {}
        self.wide: dict[int, dict[str, str]] = {}
        """64-bit values, by the first register of the pair."""
        self.parts: dict[int, tuple[str, int]] = {}
        """Registers that are a part of a 64-bit value: its name, and the bit where they begin."""
        self.predicates: dict[int, str] = {}
        self.constants: dict[tuple[int, int, str], str] = {}
        self.dirty: dict[int, None] = {}

    def op(self, text: str) -> str:
        self.count += 1
        name = f"%s{self.number}.{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def once(self, text: str) -> str:
        """A value that is the same for all lanes, computed before the first."""
        self.count += 1
        name = f"%s{self.number}.{self.count}"
        self.head.append(f"{name} = {text}")
        return name

    def unsupported(self) -> UnsupportedError:
        """An error that names the instruction being translated."""
        assert self.code is not None
        return unknown(self.code, self.arch)

    # --- registers

    def read(self, register: int, kind: str = "i32") -> str:
        """A register as ``i32`` or ``float``."""
        if register in _ZEROS:
            return literal(0, kind)
        known = self.values.get(register)
        if known is None:
            known = self.values[register] = {}
        found = known.get(kind)
        if found is not None:
            return found
        if known:
            have, value = next(iter(known.items()))
            found = self.op(f"bitcast {have} {value} to {kind}")
        elif register in self.parts:
            value, shift = self.parts[register]
            if shift:
                value = self.op(f"lshr i64 {value}, {shift}")
            found = known["i32"] = self.op(f"trunc i64 {value} to i32")
            if kind == "float":
                found = self.op(f"bitcast i32 {found} to float")
        else:
            self._use(1 << register)
            place = self.at(self.frame, self.layout.place(register))
            found = self.op(f"load {kind}, ptr {place}")
        known[kind] = found
        return found

    def read_wide(self, register: int, kind: str = "i64") -> str:
        """A pair of registers as ``i64`` or ``double``."""
        if register in _ZEROS:
            return literal(0, kind)
        known = self.wide.get(register)
        if known is None:
            known = self.wide[register] = {}
        found = known.get(kind)
        if found is not None:
            return found
        if known:
            have, value = next(iter(known.items()))
            found = self.op(f"bitcast {have} {value} to {kind}")
        elif self._untouched(register) and self._untouched(register + 1):
            self._use(3 << register)
            place = self.at(self.frame, self.layout.place(register))
            found = self.op(f"load {kind}, ptr {place}, align 4")
        else:
            low = self.op(f"zext i32 {self.read(register)} to i64")
            high = self.op(f"zext i32 {self.read(register + 1)} to i64")
            shifted = self.op(f"shl i64 {high}, 32")
            found = known["i64"] = self.op(f"or i64 {low}, {shifted}")
            if kind == "double":
                found = self.op(f"bitcast i64 {found} to double")
        known[kind] = found
        return found

    def _untouched(self, register: int) -> bool:
        return (
            register not in _ZEROS and not self.values.get(register) and register not in self.parts
        )

    def write(self, register: int, value: str, kind: str = "i32") -> None:
        """Give a register a new value (its old one where the guard is false)."""
        if register in _ZEROS:
            return
        if self.guard is not None:
            old = self.read(register, kind)
            value = self.op(f"select i1 {self.guard}, {kind} {value}, {kind} {old}")
        self._forget(register)
        self.values[register] = {kind: value}
        self.dirty[register] = None
        self.defines |= 1 << register

    def write_wide(self, register: int, value: str, kind: str = "i64") -> None:
        """Give a pair of registers a new value."""
        if register in _ZEROS:
            return
        if self.guard is not None:
            old = self.read_wide(register, kind)
            value = self.op(f"select i1 {self.guard}, {kind} {value}, {kind} {old}")
        self._forget(register)
        self._forget(register + 1)
        self.wide[register] = {kind: value}
        if kind == "double":
            value = self.wide[register]["i64"] = self.op(f"bitcast double {value} to i64")
        self.parts[register] = value, 0
        self.parts[register + 1] = value, 32
        self.dirty[register] = self.dirty[register + 1] = None
        self.defines |= 3 << register

    def _forget(self, register: int) -> None:
        self.values.pop(register, None)
        self.parts.pop(register, None)
        self.wide.pop(register, None)
        self.wide.pop(register - 1, None)

    def _use(self, registers: int) -> None:
        self.uses |= registers & ~self.defines

    # --- predicates

    def truth(self, operand: Operand) -> str:
        """A predicate as ``i1``; of a register, its sign."""
        if isinstance(operand, (Reg, UReg, Const)):
            if operand.part != "SIGN":
                raise self.unsupported()
            return self.op(f"icmp slt i32 {self.integer(operand)}, 0")
        if not isinstance(operand, (Pred, UPred)):
            raise self.unsupported()
        if operand.index == PT:
            return "false" if operand.negate else "true"
        value = self.predicate(_predicate(operand))
        return self.op(f"xor i1 {value}, true") if operand.negate else value

    def predicate(self, number: int) -> str:
        """A predicate by its number; uniform ones come after the others."""
        found = self.predicates.get(number)
        if found is None:
            self._use(1 << (PREDICATES + number))
            place = self.at(self.frame, self.layout.predicates + number)
            byte = self.op(f"load i8, ptr {place}")
            found = self.predicates[number] = self.op(f"trunc i8 {byte} to i1")
        return found

    def set(self, operand: Operand | int, value: str) -> None:
        """Give a predicate a new value."""
        if isinstance(operand, (Pred, UPred)):
            if operand.index == PT:
                return
            operand = _predicate(operand)
        assert isinstance(operand, int)
        if self.guard is not None:
            old = self.predicate(operand)
            value = self.op(f"select i1 {self.guard}, i1 {value}, i1 {old}")
        self.predicates[operand] = value
        self.dirty[PREDICATES + operand] = None
        self.defines |= 1 << (PREDICATES + operand)

    # --- operands

    def integer(self, operand: Operand) -> str:
        """A source of 32 bits as ``i32``, with its sign changed or its bits turned as it says."""
        if isinstance(operand, Imm):
            return literal(operand.bits, "i32")
        value = self.bare(operand)
        assert isinstance(operand, (Reg, UReg, Const))
        if operand.absolute:
            negative = self.op(f"sub i32 0, {value}")
            below = self.op(f"icmp slt i32 {value}, 0")
            value = self.op(f"select i1 {below}, i32 {negative}, i32 {value}")
        if operand.negate:
            return self.op(f"sub i32 0, {value}")
        return self.op(f"xor i32 {value}, -1") if operand.invert else value

    def bare(self, operand: Operand) -> str:
        """A source of 32 bits as it is, whatever is to be done to it."""
        match operand:
            case Reg():
                return self.read(operand.index)
            case UReg():
                return self.read(UNIFORM + operand.index)
            case Const():
                return self.constant(operand, "i32")
            case Imm():
                return literal(operand.bits, "i32")
            case _:
                raise self.unsupported()

    def whole(self, operand: Operand) -> str:
        """A source of 64 bits as ``i64``."""
        match operand:
            case Reg():
                value = self.read_wide(operand.index)
            case UReg():
                value = self.read_wide(UNIFORM + operand.index)
            case Const():
                value = self.constant(operand, "i64")
            case Imm():
                bits = operand.bits
                return literal(bits - (bits >> 31 << 32) if operand.kind == "int" else bits, "i64")
            case _:
                raise self.unsupported()
        if operand.negate:
            return self.op(f"sub i64 0, {value}")
        return self.op(f"xor i64 {value}, -1") if operand.invert else value

    def float(self, operand: Operand) -> str:
        """A source as ``float``."""
        match operand:
            case Reg():
                value = self.read(operand.index, "float")
            case UReg():
                value = self.read(UNIFORM + operand.index, "float")
            case Const():
                value = self.constant(operand, "float")
            case Imm():
                return literal(operand.bits, "float")
            case _:
                raise self.unsupported()
        return self._signed(value, "float", operand)

    def double(self, operand: Operand) -> str:
        """A source as ``double``; an immediate holds its upper half."""
        match operand:
            case Reg():
                value = self.read_wide(operand.index, "double")
            case UReg():
                value = self.read_wide(UNIFORM + operand.index, "double")
            case Const():
                value = self.constant(operand, "double")
            case Imm():
                bits = operand.bits if operand.kind == "f64" else operand.bits << 32
                return literal(bits, "double")
            case _:
                raise self.unsupported()
        return self._signed(value, "double", operand)

    def _signed(self, value: str, kind: str, operand: Reg | UReg | Const) -> str:
        if operand.absolute:
            bits = BITS[kind]
            value = self.op(f"bitcast {kind} {value} to i{bits}")
            value = self.op(f"and i{bits} {value}, {(1 << bits - 1) - 1}")
            value = self.op(f"bitcast i{bits} {value} to {kind}")
        return self.op(f"fneg {kind} {value}") if operand.negate else value

    def constant(self, operand: Const, kind: str) -> str:
        """A value at a fixed place in a constant bank."""
        if operand.register is not None or operand.descriptor is not None:
            raise self.unsupported()
        key = operand.bank, operand.offset, kind
        found = self.constants.get(key)
        if found is None:
            base = self.bank(operand.bank)
            place = self.once(f"getelementptr i8, ptr {base}, i64 {operand.offset}")
            found = self.constants[key] = self.once(f"load {kind}, ptr {place}, align 4")
        return found

    def bank(self, number: int) -> str:
        """A pointer to a constant bank."""
        key = number, -1, "ptr"
        found = self.constants.get(key)
        if found is None:
            offset = layout.BANKS + 8 * number
            place = self.once(f"getelementptr i8, ptr %launch, i64 {offset}")
            found = self.constants[key] = self.once(f"load ptr, ptr {place}")
        return found

    def of_launch(self, offset: int, kind: str) -> str:
        """A field of the launch record."""
        key = -1, offset, kind
        found = self.constants.get(key)
        if found is None:
            place = self.once(f"getelementptr i8, ptr %launch, i64 {offset}")
            found = self.constants[key] = self.once(f"load {kind}, ptr {place}")
        return found

    # --- the warp

    def lane_field(self, offset: int, kind: str = "i32") -> str:
        """A pointer to this lane's element of an array of the warp."""
        base = self.at("%w", offset)
        return self.op(f"getelementptr {kind}, ptr {base}, i64 {self.lane}")

    def put(self, offset: int, value: str, kind: str = "i32") -> None:
        """Write this lane's element of an array of the warp."""
        self.do(f"store {kind} {value}, ptr {self.lane_field(offset, kind)}")

    def get(self, offset: int, kind: str = "i32") -> str:
        """Read this lane's element of an array of the warp."""
        return self.op(f"load {kind}, ptr {self.lane_field(offset, kind)}")

    def save(self, live: int) -> None:
        """Write changed registers that other segments may read back to the frame."""
        done = -1
        for register in sorted(self.dirty):
            if register == done or not live >> register & 1:
                continue
            if register >= PREDICATES:
                number = register - PREDICATES
                byte = self.op(f"zext i1 {self.predicates[number]} to i8")
                place = self.at(self.frame, self.layout.predicates + number)
                self.do(f"store i8 {byte}, ptr {place}")
                continue
            place = self.at(self.frame, self.layout.place(register))
            known = self.wide.get(register)
            if known and register + 1 in self.dirty:
                kind, value = next(iter(known.items()))
                self.do(f"store {kind} {value}, ptr {place}, align 4")
                done = register + 1
                continue
            known = self.values.get(register) or {"i32": self.read(register)}
            kind, value = next(iter(known.items()))
            self.do(f"store {kind} {value}, ptr {place}")


def _predicate(operand: Pred | UPred) -> int:
    return operand.index + (_UNIFORM_PREDICATE if isinstance(operand, UPred) else 0)


def unknown(code: Instruction, arch: str) -> UnsupportedError:
    """An error that names an instruction that is not known."""
    name = ".".join((code.opcode, *code.modifiers))
    where = f", source line {code.line[1]}" if code.line else ""
    return UnsupportedError(f"SASS instruction {name} ({arch}{where}) is not known")
