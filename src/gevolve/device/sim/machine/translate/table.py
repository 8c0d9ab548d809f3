"""The table of machine instructions: each opcode and the function that translates it."""

from collections.abc import Callable

from gevolve.device.sim.machine.instruction import Instruction, Operand, Pred, UPred
from gevolve.device.sim.machine.translate.emit import Emitter

Translator = Callable[[Emitter, Instruction], None]
TABLE: dict[str, Translator] = {}


def opcode(*names: str) -> Callable[[Translator], Translator]:
    """Enter a function into the table."""

    def enter(function: Translator) -> Translator:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return enter


def leading(operands: tuple[Operand, ...], first: int) -> tuple[list[Pred | UPred], int]:
    """The predicates from a place on, and the place after them: what an instruction sets beside its result."""
    found: list[Pred | UPred] = []
    while first < len(operands) and isinstance(one := operands[first], (Pred, UPred)):
        found.append(one)
        first += 1
    return found, first


def trailing(operands: tuple[Operand, ...]) -> list[Pred | UPred]:
    """The predicates at the end: what an instruction reads beside its sources."""
    found: list[Pred | UPred] = []
    for operand in reversed(operands):
        if not isinstance(operand, (Pred, UPred)):
            break
        found.insert(0, operand)
    return found
