"""Machine words to instructions, by a table of their shapes.

A word whose shape is not in the table is asked of NVIDIA's disassembler, with all others of the same
piece of code, and from then on known to this process, and to others by way of `learnt`.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from gevolve.device.sim.machine import learnt
from gevolve.device.sim.machine.instruction import (
    PT,
    Control,
    Instruction,
    Label,
    Operand,
    Pred,
    UPred,
)
from gevolve.device.sim.machine.learn import learn
from gevolve.device.sim.machine.observe import IDLE, Oracle, uniform_zero
from gevolve.device.sim.machine.shape import CONTROL, GUARD, OperandShape, Shape, build
from gevolve.device.sim.machine.table import load
from gevolve.errors import UnsupportedError

BYTES = 16
_NONE = 7
_MANY = 1 << 17
"""Words and operands that are remembered before all are forgotten."""


_Built = dict[OperandShape, dict[int, Operand]]
"""Operands that were built, by their bits."""


class _Word(NamedTuple):
    """A word, decoded but for its address and scheduling."""

    guard: Pred | UPred | None
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    label: int
    """Which operand is a label that counts from the word's own address; -1 if none is."""


class _Reader:
    """A shape made ready: operands that were built once are looked up by their bits."""

    __slots__ = ("_operands", "_urz", "label", "modifiers", "opcode", "shape")

    def __init__(self, shape: Shape, urz: int, built: _Built) -> None:
        self.shape = shape
        self.opcode, *modifiers = shape.name.split(".")
        self.modifiers = tuple(modifiers)
        kinds = [operand.kind for operand in shape.operands]
        self.label = kinds.index("Label") if shape.relative else -1
        self._operands = [(o.mask, built.setdefault(o, {})) for o in shape.operands]
        self._urz = urz

    def read(self, word: int) -> _Word:
        operands: list[Operand] = []
        for (mask, known), shape in zip(self._operands, self.shape.operands, strict=True):
            bits = word & mask
            operand = known.get(bits)
            if operand is None:
                if len(known) >= _MANY:
                    known.clear()
                operand = known[bits] = build(shape.kind, shape.values(word), self._urz)
            operands.append(operand)
        guard = (_UNIFORM_GUARDS if self.shape.uniform else _GUARDS)[word >> 12 & 15]
        return _Word(guard, self.opcode, self.modifiers, tuple(operands), self.label)


class Decoder:
    """Decodes words of one architecture."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self._table = load(arch)
        self._urz = uniform_zero(arch)
        self._readers: dict[int, _Reader] = {}
        self._built: _Built = {}
        self._words: dict[int, _Word] = {}
        self._asked: list[int] = []

    def asked(self) -> list[int]:
        """The words that the disassembler was asked about since the last call."""
        asked, self._asked = self._asked, []
        return asked

    def learn(self, words: Iterable[int]) -> None:
        """Make words known here and, where files may be written, to other processes."""
        self._read({word & ~CONTROL for word in words})
        self._asked.clear()

    def decode(
        self, words: Sequence[int], start: int, lines: Sequence[tuple[str, int] | None]
    ) -> tuple[Instruction, ...]:
        known = self._words
        fresh = {word & ~CONTROL for word in words} - known.keys()
        if fresh:
            self._read(fresh)
        made: list[Instruction] = []
        for n, word in enumerate(words):
            address = start + BYTES * n
            guard, opcode, modifiers, operands, label = known[word & ~CONTROL]
            if label >= 0:
                at = operands[label]
                assert isinstance(at, Label)
                operands = (
                    *operands[:label],
                    Label(at.address + address),
                    *operands[label + 1 :],
                )
            made.append(
                Instruction(
                    address,
                    guard,
                    opcode,
                    modifiers,
                    operands,
                    control(word & CONTROL),
                    lines[n] if lines else None,
                )
            )
        return tuple(made)

    def _read(self, words: Iterable[int]) -> None:
        """Makes words known; `UnsupportedError` names one that is no instruction."""
        if len(self._words) >= _MANY:
            self._words.clear()
        words = sorted(words)
        if self._missing(words):
            learnt.recall(self.arch, self._table)
        if missing := self._missing(words):
            plain = sorted({word & ~GUARD | IDLE for word in missing})
            unknown = learn(plain, self._table, Oracle(self.arch))
            if unknown:
                raise UnsupportedError(f"{unknown[0]:#034x} is no instruction of {self.arch}")
            learnt.keep(self.arch, self._table)
            self._asked += missing
        for word in words:
            shape = self._table.find(word)
            assert shape is not None
            reader = self._readers.get(id(shape))
            if reader is None:
                reader = self._readers[id(shape)] = _Reader(shape, self._urz, self._built)
            self._words[word] = reader.read(word)

    def _missing(self, words: Iterable[int]) -> list[int]:
        return [word for word in words if self._table.find(word) is None]


def decode(
    code: bytes, arch: str, start: int = 0, lines: Sequence[tuple[str, int] | None] = ()
) -> tuple[Instruction, ...]:
    """The instructions of a section that starts at address `start`."""
    words = [int.from_bytes(code[at : at + BYTES], "little") for at in range(0, len(code), BYTES)]
    return decoder(arch).decode(words, start, lines)


@cache
def decoder(arch: str) -> Decoder:
    """The decoder of an architecture, which remembers what it has seen."""
    return Decoder(arch)


@cache
def control(word: int) -> Control:
    """The scheduling bits of a word."""
    write, read = word >> 110 & 7, word >> 113 & 7
    return Control(
        stall=word >> 105 & 15,
        yields=not word >> 109 & 1,
        write=None if write == _NONE else write,
        read=None if read == _NONE else read,
        wait=word >> 116 & 63,
        reuse=word >> 122 & 15,
    )


_GUARDS = tuple(None if n == PT else Pred(n & 7, negate=n > 7) for n in range(16))
_UNIFORM_GUARDS = tuple(None if n == PT else UPred(n & 7, negate=n > 7) for n in range(16))
