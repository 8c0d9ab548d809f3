"""Reads the text of an optimized HLO module: its computations, and what each instruction takes and gives."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property

_BYTES = {"pred": 1, "token": 0}
_SHAPE = re.compile(r"([a-z]\w*)\[([\d,<=]*)\](?:\{([\d,]*)[^}]*\})?")
_HEAD = re.compile(r"^(ENTRY )?%([\w.\-]+) \(.*\{$")
_NAME = re.compile(r"%([\w.\-]+)")
_CALLED = re.compile(r"\b(calls|to_apply|body|condition|branch_computations)=(\{[^}]*\}|%[\w.\-]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
_CLOSING = {"(": ")", "{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Shape:
    """The type of one array."""

    element: str
    sizes: tuple[int, ...]
    order: tuple[int, ...]
    """Its dimensions, the one that lies closest in memory first."""

    @property
    def count(self) -> int:
        return math.prod(self.sizes)

    @property
    def bytes(self) -> float:
        return self.count * element_bytes(self.element)

    @property
    def inner(self) -> int:
        """The size of the dimension that lies closest in memory."""
        return self.sizes[self.order[0]] if self.order else 1

    @property
    def rows(self) -> int:
        """How often that dimension is there."""
        return self.count // max(1, self.inner)


@dataclass(frozen=True)
class Instruction:
    """One instruction of a computation."""

    name: str
    opcode: str
    shapes: tuple[Shape, ...]
    """What it gives: one array, or those of a tuple."""
    operands: tuple[str, ...]
    given: str
    """What stands in its brackets: of a parameter, its number."""
    attributes: str
    """The rest of its line."""

    @property
    def shape(self) -> Shape:
        return self.shapes[0] if self.shapes else Shape("token", (), ())

    @property
    def bytes(self) -> float:
        return sum(shape.bytes for shape in self.shapes)

    @cached_property
    def called(self) -> dict[str, list[str]]:
        """The computations that it calls, by what for."""
        found = _CALLED.findall(self.attributes)
        return {what: _NAME.findall(names) for what, names in found}

    @property
    def trips(self) -> int | None:
        """How often a loop's body runs, if XLA knows."""
        found = _TRIPS.search(self.attributes)
        return int(found[1]) if found else None

    def numbers(self, attribute: str) -> tuple[int, ...]:
        """The numbers of an attribute such as ``dimensions={0,1}``."""
        found = re.search(rf"\b{attribute}=\{{([\d,]*)\}}", self.attributes)
        return tuple(int(one) for one in found[1].split(",") if one) if found else ()


@dataclass
class Computation:
    """A list of instructions, each after those that it uses."""

    name: str
    instructions: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    root: str = ""

    def shapes_of(self, instruction: Instruction) -> list[Shape]:
        """The arrays that an instruction takes."""
        return [shape for name in instruction.operands for shape in self.instructions[name].shapes]


@dataclass
class Module:
    """All computations of a module, and the name of the first one to run."""

    computations: dict[str, Computation]
    entry: str


def element_bytes(element: str) -> float:
    """The bytes of one element of a type such as ``f32``."""
    if element in _BYTES:
        return _BYTES[element]
    found = re.search(r"\d+", element)
    return int(found[0]) / 8 if found else 4


def read_module(text: str) -> Module:
    """The module that has this text."""
    module = Module({}, "")
    current: Computation | None = None
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head:
            current = module.computations[head[2]] = Computation(head[2])
            if head[1]:
                module.entry = head[2]
        elif line.startswith("}"):
            current = None
        elif current is not None and " = " in line:
            instruction = _instruction(line)
            current.instructions[instruction.name] = instruction
            if line.lstrip().startswith("ROOT "):
                current.root = instruction.name
    return module


def _instruction(line: str) -> Instruction:
    left, right = line.strip().removeprefix("ROOT ").split(" = ", 1)
    kind, rest = _cut(right) if right.startswith("(") else right.split(" ", 1)
    opcode, _, rest = rest.strip().partition("(")
    inside, attributes = _cut("(" + rest)
    shapes = tuple(map(_shape, _SHAPE.findall(kind)))
    operands = () if opcode == "constant" else tuple(_NAME.findall(inside))
    return Instruction(left.removeprefix("%"), opcode, shapes, operands, inside[1:-1], attributes)


def _shape(found: tuple[str, str, str]) -> Shape:
    element, sizes, order = found
    numbers = tuple(int(one.lstrip("<=")) for one in sizes.split(",") if one)
    layout = tuple(int(one) for one in order.split(",") if one)
    return Shape(element, numbers, layout or tuple(reversed(range(len(numbers)))))


def _cut(text: str) -> tuple[str, str]:
    """A text that begins with a bracket, up to the one that closes it, and the rest."""
    depth = 0
    for at, character in enumerate(text):
        if character in _CLOSING:
            depth += 1
        elif character in _CLOSING.values():
            depth -= 1
            if depth == 0:
                return text[: at + 1], text[at + 1 :]
    return text, ""
