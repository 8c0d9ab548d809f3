"""Machine words to instructions."""

from collections.abc import Sequence

from gevolve.device.sim.machine.disassembler import BYTES, disassemble
from gevolve.device.sim.machine.instruction import Control, Instruction
from gevolve.device.sim.machine.text import parse

_NONE = 7


def decode(
    code: bytes, arch: str, start: int = 0, lines: Sequence[tuple[str, int] | None] = ()
) -> tuple[Instruction, ...]:
    """The instructions of a section that starts at address `start`."""
    words = [int.from_bytes(code[at : at + BYTES], "little") for at in range(0, len(code), BYTES)]
    texts = disassemble(words, arch, start)
    made: list[Instruction] = []
    for n, (word, text) in enumerate(zip(words, texts, strict=True)):
        address = start + BYTES * n
        parts = parse(text, word, address)
        made.append(
            Instruction(
                address,
                parts.guard,
                parts.opcode,
                parts.modifiers,
                parts.operands,
                control(word),
                lines[n] if lines else None,
            )
        )
    return tuple(made)


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
