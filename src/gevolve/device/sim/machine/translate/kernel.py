"""One kernel of machine code, as host functions: one for each block, which steps the lanes of a warp through it.

Variants have most blocks in common, so the text of a block says nothing of the rest of its kernel but where it
goes next and what others read of it: the same text is compiled once (`host.compile_blocks`).
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from gevolve.device.sim import layout
from gevolve.device.sim.machine import cubin
from gevolve.device.sim.machine.instruction import Instruction
from gevolve.device.sim.machine.translate import exchange
from gevolve.device.sim.machine.translate.blocks import Block, Segment, blocks_of
from gevolve.device.sim.machine.translate.control import Ends, is_indirect, label_of
from gevolve.device.sim.machine.translate.emit import Emitter, Frame, Site, unknown
from gevolve.device.sim.machine.translate.externals import External
from gevolve.device.sim.machine.translate.families import TABLE
from gevolve.device.sim.translate.kernel import BlockInfo

_SPINS, _GUARDED = 2, 4
"""Block flags of the runtime."""


@dataclass(frozen=True, slots=True)
class Code:
    """A translated kernel: host LLVM-IR, and what the runtime knows of its blocks and accesses."""

    bodies: tuple[str, ...]
    """Of the function of each block."""
    common: str
    """What all of them may refer to."""
    blocks: tuple[Block, ...]
    infos: tuple[BlockInfo, ...]
    sites: tuple[Site, ...]
    stack: int
    """Bytes of registers of one thread."""
    waits: bool
    """Whether threads may wait for other warps."""
    indirect: bool
    """Whether calls go where registers say, so that nobody can tell how deep they go."""


def translate(module: cubin.Cubin, kernel: cubin.Kernel) -> Code:
    """Translate a kernel; raises `UnsupportedError` for an instruction that is not known."""
    return _Translator(module, kernel).code()


class _Translator:
    def __init__(self, module: cubin.Cubin, kernel: cubin.Kernel) -> None:
        self.module = module
        self.kernel = kernel
        self.externals: dict[int, External] = {}
        self.starts, self.blocks = self._reach()
        numbers = {block.address: block.number for block in self.blocks}
        for address in self.externals:
            numbers[address] = len(numbers)
        most = max([kernel.registers, *(f.registers for f in module.functions.values()), 24])
        self.frame = Frame(most + 2)
        self.ends = Ends(numbers, kernel.start)
        self.declared: dict[str, str] = {}
        self.emitters: list[list[Emitter]] = []
        self.infos: list[BlockInfo] = []
        self.sites: list[Site] = []

    def _reach(self) -> tuple[set[int], list[Block]]:
        """The blocks that the kernel may reach, and where registers may lead it."""
        module, kernel = self.module, self.kernel
        code = {one.address: one for one in kernel.instructions}
        if not kernel.calls and not any(is_indirect(one) for one in kernel.instructions):
            return set(), blocks_of(code, kernel.start)
        for function in module.functions.values():
            code |= {one.address: one for one in function.instructions}
        self.externals = {a: External(n) for n, a in module.externals.items()}
        functions = {function.start for function in module.functions.values()}
        starts: set[int] = set()
        while True:
            blocks = blocks_of(code, kernel.start, starts)
            ends = {b.end.opcode for b in blocks if b.end is not None and is_indirect(b.end)}
            found: set[int] = set()
            if "CALL" in ends:
                found |= functions
            if ends - {"RET"}:
                found |= _table_targets(kernel, code, {kernel.start, *functions})
            if found <= starts:
                return starts, blocks
            starts |= found

    def code(self) -> Code:
        for block in self.blocks:
            self._block(block)
        for number, external in enumerate(self.externals.values(), len(self.blocks)):
            e = self._emitter(0)
            external.run(e, self.ends)
            self.emitters.append([e])
            self.infos.append(BlockInfo(0, 0, 0, len(self.sites), 0, 0))
            assert number == len(self.infos) - 1
        self._save()
        return Code(
            tuple(map(_body, self.emitters)),
            self._common(),
            tuple(self.blocks),
            tuple(self.infos),
            tuple(self.sites),
            self.frame.size,
            any(exchange.KINDS[info.kind].startswith("bar_") for info in self.infos),
            any(is_indirect(b.end) and b.end.opcode == "CALL" for b in self.blocks if b.end),
        )

    def _emitter(self, number: int) -> Emitter:
        return Emitter(number, self.frame, self.module.arch, self.declared)

    # --- blocks

    def _block(self, block: Block) -> None:
        made: list[Emitter] = []
        sites = 0
        kind, flags = "jump", 0
        for segment in block.segments:
            e = self._emitter(len(made))
            e.first_site = sites
            self._segment(e, segment)
            if segment is block.segments[-1]:
                kind, guarded = self._end(e, block)
                flags |= _GUARDED if guarded else 0
            sites += len(e.sites)
            made.append(e)
        if any(_may_spin(code, block) for code in block.instructions):
            flags |= _SPINS
        line = next((code.line[1] for code in block.instructions if code.line), 0)
        self.infos.append(
            BlockInfo(
                exchange.KINDS.index(kind),
                len(block.instructions),
                sites,
                len(self.sites),
                flags,
                line,
            )
        )
        for e in made:
            self.sites.extend(e.sites)
        self.emitters.append(made)

    def _segment(self, e: Emitter, segment: Segment) -> None:
        with _foreseen(e):
            if segment.begin is not None:
                self._with(e, segment.begin)
                exchange.receive(e, segment.begin)
                e.guard = None
            for code in segment.code:
                known = TABLE.get(code.opcode)
                if known is None:
                    raise unknown(code, self.module.arch)
                self._with(e, code)
                if e.guard != "false":
                    known(e, code)
                e.guard = None
            if segment.exchange is not None:
                self._with(e, segment.exchange)
                e.after = exchange.send(e, segment.exchange)
                e.guard = None

    def _with(self, e: Emitter, code: Instruction) -> None:
        """Make an instruction the present one, and its guard the guard."""
        e.code = code
        e.guard = None if code.guard is None else e.truth(code.guard)
        if e.guard == "true":
            e.guard = None

    def _end(self, e: Emitter, block: Block) -> tuple[str, bool]:
        if block.end is None:
            self.ends.go(e, block.after)
            return "jump", False
        self._with(e, block.end)
        with _foreseen(e):
            kind, guarded = self.ends.end(e, block.end, block.after)
        e.guard = None
        return kind, guarded

    # --- registers that live across segments

    def _save(self) -> None:
        """Find out which registers each segment must leave in the frame, and write them there."""
        live_in = [0] * len(self.emitters)
        bodies = [(_used(made), _defined(made)) for made in self.emitters]
        targets = self._targets()
        changed = True
        while changed:
            changed = False
            for number in range(len(self.emitters) - 1, -1, -1):
                uses, defines = bodies[number]
                out = 0
                for target in targets[number]:
                    out |= live_in[target]
                found = uses | out & ~defines
                if found != live_in[number]:
                    live_in[number] = found
                    changed = True
        for number, made in enumerate(self.emitters):
            live = 0
            for target in targets[number]:
                live |= live_in[target]
            for e in reversed(made):
                e.save(live)
                live = e.uses | live & ~e.defines

    def _targets(self) -> list[tuple[int, ...]]:
        """The blocks that may follow each block. A return leads behind any call."""
        numbers = self.ends.numbers
        returns = tuple(
            block.after
            for block in self.blocks
            if block.end is not None and block.end.opcode == "CALL"
        )
        known = (*self.starts, *self.externals)
        starts = tuple(dict.fromkeys(numbers[start] for start in known if start in numbers))
        found: list[tuple[int, ...]] = []
        for block in self.blocks:
            more: tuple[int, ...] = ()
            if block.anywhere and block.end is not None:
                label = label_of(block.end)
                if block.end.opcode == "RET":
                    more = returns
                elif label is not None:
                    more = (numbers[label],) if label in numbers else ()
                else:
                    more = starts
            found.append((*block.targets, *more))
        return [*found, *(returns for _ in self.externals)]

    def _common(self) -> str:
        table = (self.ends.table(),) if self.ends.indirect else ()
        return "\n".join((*table, *self.declared.values()))


_HEAD = f"""%at.launch = getelementptr i8, ptr %w, i64 {layout.LAUNCH}
%launch = load ptr, ptr %at.launch
%at.trace = getelementptr i8, ptr %launch, i64 {layout.TRACE}
%trace = load ptr, ptr %at.trace
%group = getelementptr i8, ptr %w, i64 {layout.GROUP}
%count = getelementptr i8, ptr %w, i64 {layout.COUNT}
br label %b0"""


def _body(made: list[Emitter]) -> str:
    """The function of a block, which takes the warp `%w`: its segments, one after the other."""
    lines = [_HEAD]
    for e in made:
        _loop(lines, e, "done" if e is made[-1] else f"b{e.number + 1}")
    return "\n".join((*lines, "done:", "ret void"))


def _loop(lines: list[str], e: Emitter, after: str) -> None:
    """A segment: a loop over the lanes of the group."""
    n = e.number
    lines += (
        f"b{n}:",
        f"%c{n} = load i64, ptr %count",
        *e.head,
        f"br label %l{n}",
        f"l{n}:",
        f"%i{n} = phi i64 [ 0, %b{n} ], [ %j{n}, %l{n} ]",
        f"%t{n} = getelementptr i64, ptr %trace, i64 %i{n}",
        f"%p{n} = getelementptr i64, ptr %group, i64 %i{n}",
        f"%lane{n} = load i64, ptr %p{n}",
        f"%q{n} = getelementptr i64, ptr %w, i64 %lane{n}",
        f"%f{n} = load ptr, ptr %q{n}",
        *e.lines,
        f"%j{n} = add i64 %i{n}, 1",
        f"%m{n} = icmp ult i64 %j{n}, %c{n}",
    )
    if e.after is None:
        lines.append(f"br i1 %m{n}, label %l{n}, label %{after}")
    else:
        lines += (
            f"br i1 %m{n}, label %l{n}, label %x{n}",
            f"x{n}:",
            e.after,
            f"br label %{after}",
        )


def _used(made: list[Emitter]) -> int:
    uses = 0
    for e in reversed(made):
        uses = e.uses | uses & ~e.defines
    return uses


def _defined(made: list[Emitter]) -> int:
    defines = 0
    for e in made:
        defines |= e.defines
    return defines


@contextmanager
def _foreseen(e: Emitter) -> Generator[None]:
    """Name an instruction whose form its translation does not foresee."""
    try:
        yield
    except (AssertionError, LookupError, StopIteration, TypeError, ValueError):
        raise e.unsupported() from None


def _may_spin(code: Instruction, block: Block) -> bool:
    """Whether what an instruction reads may be what a lane waits for."""
    if code.opcode.startswith("ATOM"):
        return True
    if code.opcode not in {"LDG", "LD", "LDS"} or "CONSTANT" in code.modifiers:
        return False
    return "STRONG" in code.modifiers or block.number in block.targets


def _table_targets(
    kernel: cubin.Kernel, code: Mapping[int, Instruction], starts: set[int]
) -> set[int]:
    """Where tables in constant memory may lead: words that are addresses, counted from a start of code."""
    found: set[int] = set()
    for number, bank in kernel.constants.items():
        if number in {0, 3}:
            continue
        for at in range(0, len(bank) - 3, 4):
            value = int.from_bytes(bank[at : at + 4], "little")
            if not value % 16:
                found.update(a for a in (value, *(value + s for s in starts)) if a in code)
    return found
