"""Which operations could be skipped, and to what: residual blocks, chains between values of one type, repetitions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gevolve.ir.stablehlo.tensor import tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gevolve.ir.stablehlo.index import OpInfo, StablehloIndex

HEAVY = ("stablehlo.dot_general", "stablehlo.convolution")
MOST = 0.9
"""What saves more than this share of the arithmetic is not skipped but cut off."""
FAR = 24
"""A chain is followed over so many operations."""
_FREE = frozenset(
    f"stablehlo.{name}" for name in ["constant", "reshape", "broadcast_in_dim", "iota"]
)


def arithmetic(info: OpInfo) -> float:
    """A guess of the operations that one run of it takes."""
    counts = [kind.count for kind in map(tensor, (*info.slots[:2], *info.results[:1])) if kind]
    if (
        info.name in HEAVY
    ):  # of a matrix product the numbers of rows, columns and terms, each squared
        return 2 * math.sqrt(math.prod(counts))
    return 0.0 if info.name in _FREE else float(max(counts, default=0))


def bypasses(index: StablehloIndex, cost: Callable[[str], float]) -> list[tuple[str, str]]:
    """Operations, each with a value that it could be skipped to; those that save most first.

    What would skip most of the program is left out, for hardly anything of its inputs would be left. Skips to what
    is not computed at all, such as a bias, come last: they do not simplify, they cut off.
    """
    found: dict[tuple[str, str], tuple[bool, float]] = {}
    steps = _steps(index)
    users = _users(index)
    whole = {block: sum(map(cost, body)) for block, body in index.body.items()}
    for target, info in index.info.items():
        if target in steps or not info.deletable or len(info.results) != 1 or info.name in _FREE:
            continue
        for value in _candidates(index, target, info):
            saved = _saved(index, users, target, value, cost)
            if 0 < saved <= MOST * whole[index.block_of[target]]:
                found.setdefault((target, value), (_is_given(index, value), -saved))
    return sorted(found, key=lambda pair: found[pair])


def _users(index: StablehloIndex) -> dict[str, set[str]]:
    """What uses each operation; what an operation holds in its regions counts as itself."""
    users: dict[str, set[str]] = {}
    for id_, names in index.operands.items():
        for name in names:
            users.setdefault(name.partition(".")[0], set()).add(id_)
    return users


def _is_given(index: StablehloIndex, value: str) -> bool:
    """Whether a value is a constant, or an argument in another shape: a bias, say, and not what goes through."""
    if value.partition(".")[0] not in index.info:
        return False
    todo = [value]
    while todo:
        id_ = todo.pop().partition(".")[0]
        info = index.info.get(id_)
        if info is not None and info.name not in _FREE:
            return False
        todo += index.operands.get(id_, ())
    return True


def _steps(index: StablehloIndex) -> set[str]:
    """What computes the values that the conditions of loops look at: without it, a loop has no end."""
    blocks = {parent: block for block, parent in index.parent_of.items() if parent}
    found = set[str]()
    for (loop, region), block in blocks.items():
        body = blocks.get((loop, 1))
        if region or body is None or index.info[loop].name != "stablehlo.while":
            continue
        own = f"c{loop[1:]}."
        looked = {name for id_ in index.body[block] for name in index.operands[id_]}
        given = index.operands[index.body[body][-1]]
        for name in looked:
            if name.startswith(own):
                found.add(given[int(name.removeprefix(own))].partition(".")[0])
    return found


def _candidates(index: StablehloIndex, target: str, info: OpInfo) -> Iterator[str]:
    kind = info.results[0]
    yield from (name for name in index.operands[target] if index.type.get(name) == kind)
    yield from _ancestors(index, target, kind)
    if info.name in HEAVY:
        yield from _earlier(index, target, info)


def _ancestors(index: StablehloIndex, target: str, kind: str) -> Iterator[str]:
    """The nearest values of its type that an operation is computed from."""
    todo, seen = list(index.operands[target]), set[str]()
    while todo and len(seen) < FAR:
        name = todo.pop(0)
        id_ = name.partition(".")[0]
        if id_ in seen:
            continue
        seen.add(id_)
        if index.type.get(name) == kind:
            yield name
        elif index.block_of.get(id_) == index.block_of[target]:
            todo += index.operands[id_]


def _earlier(index: StablehloIndex, target: str, info: OpInfo) -> Iterator[str]:
    """The last operation before it that does the same to tensors of the same types."""
    body = index.body[index.block_of[target]]
    alike = [id_ for id_ in body[: body.index(target)] if index.info[id_] == info]
    yield from alike[-1:]


def _saved(
    index: StablehloIndex,
    users: Mapping[str, set[str]],
    target: str,
    value: str,
    cost: Callable[[str], float],
) -> float:
    """What nothing needs any more without it, but for what the value is made of."""
    block = index.block_of[target]
    kept = _made_of(index, block, value)
    dead, todo = {target}, [target]
    while todo:
        for name in index.operands[todo.pop()]:
            id_ = name.partition(".")[0]
            if (
                id_ not in dead
                and id_ not in kept
                and index.block_of.get(id_) == block
                and users[id_] <= dead
            ):
                dead.add(id_)
                todo.append(id_)
    return sum(map(cost, dead))


def _made_of(index: StablehloIndex, block: str, value: str) -> set[str]:
    found, todo = set[str](), [value]
    while todo:
        id_ = todo.pop().partition(".")[0]
        if id_ not in found and index.block_of.get(id_) == block:
            found.add(id_)
            todo += index.operands[id_]
    return found
