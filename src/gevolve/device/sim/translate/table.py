"""The table of PTX instructions: each opcode and the function that translates it."""

from collections.abc import Callable

from gevolve.device.sim.ptx import Instruction
from gevolve.device.sim.translate.emit import Emitter

Translator = Callable[[Emitter, Instruction], None]
PURE: dict[str, Translator] = {}
"""Instructions that only compute; a guard selects between old and new result."""
EFFECTS: dict[str, Translator] = {}
"""Instructions that touch memory; a guard branches around them."""


def pure(*names: str) -> Callable[[Translator], Translator]:
    """Enter a function into the table for instructions that only compute."""

    def enter(function: Translator) -> Translator:
        PURE.update(dict.fromkeys(names, function))
        return function

    return enter


def effect(*names: str) -> Callable[[Translator], Translator]:
    """Enter a function into the table for instructions with effects."""

    def enter(function: Translator) -> Translator:
        EFFECTS.update(dict.fromkeys(names, function))
        return function

    return enter
