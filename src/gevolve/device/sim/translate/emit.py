"""Host LLVM-IR for the threads of one block at a time: values, registers, guards.

Inside a block a register is an SSA value; it is read from the thread's frame when first needed and
written back at the end if another block may read it. No optimiser has to run after this, which is
what makes a variant cheap to try.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass

from gevolve.device.sim import layout
from gevolve.device.sim.ptx import SIZES, Float, Instruction, Not, Operand
from gevolve.device.sim.translate.text import BITS, Text, literal
from gevolve.errors import UnsupportedError

__all__ = [
    "BITS",
    "INTEGER",
    "Emitter",
    "Site",
    "float_literal",
    "integer_of",
    "literal",
    "value_of",
]

INTEGER = {1: "i8", 2: "i16", 4: "i32", 8: "i64", 16: "i128"}
"""The LLVM integer of so many bytes."""


def integer_of(kind: str) -> str:
    """The LLVM integer that holds a PTX type."""
    return "i1" if kind == "pred" else INTEGER[SIZES[kind]]


def value_of(kind: str) -> str:
    """The LLVM type in which a PTX type is computed with (half floats stay as their bits)."""
    return {"f32": "float", "f64": "double"}.get(kind) or integer_of(kind)


@dataclass(frozen=True, slots=True)
class Site:
    """One memory instruction whose addresses are traced."""

    size: int
    kind: str
    """``load``, ``store`` or ``atomic``."""
    line: int
    code: Instruction
    checked: bool = False
    """Whether generated code checks the bounds exactly."""


Lookup = Callable[["Emitter", str], str]


class Emitter(Text):
    """Writes the body of one block for one thread; `function` makes one for each function."""

    def __init__(
        self,
        registers: dict[str, str],
        slots: dict[str, int],
        symbol: Lookup,
        declared: dict[str, str],
    ) -> None:
        super().__init__(declared)
        self.registers = registers
        self.slots = slots
        self.symbol = symbol
        self.values: dict[str, dict[str, str]] = {}
        self.dirty: dict[str, None] = {}
        self.guard: str | None = None
        self.lane = self.index = self.frame = ""
        """This thread's number in the warp, its place in the group, and its frame."""
        self.label = ""
        self.sites: list[Site] = []
        self.code: Instruction | None = None

    def start(self, label: str) -> None:
        """Begin an LLVM block."""
        self.label = label
        self.lines.append(f"{label}:")

    def fresh(self) -> str:
        self.count += 1
        return f"L{self.count}"

    def unsupported(self, why: str = "") -> UnsupportedError:
        """An error that names the instruction being translated."""
        code = self.code
        assert code is not None
        where = f" (source line {code.line.line})" if code.line else ""
        return UnsupportedError(f"sim cannot run {code.name}{where}{': ' if why else ''}{why}")

    # --- values

    def read(self, operand: Operand, kind: str) -> str:
        """The value of an operand in an LLVM type; wider registers are cut, narrower ones extended."""
        if isinstance(operand, str):
            if operand in self.registers:
                return self._register(operand, kind)
            return self.convert(self.symbol(self, operand), "i64", kind)
        if isinstance(operand, int):
            return literal(operand, kind)
        if isinstance(operand, Float):
            return float_literal(operand, kind)
        if isinstance(operand, Not):
            return self.op(f"xor i1 {self.read(operand.name, 'i1')}, true")
        raise self.unsupported(f"operand {operand!r}")

    def _register(self, name: str, kind: str) -> str:
        known = self.values.get(name)
        own = integer_of(self.registers[name])
        if known is None:
            known = self.values[name] = {own: self._load(name, own)}
        found = known.get(kind)
        if found is not None:
            return found
        base = known.get(own)
        if base is None:
            other, value = next(iter(known.items()))
            base = known[own] = self.convert(value, other, own)
            if kind == own:
                return base
        found = known[kind] = self.convert(base, own, kind)
        return found

    def _load(self, name: str, own: str) -> str:
        slot = self.slots.get(name)
        if slot is None:  # read before any write, in this block alone
            return self.unwritten(own)
        if own == "i1":
            byte = self.op(f"load i8, ptr {self.at(self.frame, slot)}")
            return self.op(f"trunc i8 {byte} to i1")
        return self.op(f"load {own}, ptr {self.at(self.frame, slot)}")

    def unwritten(self, kind: str) -> str:
        """What is in a register that nothing has written."""
        if kind == "i1":
            return self.op(f"trunc i8 {self.load_launch(layout.NOISE, 'i8')} to i1")
        return self.load_launch(layout.NOISE, kind)

    def write(self, name: Operand, kind: str, value: str) -> None:
        """Give a register a new value (its old one where the guard is false)."""
        assert isinstance(name, str)
        if name == "_":
            return
        own = self.registers.get(name)
        if own is None:
            raise self.unsupported(f"unknown register {name}")
        if self.guard is not None:
            old = self._register(name, kind)
            value = self.op(f"select i1 {self.guard}, {kind} {value}, {kind} {old}")
        if BITS[kind] != BITS[integer_of(own)]:
            kind, value = integer_of(own), self.convert(value, kind, integer_of(own))
        self.values[name] = {kind: value}
        self.dirty[name] = None

    def convert(self, value: str, have: str, want: str) -> str:
        """Reinterpret bits, cutting or zero-extending where the widths differ."""
        if have == want:
            return value
        if have in {"float", "double"}:
            whole = f"i{BITS[have]}"
            value, have = self.op(f"bitcast {have} {value} to {whole}"), whole
        whole = f"i{BITS[want]}"
        if have != whole:
            step = "trunc" if BITS[have] > BITS[want] else "zext"
            if want == "i1":
                value = self.op(f"icmp ne {have} {value}, 0")
            else:
                value = self.op(f"{step} {have} {value} to {whole}")
        return value if want == whole else self.op(f"bitcast {whole} {value} to {want}")

    # --- the warp and the launch

    def lane_field(self, offset: int, kind: str = "i32") -> str:
        """A pointer to this lane's element of an array of the warp."""
        base = self.at("%w", offset)
        return self.op(f"getelementptr {kind}, ptr {base}, i64 {self.lane}")

    def load_launch(self, offset: int, kind: str) -> str:
        return self.op(f"load {kind}, ptr {self.at('%launch', offset)}")

    def go(self, target: int | str) -> None:
        """Say which block this thread runs next (or how it ended)."""
        self.do(f"store i32 {target}, ptr {self.lane_field(layout.PC)}")

    # --- structure

    def save(self, live: Iterable[str]) -> None:
        """Write changed registers that other blocks may read back to the frame."""
        for name in live:
            if name not in self.dirty:
                continue
            own = integer_of(self.registers[name])
            known = self.values[name]
            pointer = self.at(self.frame, self.slots[name])
            if own == "i1":
                wide = self.op(f"zext i1 {self._register(name, own)} to i8")
                self.do(f"store i8 {wide}, ptr {pointer}")
                continue
            kind = own if own in known else next(iter(known))
            self.do(f"store {kind} {known[kind]}, ptr {pointer}")

    @contextmanager
    def only_if(self, condition: str, results: Iterable[str]) -> Generator[None]:
        """Emit what follows for threads where the condition holds; `results` merge with old values."""
        names = [name for name in results if name in self.registers]
        own = {name: integer_of(self.registers[name]) for name in names}
        old = {name: self._register(name, own[name]) for name in names}
        saved = {name: dict(known) for name, known in self.values.items()}
        before, inside, after = self.label, self.fresh(), self.fresh()
        self.do(f"br i1 {condition}, label %{inside}, label %{after}")
        self.start(inside)
        yield
        new = {name: self._register(name, own[name]) for name in names}
        last = self.label
        self.do(f"br label %{after}")
        self.start(after)
        self.values = saved
        for name in names:
            kind = own[name]
            merged = self.op(f"phi {kind} [ {new[name]}, %{last} ], [ {old[name]}, %{before} ]")
            self.values[name] = {kind: merged}


def float_literal(value: Float, kind: str) -> str:
    """A float literal as a constant of an LLVM type; a double narrows if a float is wanted."""
    bits = value.bits
    if value.size == 8 and BITS[kind] == 32:
        import struct  # noqa: PLC0415  (rare)

        as_double: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
        bits = int.from_bytes(struct.pack("<f", as_double), "little")
    return literal(bits, kind)
