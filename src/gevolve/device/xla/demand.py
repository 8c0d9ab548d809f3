"""What a fusion computes: how many elements of each of its instructions, and which bytes it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gevolve.device.xla.hlo import Computation, Instruction

MOVES = frozenset(
    [
        "broadcast",
        "reshape",
        "bitcast",
        "slice",
        "pad",
        "concatenate",
        "reverse",
        "transpose",
        "dynamic-slice",
        "copy",
        "iota",
        "constant",
        "parameter",
        "tuple",
        "get-tuple-element",
        "gather",
    ]
)
"""Instructions inside of a fusion that only say where a value is."""


def updated(body: Computation) -> Instruction | None:
    """What a fusion changes in place, if that is what it does."""
    root = body.instructions[body.root]
    while root.opcode == "bitcast":
        root = body.instructions[root.operands[0]]
    return root if root.opcode == "dynamic-update-slice" else None


def result(body: Computation) -> Instruction:
    """What a fusion computes; of an array that it changes in place, the part that changes."""
    changed = updated(body)
    return body.instructions[changed.operands[1] if changed else body.root]


def before_cases(body: Computation) -> set[str]:
    """What of a fusion is computed for some elements only: that which is padded or put beside something else."""
    found: set[str] = set()
    for one in reversed(body.instructions.values()):
        if one.name in found or (one.opcode in ("pad", "concatenate") and _widens(body, one)):
            found.update(one.operands)
    return found


def _widens(body: Computation, one: Instruction) -> bool:
    """Whether it is more than rows after or before all others: for those a loop has no cases."""
    taken, made = body.instructions[one.operands[0]].shape, one.shape
    return any(taken.sizes[at] != made.sizes[at] for at in made.order[:-1])


def made_of(body: Computation, names: Iterable[str]) -> set[str]:
    """These instructions of a fusion, and all that they are made of."""
    found, todo = set[str](), list(names)
    while todo:
        name = todo.pop()
        if name not in found and name in body.instructions:
            found.add(name)
            todo += body.instructions[name].operands
    return found


def read(body: Computation, number: int, size: float) -> float:
    """Of an argument of a fusion, the bytes that it reads."""
    name = next(
        i.name
        for i in body.instructions.values()
        if i.opcode == "parameter" and i.given == str(number)
    )
    users = [i for i in body.instructions.values() if name in i.operands]
    if users and all(i.opcode in ("dynamic-slice", "slice", "gather") for i in users):
        return min(size, sum(i.bytes for i in users))
    return size


def demand(body: Computation, root: Instruction) -> Iterable[tuple[float, Instruction]]:
    """How many elements of each instruction a fusion computes, its root first.

    What is used at several places is computed for each, but for one place only once.
    """
    needed: dict[str, float] = {}
    for one in reversed(body.instructions.values()):
        mine = float(one.shape.count) if one.name == root.name else needed.get(one.name, 0.0)
        yield mine, one
        usual = mine
        if one.opcode == "reduce":
            usual = mine * body.instructions[one.operands[0]].shape.count / max(1, one.shape.count)
        if one.opcode == "tuple":
            for name in one.operands:
                needed[name] = float(body.instructions[name].shape.count)
            continue
        same = one.opcode not in MOVES
        for name in dict.fromkeys(one.operands):
            source, each = body.instructions[name].shape, usual
            if one.opcode == "gather" and name != one.operands[0]:
                each = float(source.count)  # where a row is, is asked once
            elif one.opcode == "pad":
                each = min(mine, float(source.count))
            elif one.opcode == "concatenate":
                each = mine * source.count / max(1, one.shape.count)
            elif one.opcode == "broadcast":
                # What does not change along a row is computed once for it.
                along = (
                    one.shape.order[0] in one.numbers("dimensions") if source.count > 1 else None
                )
                each = 1.0 if along is None else mine if along else mine / max(1, one.shape.inner)
            needed[name] = (
                max(needed.get(name, 0.0), each) if same else needed.get(name, 0.0) + each
            )
