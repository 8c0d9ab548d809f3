"""The order of a function's blocks: that of its control flow, whatever the order of its text.

The lanes of a warp that have gone different ways are let on furthest behind first, so what counts as
behind decides where they meet again. Compilers write blocks in any order, a loop's latch before its
header too. Here a block comes after all that lead to it, and all blocks of a loop come before what
follows the loop (Bourdoncle's weak topological order): then lanes meet where the ways meet, and those
that have left a loop wait for the others.

Blocks that only jump are left out, straight lines are made one block, and a jump to the next block is
no instruction. So text that is moved about, with the jumps that this takes, is the same program.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gevolve.device.sim.ptx import Instruction, Line

SKIP = "$skip"
"""A branch of ours around a guarded terminator; it is not an instruction of the program."""


@dataclass(slots=True)
class Block:
    """Instructions that run one after another, and the one that ends them, if any."""

    index: int
    code: list[Instruction]
    begin: Instruction | None = None
    """The exchange or call whose results arrive here; such a block has no other way in."""
    end: Instruction | None = None
    targets: tuple[int, ...] = ()
    """Blocks that may follow, in the order in which the terminator names them."""
    apart: bool = False
    """Whether all lanes of the warp must be at its end before any goes on."""
    issued: int = 0
    """How many instructions of the program it holds."""
    live_in: int = 0
    live_out: int = 0
    uses: int = 0
    defines: int = 0

    @property
    def jumps(self) -> bool:
        """Whether it goes on to one other block, and does nothing else at its end."""
        end = self.end
        return end is None or (end.op == "bra" and not end.guard)


def arranged(blocks: list[Block]) -> list[Block]:
    """The blocks that can be reached from the first, in the order of control flow."""
    _skip_jumps(blocks)
    if any(0 in block.targets for block in blocks):  # what a function begins with runs once
        blocks.append(Block(len(blocks), blocks[0].code))
        _move(blocks[0], blocks[-1])
        blocks[0] = Block(0, [], targets=(len(blocks) - 1,))
        for block in blocks[1:]:
            block.targets = tuple(target or len(blocks) - 1 for target in block.targets)
    _join_lines(blocks)
    order = _ordered((0,), range(len(blocks)), [_preferred(block) for block in blocks])
    place = {index: number for number, index in enumerate(order)}
    found = [blocks[index] for index in order]
    for block in found:
        block.index = place[block.index]
        block.targets = tuple(place[target] for target in block.targets)
        _end_jump(block)
    return found


def _move(block: Block, to: Block) -> None:
    """Give what ends a block to another."""
    to.end, to.targets, to.apart = block.end, block.targets, block.apart
    to.issued += block.issued


def _skip_jumps(blocks: list[Block]) -> None:
    """Lead past blocks that only jump."""

    def last(index: int) -> int:
        seen: set[int] = set()
        while index not in seen:
            seen.add(index)
            block = blocks[index]
            if block.code or block.begin or not block.jumps:
                break
            index = block.targets[0]
        return index

    for block in blocks:
        block.targets = tuple(map(last, block.targets))


def _join_lines(blocks: list[Block]) -> None:
    """Take into a block the one that always follows it and never follows another."""
    reached = [blocks[i] for i in _ordered((0,), range(len(blocks)), [b.targets for b in blocks])]
    ways = Counter(target for block in reached for target in block.targets)
    for block in reached:
        while block.jumps and not block.apart:
            after = blocks[block.targets[0]]
            if after is block or after.begin or ways[after.index] != 1:
                break
            block.issued -= block.end is not None
            block.code = [*block.code, *after.code]
            _move(after, block)
            ways[after.index] = 0  # nothing leads there any more


def _preferred(block: Block) -> tuple[int, ...]:
    """What may follow a block, the one that should come first first.

    Of a branch that is where its condition is false, as compilers lay it out, even if it is stated
    the other way round.
    """
    end = block.end
    if end is not None and end.guard and end.op in {"bra", SKIP} and not end.negated:
        return block.targets[::-1]
    return block.targets


def _end_jump(block: Block) -> None:
    """Let a block that jumps have an instruction for it just if another block comes next."""
    if not block.jumps:
        return
    near = block.targets[0] == block.index + 1
    if near and block.end is not None:
        block.end, block.issued = None, block.issued - 1
    elif not near and block.end is None:
        line: Line | None = next((code.line for code in reversed(block.code)), None)
        block.end = Instruction("bra", ("uni",), ("",), line=line)
        block.issued += 1


def _ordered(
    starts: Iterable[int], among: Iterable[int], follow: Sequence[Sequence[int]]
) -> list[int]:
    """The blocks among these that can be reached from `starts`: loops together, heads first."""
    inside = set(among)
    order: list[int] = []
    for loop in reversed(_components(starts, inside, follow)):
        order.append(loop[0])
        if len(loop) > 1:
            order += _ordered(follow[loop[0]], loop[1:], follow)
    return order


@dataclass(slots=True)
class _Walk:
    """A depth-first walk that finds strongly connected components (Tarjan)."""

    number: dict[int, int] = field(default_factory=dict[int, int])
    low: dict[int, int] = field(default_factory=dict[int, int])
    open: list[int] = field(default_factory=list[int])
    found: list[list[int]] = field(default_factory=list[list[int]])

    def enter(self, block: int) -> None:
        self.number[block] = self.low[block] = len(self.number)
        self.open.append(block)

    def leave(self, block: int, closed: set[int]) -> None:
        if self.low[block] != self.number[block]:
            return
        at = self.open.index(block)
        component, self.open[at:] = self.open[at:], []
        closed.update(component)
        self.found.append(component)


def _components(
    starts: Iterable[int],
    inside: set[int],
    follow: Sequence[Sequence[int]],
) -> list[list[int]]:
    """Strongly connected components, each with the block it is entered by first; the last is first."""
    walk, closed = _Walk(), set[int]()
    for start in reversed(tuple(starts)):
        if start not in inside or start in walk.number:
            continue
        walk.enter(start)
        path: list[tuple[int, list[int]]] = [(start, list(follow[start]))]
        while path:
            block, rest = path[-1]
            if rest:
                # What is walked first comes last in the order.
                target = rest.pop()
                if target not in inside or target in closed:
                    continue
                if target in walk.number:
                    walk.low[block] = min(walk.low[block], walk.number[target])
                else:
                    walk.enter(target)
                    path.append((target, list(follow[target])))
                continue
            path.pop()
            walk.leave(block, closed)
            if path:
                above = path[-1][0]
                walk.low[above] = min(walk.low[above], walk.low[block])
    return walk.found
