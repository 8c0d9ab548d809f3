"""The syntax tree of a PTX module: plain, immutable records that `parse` makes from text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

SIZES: Mapping[str, int] = {
    **dict.fromkeys(("pred", "b8", "u8", "s8", "e4m3", "e5m2"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "tf32", "f16x2", "bf16x2"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64", "f32x2"), 8),
    "b128": 16,
}
"""Bytes of each PTX type."""


class Float(NamedTuple):
    """A float literal by its bits: ``0f3F800000`` or ``0d3FF0000000000000``."""

    bits: int
    size: int


class Not(NamedTuple):
    """A negated predicate operand, ``!%p1``."""

    name: str


class Pair(NamedTuple):
    """Two destinations, ``%p1|%p2``."""

    first: str
    second: str


class Address(NamedTuple):
    """A memory operand, ``[%rd1+8]`` or ``[table+4]``; base None is an absolute address."""

    base: str | None
    offset: int


class Group(NamedTuple):
    """The parenthesised names of a call, ``(param0, param1)``."""

    names: tuple[str, ...]


Scalar: TypeAlias = str | int | Float
"""A register, symbol or special register by name; or a literal."""


class Vector(NamedTuple):
    """Several scalars together, ``{%r1, %r2}``."""

    parts: tuple[Scalar, ...]


Operand: TypeAlias = Scalar | Vector | Not | Pair | Address | Group


class Line(NamedTuple):
    """Where in the user's source an instruction comes from."""

    file: int
    line: int


class Instruction(NamedTuple):
    """One instruction: ``@!%p1 ld.global.f32 %f1, [%rd1+4];``."""

    op: str
    mods: tuple[str, ...]
    args: tuple[Operand, ...]
    guard: str | None = None
    negated: bool = False
    line: Line | None = None

    @property
    def name(self) -> str:
        return ".".join((self.op, *self.mods))


class Label(NamedTuple):
    """A place to branch to."""

    name: str


class Reloc(NamedTuple):
    """An initial value that is the address of a symbol."""

    symbol: str
    addend: int = 0
    shift: int = 0
    """Only the byte at this bit position is stored (``0xFF00(symbol)``), if the element is a byte."""


class Variable(NamedTuple):
    """A variable in some state space; `length` 0 is an array of unknown size."""

    name: str
    space: str
    type: str
    length: int
    align: int
    init: tuple[int | Float | Reloc, ...] = ()
    scalar: bool = True
    extern: bool = False

    @property
    def size(self) -> int:
        return SIZES[self.type] * self.length


class Prototype(NamedTuple):
    """The shape of an indirect call's target."""

    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel (``.entry``) or device function (``.func``); `body` None is a declaration."""

    name: str
    entry: bool
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    body: tuple[Instruction | Label, ...] | None = None
    registers: Mapping[str, str] = field(default_factory=dict[str, str])
    """The type of each register."""
    variables: tuple[Variable, ...] = ()
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The targets of ``brx.idx``, by the name of their list."""
    prototypes: Mapping[str, Prototype] = field(default_factory=dict[str, Prototype])
    limits: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """``maxntid`` and ``reqntid``, if the kernel states them."""


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed PTX file."""

    functions: Mapping[str, Function]
    variables: Mapping[str, Variable]
    files: Mapping[int, str]
    aliases: Mapping[str, str]
