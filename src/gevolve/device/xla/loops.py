"""How the loop of a fusion is compiled: whether it does several elements at once, which rows of some lengths prevent.

LLVM unrolls a short loop along a row before it looks for what could be done at once, and then finds nothing: rows of nine
to some forty elements take several times as long as those of eight or a hundred. What is left of a row when it is not a
multiple of what is done at once is done one by one. And a fusion of whole arrays alone, without so much as a constant, is
compiled in tiles, by other means than all others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gevolve.device.xla.demand import MOVES, demand

if TYPE_CHECKING:
    from gevolve.device.xla.hlo import Computation, Instruction

PACKET = 8
"""Elements that a loop does at once; shorter rows are joined."""
_UNROLLED = 300
"""Instructions up to which LLVM unrolls a loop as a whole, ..."""
_COUNTER = 5
"""... of which a round has so many whatever it does: to count, to compare, to find its place and to store."""
_LENGTHS = {
    "maximum": 2,
    "minimum": 2,
    "clamp": 4,
    "exponential": 2,
    "log": 2,
    "log-plus-one": 2,
    "tanh": 2,
    "rsqrt": 2,
    "logistic": 5,
    "exponential-minus-one": 13,
    "erf": 20,
    "power": 20,
    "sine": 20,
    "cosine": 20,
    "pad": 6,
    "dynamic-slice": 2,
}
"""The instructions of an operation, as long as its functions are calls; those of any other are one."""
_NOTHING = frozenset(
    (
        "constant",
        "broadcast",
        "bitcast",
        "reshape",
        "transpose",
        "copy",
        "slice",
        "gather",
        "concatenate",
        "tuple",
    )
)
"""What adds none: it says where a value is."""
SOFT = frozenset(
    (
        *("exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "tanh"),
        *("erf", "rsqrt", "cbrt", "sine", "cosine", "tan", "atan2", "power"),
    )
)
"""Functions that are computed by many instructions, ..."""
HARD = frozenset(("divide", "sqrt", "remainder"))
"""... and those that the processor has itself."""
_SEVERAL = frozenset(("rsqrt", "logistic", "exponential-minus-one", "erf"))
"""Functions that are as much as two."""
_LONG = 20
"""A round of so many instructions has a loop of its own for what is left of a row."""
_UNTILED = MOVES - {"parameter", "bitcast", "copy", "transpose", "iota", "tuple"} | {
    *("reduce", "reduce-window", "scatter", "sort", "dot", "convolution", "map", "while"),
    *("dynamic-update-slice", "select-and-scatter", "custom-call", "bitcast-convert", "fusion"),
}
"""What is not done in tiles: all but operations on one element at a time, and what turns an array."""
_TILE = 16
_NARROWER = {16: 1.0, 8: 1.5, 4: 2.4, 2: 2.6, 1: 3.9}
"""A tile is as wide as the largest power of two that goes into a row; one of so many elements takes so many times as long."""
_SHORT = 0.2
"""Shorter rows of such a size are joined; they take this part."""


def tiled(body: Computation) -> float:
    """How many times an element in a tile takes what it does in a wide one; 0 if the fusion is not done in tiles."""
    inner = body.instructions.values()
    if (
        any(one.opcode in _UNTILED for one in inner)
        or body.instructions[body.root].opcode == "tuple"
    ):
        return 0.0
    row = body.instructions[body.root].shape.inner
    width = math.gcd(row, _TILE)
    return _NARROWER[width] * (_SHORT if row == width and row < _TILE else 1.0)


def round_length(body: Computation, root: Instruction) -> int:
    """About how many instructions one round of a fusion's loop along a row is, before functions are written out."""
    joined = _joined(body)
    elements = min([root.shape.count, *(one.shape.count for one in joined)])
    length = 0
    for needed, one in demand(body, root):
        if needed >= elements and one.opcode not in _NOTHING:  # else it is done once for a row
            length += _LENGTHS.get(one.opcode, 1)
    return _COUNTER + length // max(1, len(joined))


def _joined(body: Computation) -> list[Instruction]:
    """The arrays that are put beside each other, for each of which there is a loop."""
    root = body.instructions[body.root]
    while root.opcode == "bitcast":
        root = body.instructions[root.operands[0]]
    if root.opcode != "concatenate":
        return []
    return [body.instructions[name] for name in root.operands]


def one_by_one(body: Computation, root: Instruction) -> bool:
    """Whether the loop along a row is unrolled, so that nothing in it is done at once."""
    if any(
        one.opcode in ("reduce", "reduce-window", "scatter") for one in body.instructions.values()
    ):
        return False
    row = min([root.shape.inner, *(one.shape.inner for one in _joined(body))])
    return row > PACKET and row * (round_length(body, root) - 2) + 2 < _UNROLLED


def left_over(body: Computation, root: Instruction) -> float:
    """How many times a row takes what it would if there were nothing left of it."""
    row = root.shape.inner
    if row <= PACKET or not row % PACKET:
        return 1.0
    functions = sum(
        2 if one.opcode in _SEVERAL else 1
        for needed, one in demand(body, root)
        if one.opcode in SOFT and needed >= root.shape.count
    )
    if functions < 2 and round_length(body, root) < _LONG:
        return 1.0
    return 1.0 + (PACKET - 1) * (row % PACKET) / row
