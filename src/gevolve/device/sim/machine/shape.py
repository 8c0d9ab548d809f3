"""What machine words mean, but for the values in them: which bits are which number of which operand.

Two words of one `Shape` differ in registers, numbers and signs only. The `Layout` of their opcode says
which bits these values take; the other bits are the *key*, by which the shape is found:

    IADD3 R4, P0, R4, UR4, RZ      IADD3 of Reg(bits 16-23), Pred(81-83), Reg(24-31), UReg(32-37), Reg(64-71)

Where the disassembler prints a field in another way, or not at all, if all its bits are set (a carry
to ``PT``), this stays in the key: all bits of the field, or none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from gevolve.device.sim.machine import instruction
from gevolve.device.sim.machine.instruction import URZ, Operand, Reg, UReg
from gevolve.errors import UnsupportedError

CONTROL = (1 << 126) - (1 << 105)
"""Bits that say when a word is issued, not what it does."""
GUARD = 0xF000

Value = int | str | None | tuple[int, ...]

_KINDS: Mapping[str, Callable[..., Operand]] = {
    name: getattr(instruction, name)
    for name in (
        *("Reg", "UReg", "Pred", "UPred", "Imm", "Const", "Address"),
        *("Label", "Special", "Barrier", "Scoreboard", "Numbers"),
    )
}
_FLAGS = ("negate", "absolute", "invert", "wide")


@dataclass(frozen=True, slots=True)
class Field:
    """A number that bits of the word add up to: `base` and the sum of weighted bits."""

    name: str
    base: int
    runs: tuple[tuple[int, int, int], ...]
    """Bits that follow one another: the lowest, how many, and the weight of the lowest."""

    def value(self, word: int) -> int:
        runs = self.runs
        return self.base + sum((word >> low & (1 << n) - 1) * weight for low, n, weight in runs)


@dataclass(frozen=True, slots=True)
class OperandShape:
    """An operand: its class, what is fixed of it, and what the word says."""

    kind: str
    fixed: tuple[tuple[str, Value], ...]
    fields: tuple[Field, ...]

    @property
    def mask(self) -> int:
        """The bits of the word that it depends on."""
        return sum((1 << n) - 1 << low for field in self.fields for low, n, _ in field.runs)

    def values(self, word: int) -> dict[str, Any]:
        """Its attributes, as `flat` gives them."""
        return dict(self.fixed) | {field.name: field.value(word) for field in self.fields}


@dataclass(frozen=True, slots=True)
class Shape:
    """An instruction without its values."""

    name: str
    """Opcode and modifiers, as in ``IMAD.WIDE.U32``."""
    uniform: bool
    """Whether its guard is a uniform predicate."""
    relative: bool
    """Whether its label counts from its own address."""
    operands: tuple[OperandShape, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which bits of the words of one opcode are values."""

    values: int
    marked: tuple[int, ...]
    """Masks of the fields that stay in the key if all their bits are set."""

    def key(self, word: int) -> int:
        key = word & ~self.values
        for mask in self.marked:
            if word & mask == mask:
                key |= mask
        return key


def flat(operand: Operand) -> dict[str, Any]:
    """The attributes of an operand by name; those of a register in it as ``register.index``."""
    found: dict[str, Any] = {}
    for field in fields(operand):
        value = getattr(operand, field.name)
        if isinstance(value, Reg | UReg):
            found[field.name] = type(value).__name__
            found[f"{field.name}.index"] = value.index
            found[f"{field.name}.part"] = value.part
        else:
            found[field.name] = int(value) if isinstance(value, bool) else value
    return found


def build(kind: str, values: Mapping[str, Any], urz: int) -> Operand:
    """An operand of its attributes, as `flat` gives them; `urz` is the word's index of ``URZ``."""
    made = dict(values)
    if urz != URZ:
        _narrow(kind, made, urz)
    held = made.get("register")
    if isinstance(held, str):
        made["register"] = _KINDS[held](made.pop("register.index"), part=made.pop("register.part"))
    for name in _FLAGS:
        if name in made:
            made[name] = bool(made[name])
    if "items" in made:
        made["items"] = tuple(made["items"])
    return _KINDS[kind](**made)


def _narrow(kind: str, values: dict[str, Any], urz: int) -> None:
    """Uniform registers in the six bits that all but the newest GPUs have."""
    names = ["uniform", "descriptor"]
    if kind == "UReg":
        names.append("index")
    if values.get("register") == "UReg":
        names.append("register.index")
    for name in names:
        index = values.get(name)
        if index == urz:
            values[name] = URZ
        elif index is not None and index >= URZ:
            raise UnsupportedError(f"the uniform register UR{index} is not known")
