"""The control flow of a function: basic blocks, and which registers live across them.

A block ends where control may leave it and also at every instruction that needs more than its own
thread: barriers, warp exchanges and calls. Those become the block's terminator, so that between two
steps of a warp its scheduler, and nothing else, decides who runs. `order` arranges the blocks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gevolve.device.sim.order import SKIP, Block, arranged
from gevolve.device.sim.ptx import (
    Address,
    Float,
    Function,
    Group,
    Instruction,
    Label,
    Not,
    Operand,
    Pair,
    Vector,
)
from gevolve.errors import CompileError

CARRY = "%cc"
"""The carry flag of add.cc and its kin, treated as one more predicate register."""

_BRANCHES = frozenset({"bra", "brx", "exit", "ret", "trap", "brkpt", SKIP})
_EXCHANGES = frozenset({"shfl", "vote", "match", "redux", "elect", "activemask", "bar", "barrier"})
_NO_RESULT = frozenset(
    {
        *_BRANCHES,
        *("st", "stu", "red", "call", "membar", "fence", "prefetch", "prefetchu", "nanosleep"),
        *("cp", "discard", "applypriority", "pmevent", "gevolve", "griddepcontrol", "setmaxnreg"),
    }
)
_SETS_CARRY = frozenset({"add", "addc", "sub", "subc", "mad", "madc"})
_READS_CARRY = frozenset({"addc", "subc", "madc"})


@dataclass(slots=True)
class Flow:
    """A function as blocks. `bit` numbers its registers for the sets of live ones."""

    function: Function
    blocks: list[Block] = field(default_factory=list[Block])
    bit: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def crossing(self) -> list[str]:
        """Registers that some block hands on to another."""
        live = 0
        for block in self.blocks:
            live |= block.live_in
        return [name for name, bit in self.bit.items() if live >> bit & 1]


def ends_block(code: Instruction) -> bool:
    """Whether an instruction needs the scheduler: a branch, an exchange, a call."""
    op = code.op
    return op in _BRANCHES or op in _EXCHANGES or op == "call"


def moves_together(code: Instruction) -> bool:
    """Whether the lanes of a warp must all have done this before any goes on.

    Code from before warp-level synchronisation relies on that between volatile accesses to shared
    memory.
    """
    if code.op not in {"ld", "st"} or "volatile" not in code.mods:
        return False
    return not {"global", "local", "const", "param"} & set(code.mods)


def flow_of(function: Function) -> Flow:
    """Cut a function into blocks and compute what lives across them."""
    flow = Flow(function)
    code = list(_guards_apart(function))
    targets: set[str] = set()
    for item in code:
        if isinstance(item, Instruction) and item.op in {"bra", "brx", SKIP}:
            targets.update(_labels(item, function))
    starts: dict[str, int] = {}
    block = Block(0, [])
    blocks = [block]
    for item in code:
        if isinstance(item, Label):
            if item.name in targets:
                if block.code or block.end or block.begin:
                    block = _open(blocks)
                starts[item.name] = block.index
            continue
        if block.end is not None or block.apart:
            block = _open(blocks)
        block.apart = moves_together(item)
        if item.op not in {SKIP, "gevolve"}:
            block.issued += 1
        if ends_block(item):
            block.end = item
            if item.op == "call" or (item.op not in _BRANCHES and results(item)):
                block = _open(blocks)
                block.begin = item
        else:
            block.code.append(item)
    if block.end is None or block.end.op not in {"ret", "exit", "trap"} or block.end.guard:
        # a function may fall off its end
        _open(blocks).end = Instruction("ret", (), ())
    for block in blocks:
        block.targets = _successors(block, starts, function)
    flow.blocks = arranged(blocks)
    _liveness(flow)
    return flow


def _open(blocks: list[Block]) -> Block:
    block = Block(len(blocks), [])
    blocks.append(block)
    return block


def _guards_apart(function: Function) -> Iterator[Instruction | Label]:
    """Turn a guarded exchange, call or return from a call into a branch around an unguarded one."""
    together = {"bra", "exit", "trap", "brkpt", *(("ret",) if function.entry else ())}
    count = 0
    for item in function.body or ():
        if not isinstance(item, Instruction) or not item.guard or not ends_block(item):
            yield item
            continue
        if item.op in together:
            yield item
            continue
        count += 1
        label = f"{SKIP}{count}"
        yield Instruction(SKIP, (), (label,), item.guard, not item.negated, item.line)
        yield item._replace(guard=None, negated=False)
        yield Label(label)


def _labels(code: Instruction, function: Function) -> tuple[str, ...]:
    if code.op == "brx":
        table = code.args[1]
        assert isinstance(table, str)
        return function.tables[table]
    target = code.args[0]
    assert isinstance(target, str)
    return (target,)


def _successors(block: Block, starts: dict[str, int], function: Function) -> tuple[int, ...]:
    end, after = block.end, block.index + 1
    if end is None:
        return (after,)
    if end.op in {"exit", "ret", "trap", "brkpt"}:
        return (after,) if end.guard else ()
    if end.op in {"bra", "brx", SKIP}:
        try:
            found = tuple(starts[label] for label in _labels(end, function))
        except KeyError as missing:
            raise CompileError(f"{function.name}: branch to unknown label {missing}") from None
        return (*found, after) if end.guard else found
    return (after,)


def names(operand: Operand) -> Iterator[str]:
    """The registers and symbols that an operand mentions."""
    match operand:
        case str():
            yield operand
        case Address(base, _):
            if base is not None:
                yield base
        case Not(name):
            yield name
        case Pair(first, second):
            yield first
            yield second
        case Vector(parts):
            for part in parts:
                if isinstance(part, str):
                    yield part
        case Float() | int() | Group():
            return


def results(code: Instruction) -> tuple[str, ...]:
    """The registers that an instruction writes."""
    op = code.op
    found: tuple[str, ...] = ()
    if (
        code.args
        and op not in _NO_RESULT
        and not (op in {"bar", "barrier"} and "red" not in code.mods)
    ):
        found = tuple(names(code.args[0]))
    if op in _SETS_CARRY and "cc" in code.mods:
        found = (*found, CARRY)
    return found


def sources(code: Instruction) -> Iterator[str]:
    """The registers and symbols that an instruction reads."""
    skip = bool(code.args) and bool(results(code)) and code.op not in _NO_RESULT
    for operand in code.args[1:] if skip else code.args:
        yield from names(operand)
    if code.guard:
        yield code.guard
    if code.op in _READS_CARRY:
        yield CARRY


def _liveness(flow: Flow) -> None:
    registers = flow.function.registers
    bit = flow.bit = {name: index for index, name in enumerate((*registers, CARRY))}
    get = bit.get
    for block in flow.blocks:
        uses = defines = 0
        for name in results(block.begin) if block.begin else ():
            if (index := get(name)) is not None:
                defines |= 1 << index
        for code in (*block.code, block.end) if block.end else block.code:
            for name in sources(code):
                index = get(name)
                if index is not None and not defines >> index & 1:
                    uses |= 1 << index
            if code is block.end:
                break
            for name in results(code):
                index = get(name)
                if index is None:
                    continue
                if not code.guard:
                    defines |= 1 << index
                elif not defines >> index & 1:
                    uses |= 1 << index
        block.uses, block.defines = uses, defines
    changed = True
    while changed:
        changed = False
        for block in reversed(flow.blocks):
            live = 0
            for target in block.targets:
                live |= flow.blocks[target].live_in
            block.live_out = live
            live_in = block.uses | (live & ~block.defines)
            if live_in != block.live_in:
                block.live_in = live_in
                changed = True
