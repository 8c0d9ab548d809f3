"""Finds out which mathematical function a piece of a kernel computes, by running it on some numbers.

The compiler inlines functions before any edit is made, so nothing in the text says ``powf``. What was one
call has one place in the source, though, and all that it became has the debug location of that place.
"""

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.interpret import result
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites

Name = Literal["exp", "log", "pow", "sin", "cos", "sincos", "tan", "tanh"]
SMALLEST = 6
"""A piece of fewer instructions is not worth replacing."""
_EFFECTS = frozenset({"load", "phi", "alloca", "atomicrmw", "cmpxchg"})
_POINTS = (0.3, 0.8, 1.7, 2.9, 4.4)
_PAIRS = ((0.7, 1.3), (1.9, 0.4), (2.3, 2.6), (0.4, -1.2))
_CLOSE = 1e-4
_ATTACHED = re.compile(r"!dbg !(\d+)")
_NOWHERE = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: 0\b", re.MULTILINE)
_PLAIN: dict[Name, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
}


class Call(NamedTuple):
    """What a value is: a function of another value, with a number, or of two others.

    An exponential is ``2^(number x)``, a logarithm ``number log2(x)``, a power ``x^number`` or ``x^y``; of others
    the number is 1. ``sincos`` stands for a sine and the cosine of the same value, which share most of their
    instructions.
    """

    value: str
    function: Name
    x: str
    other: str
    """The id of the second argument, or of the cosine; or the number."""


def calls(sites: LlvmSites) -> Iterator[Call]:
    """The functions that kernels compute, those that run most often first."""
    found = list(_single_calls(sites))
    cosines = {call.x: call.value for call in reversed(found) if call.function == "cos"}
    sines = {call.x for call in found if call.function == "sin"}
    for call in found:
        if call.function == "sin" and call.x in cosines:
            yield call._replace(function="sincos", other=cosines[call.x])
        elif call.function != "cos" or call.x not in sines:
            yield call


def _single_calls(sites: LlvmSites) -> Iterator[Call]:
    index = sites.index
    nowhere = frozenset(_NOWHERE.findall(index.plain))
    groups: dict[str, set[str]] = {}
    for number in sites.functions:
        for block in index.functions[number].blocks:
            for instr in block.body:
                groups.setdefault(_place(instr, nowhere), set()).add(instr.id)
    apart = groups.pop("", set[str]())
    of = {id_: group for group in groups.values() if len(group) >= SMALLEST for id_ in group}
    for instr in sites.hottest(lambda instr: instr.type in ("float", "double") and instr.id in of):
        group = of[instr.id]
        if any(user not in group and user not in apart for user in index.users.get(instr.id, ())):
            found = _identify(index, instr, group, apart) or _identify(index, instr, group, ())
            if found is not None:
                yield found


def _place(instr: Instr, nowhere: frozenset[str]) -> str:
    found = _ATTACHED.search(instr.parts[-1])
    return "" if found is None or found[1] in nowhere else found[1]


def _identify(
    index: LlvmIndex, instr: Instr, group: Collection[str], apart: Collection[str]
) -> Call | None:
    piece, inputs = _slice(index, instr, group, apart)
    kinds = {index.arg_type.get(one) or index.instr[one].type for one in inputs}
    if len(piece) < SMALLEST or len(inputs) not in (1, 2) or kinds != {instr.type}:
        return None
    start = _start(index, instr, piece)

    def at(*numbers: float) -> float:
        found = result(index, start, instr.id, dict(zip(inputs, numbers, strict=True)))
        return math.nan if found is None else found

    if len(inputs) == 2:
        for turn in (1, -1):
            x, y = inputs[::turn]
            if _agree([at(*pair[::turn]) for pair in _PAIRS], [a**b for a, b in _PAIRS]):
                return Call(instr.id, "pow", x, y)
        return None
    known = _named(at)
    return None if known is None else Call(instr.id, known[0], inputs[0], repr(known[1]))


def _slice(
    index: LlvmIndex, instr: Instr, group: Collection[str], apart: Collection[str]
) -> tuple[set[str], list[str]]:
    """What a value is computed from within a group, and the values that come from outside.

    Loads of the group are of its tables.
    """
    piece: set[str] = set()
    inputs: dict[str, None] = {}
    front = [instr.id]
    while front:
        id_ = front.pop()
        if id_ in piece or id_ in inputs:
            continue
        if id_ not in group and (id_ not in apart or not _is_pure(index.instr[id_])):
            inputs[id_] = None
            continue
        piece.add(id_)
        front += _locals(index.instr[id_])
    # What was computed for another call too has the place of that one.
    while True:
        more = [
            one
            for one in inputs
            if one in index.instr
            and _is_pure(index.instr[one])
            and (found := _locals(index.instr[one]))
            and all(operand in piece or (operand in inputs and operand != one) for operand in found)
        ]
        if not more:
            return piece, list(inputs)
        for one in more:
            piece.add(one)
            del inputs[one]


def _start(index: LlvmIndex, instr: Instr, piece: Collection[str]) -> str:
    """The block from which on branches decide which values the phis of a piece have."""
    home = index.block_of[instr.id]
    phis = [index.instr[one] for one in piece if index.instr[one].opcode == "phi"]
    blocks = {home, *(block for phi in phis for block in (index.block_of[phi.id], *phi.blocks))}
    dominance = index.dominance[index.function_of[home]]
    return next(
        block
        for block in (home, *dominance.dominators(home))
        if all(dominance.dominates(block, other) for other in blocks)
    )


def _locals(instr: Instr) -> list[str]:
    return [operand.local for operand in instr.operands if operand.local is not None]


def _is_pure(instr: Instr) -> bool:
    if instr.opcode == "call":
        return "@llvm." in instr.parts[0] and instr.type in ("float", "double", "i1")
    return instr.opcode not in _EFFECTS and instr.type != "void"


def _named(at: Callable[[float], float]) -> tuple[Name, float] | None:
    """The function that has these values, and the number that belongs to it."""
    values = [at(x) for x in _POINTS]
    if not all(map(math.isfinite, values)):
        return None
    for name, function in _PLAIN.items():
        if _agree(values, [function(x) for x in _POINTS]):
            return name, 1.0
    one, two = at(1.0), at(2.0)
    if one > 0 and one != 1:
        scale = math.log2(one)
        if _agree(values, [2 ** (scale * x) for x in _POINTS]):
            return "exp", _tidy(scale, (1.0, math.log2(math.e), math.log2(10)))
    if _agree(values, [two * math.log2(x) for x in _POINTS]):
        return "log", _tidy(two, (1.0, math.log(2), math.log10(2)))
    if two > 0:
        power = math.log2(two)
        if abs(power) > _CLOSE and _agree(values, [x**power for x in _POINTS]):
            return "pow", _tidy(power, (round(power * 8) / 8,))
    return None


def _tidy(number: float, known: Sequence[float]) -> float:
    """The number that is meant: one of those that are known, or of their opposites, if it is as close as that."""
    for one in (*known, *(-one for one in known)):
        if abs(number - one) <= 1e-5 * abs(one):
            return one
    return round(number, 7)


def _agree(values: Sequence[float], wanted: Sequence[float]) -> bool:
    return all(abs(a - b) <= _CLOSE * abs(b) for a, b in zip(values, wanted, strict=True))
