"""The basic blocks of a kernel's machine code and of the functions that it may call.

A block is cut into segments where lanes must wait for each other without the scheduler's help: at an
exchange between lanes, and where one lane may read what another has written to shared memory before it,
or write what another has yet to read. A GPU runs the lanes of a group in step, so a segment is what may
run lane after lane without anybody noticing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gevolve.device.sim.machine.instruction import Instruction
from gevolve.device.sim.machine.translate.control import (
    ends_block,
    falls_through,
    is_indirect,
    label_of,
)
from gevolve.device.sim.machine.translate.exchange import is_exchange

_READS = {"LDS": 1, "LD": 3, "LDG": 2}
_WRITES = {"STS": 1, "ST": 3, "STG": 2, "ATOMS": 1, "ATOM": 3, "ATOMG": 2, "RED": 2, "REDG": 2}
_SHARED = 1
"""Of the spaces that an access may touch: shared memory; the other bit is global memory."""


@dataclass(slots=True)
class Segment:
    """Instructions that a lane runs at one go."""

    begin: Instruction | None = None
    """The exchange whose results arrive here."""
    code: list[Instruction] = field(default_factory=list[Instruction])
    exchange: Instruction | None = None
    """The exchange that ends it."""


@dataclass(slots=True)
class Block:
    """Instructions that a group of lanes runs without anybody leaving or joining it."""

    number: int
    address: int
    instructions: list[Instruction]
    segments: list[Segment]
    end: Instruction | None
    """The instruction that needs the scheduler, if one ends it."""
    after: int
    """The block behind it, or -1."""
    targets: tuple[int, ...] = ()
    """Blocks that may follow; `anywhere` if a register says which."""
    anywhere: bool = False


def blocks_of(
    code: Mapping[int, Instruction], entry: int, starts: Iterable[int] = ()
) -> list[Block]:
    """Cut code (by address) into blocks; those that nothing reaches are left out.

    `starts` are addresses that a register may name: functions, and targets of tables.
    """
    leaders = {entry, *(start for start in starts if start in code)}
    for one in code.values():
        if not ends_block(one):
            continue
        leaders.add(one.address + 16)
        if (label := label_of(one)) is not None:
            leaders.add(label)
    reached: dict[int, list[Instruction]] = {}
    todo = [entry, *(start for start in starts if start in code)]
    while todo:
        address = todo.pop()
        if address in reached or address not in code:
            continue
        body = reached[address] = _body(code, address, leaders)
        last = body[-1]
        if falls_through(last):
            todo.append(last.address + 16)
        if (label := label_of(last)) is not None:
            todo.append(label)
    order = {address: number for number, address in enumerate(sorted(reached))}
    return [_block(order, address, reached[address]) for address in order]


def _body(code: Mapping[int, Instruction], address: int, leaders: set[int]) -> list[Instruction]:
    body = [code[address]]
    while not ends_block(body[-1]):
        following = body[-1].address + 16
        if following in leaders or following not in code:
            break
        body.append(code[following])
    return body


def _block(order: Mapping[int, int], address: int, body: list[Instruction]) -> Block:
    last = body[-1]
    end = last if ends_block(last) else None
    after = order.get(last.address + 16, -1)
    targets: list[int] = []
    anywhere = is_indirect(last)
    if falls_through(last) and after >= 0:
        targets.append(after)
    if (label := label_of(last)) is not None:
        if label in order:
            targets.append(order[label])
        else:
            anywhere = True
    segments = _segments(body[:-1] if end is not None else body)
    return Block(order[address], address, body, segments, end, after, tuple(targets), anywhere)


def _segments(body: list[Instruction]) -> list[Segment]:
    now = Segment()
    made = [now]
    reads = writes = 0
    for code in body:
        if is_exchange(code):
            now.exchange = code
            now = Segment(code)
            made.append(now)
            reads = writes = 0
            continue
        read, written = _READS.get(code.opcode, 0), _WRITES.get(code.opcode, 0)
        if "CONSTANT" in code.modifiers:
            read = 0
        # A store to global memory that another lane reads in the same block races, unless it is said
        # to be strong; in shared memory old code relies on lanes in step.
        seen = read if "STRONG" in code.modifiers else read & _SHARED
        if seen & writes or written & reads & _SHARED:
            now = Segment()
            made.append(now)
            reads = writes = 0
        reads |= read
        writes |= written
        now.code.append(code)
    return made
