"""One kernel and the functions it calls, as one host function that steps a warp through blocks."""

from collections.abc import Mapping
from dataclasses import dataclass

from gevolve.device.sim import layout
from gevolve.device.sim.flow import CARRY, SKIP, Block, Flow, flow_of, results
from gevolve.device.sim.ptx import Function, Instruction, Module, Variable
from gevolve.device.sim.translate import exchange
from gevolve.device.sim.translate.callgraph import (
    RECURSIVE,
    Activation,
    CallGraph,
    activation,
    align,
    place_params,
)
from gevolve.device.sim.translate.calls import Calls
from gevolve.device.sim.translate.emit import Emitter, Site, integer_of, literal
from gevolve.device.sim.translate.families import EFFECTS, PURE
from gevolve.device.sim.translate.follow import HEAD, Follower, Use
from gevolve.device.sim.translate.memory import trace_slot
from gevolve.device.sim.translate.special import special

_ALONE, _SPINS = 1, 2
"""Block flags of the runtime."""
_ORDERED = frozenset({"volatile", "relaxed", "acquire", "mmio"})


@dataclass(frozen=True, slots=True)
class BlockInfo:
    """What the runtime knows of a block."""

    kind: int
    issued: int
    sites: int
    first_site: int
    flags: int
    line: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A translated kernel: host LLVM-IR and all that a launch must know."""

    name: str
    params: tuple[tuple[Variable, int], ...]
    """Each parameter with its offset."""
    text: str
    blocks: tuple[BlockInfo, ...]
    sites: tuple[Site, ...]
    marks: tuple[str, ...]
    waits: bool
    """Whether threads may wait for other warps, so that all of a block must be alive at once."""
    shared: int
    """Bytes of static shared memory."""
    dynamic_align: int
    stack: int
    """Bytes of registers of one thread, and of local memory."""
    local: int
    limits: Mapping[str, tuple[int, ...]]
    flows: tuple[Flow, ...]
    """The control flow of its functions, in the order of their blocks."""
    uses: tuple[Use, ...] = ()
    """Where values that nothing has written may be read and used, if the code follows them."""

    @property
    def ends(self) -> tuple[Instruction | None, ...]:
        """What ends each block."""
        return tuple(block.end for flow in self.flows for block in flow.blocks)


def translate(
    module: Module, places: Mapping[str, int], kernel: Function, *, following: bool = False
) -> Kernel:
    """Translate a kernel; `places` are the offsets of module variables from the module's base.

    If it is `following`, the code notes where values are used that nothing has written.
    """
    return _Translator(module, places, kernel, following=following).kernel_of()


class _Translator:
    def __init__(
        self, module: Module, places: Mapping[str, int], kernel: Function, *, following: bool
    ) -> None:
        self.module = module
        self.places = places
        self.kernel = kernel
        self.graph = CallGraph(module, kernel)
        self.numbers = {name: number for number, name in enumerate(module.functions)}
        offsets, _ = place_params(kernel.params)
        self.params = {p.name: at for p, at in zip(kernel.params, offsets, strict=True)}
        self.shared: dict[str, int] = {}
        self.shared_size = 0
        self.dynamic_align = 16
        self.activations: dict[str, Activation] = {}
        self.declared = {"gevolve_next": "declare i32 @gevolve_next(ptr)"}
        self.following = following
        self.uses: list[Use] = []
        self.sites: list[Site] = []
        self.infos: list[BlockInfo] = []
        self.marks: dict[str, int] = {}
        self.lines: list[str] = []
        self.count = 0

    def kernel_of(self) -> Kernel:
        first = 0
        for name in self.graph.names:
            flow = flow_of(self.graph.prepared(name))
            self.activations[name] = activation(flow, first)
            first += len(flow.blocks)
        for now in self.activations.values():
            self.now = now
            self.calls = Calls(self.graph, self.activations, now)
            self.variables = {v.name: v for v in now.flow.function.variables}
            self.registers = {**now.flow.function.registers, CARRY: "pred"}
            for block in now.flow.blocks:
                self._block(block)
        stack, local = self.graph.depth(self.kernel.name, self.activations) or (RECURSIVE,) * 2
        return Kernel(
            self.kernel.name,
            tuple((param, self.params[param.name]) for param in self.kernel.params),
            self._text(),
            tuple(self.infos),
            tuple(self.sites),
            tuple(self.marks),
            any(exchange.KINDS[info.kind].startswith("bar_") for info in self.infos),
            self.shared_size,
            self.dynamic_align,
            stack,
            local,
            self.kernel.limits,
            tuple(now.flow for now in self.activations.values()),
            tuple(self.uses),
        )

    def _text(self) -> str:
        cases = " ".join(f"i32 {n}, label %b{n}" for n in range(len(self.infos)))
        head = f"""define void @run(ptr %w) {{
%at.launch = getelementptr i8, ptr %w, i64 {layout.LAUNCH}
%launch = load ptr, ptr %at.launch
%at.trace = getelementptr i8, ptr %launch, i64 {layout.TRACE}
%trace = load ptr, ptr %at.trace
%group = getelementptr i8, ptr %w, i64 {layout.GROUP}
%count = getelementptr i8, ptr %w, i64 {layout.COUNT}
{HEAD if self.following else ""}
br label %next
next:
%now = call i32 @gevolve_next(ptr %w)
switch i32 %now, label %done [ {cases} ]
done:
ret void"""
        return "\n".join((head, *self.lines, "}", *self.declared.values()))

    # --- names

    def _symbol(self, e: Emitter, name: str) -> str:
        """What a name that is no register stands for, as i64: an address, or a special register."""
        value = special(e, name)
        if value is not None:
            return value
        place = self.now.places.get(name)
        if place is not None:
            base = e.op(f"load i64, ptr {e.lane_field(layout.LOCAL, 'i64')}")
            return e.op(f"add i64 {base}, {place}") if place else base
        if name in self.params and self.now.flow.function.entry:
            base = e.load_launch(layout.PARAMS, "i64")
            return e.op(f"add i64 {base}, {self.params[name]}")
        variable = self.variables.get(name) or self.module.variables.get(name)
        if variable is not None and variable.space == "shared":
            return self._shared(e, variable)
        if name in self.places:
            base = e.load_launch(layout.GLOBALS, "i64")
            return e.op(f"add i64 {base}, {self.places[name]}")
        function = self.graph.function(name)
        if function is not None:
            return literal(layout.FUNCTIONS + self.numbers[function], "i64")
        raise e.unsupported(f"unknown name {name}")

    def _shared(self, e: Emitter, variable: Variable) -> str:
        if not variable.length:
            self.dynamic_align = max(self.dynamic_align, variable.align)
            return e.load_launch(layout.DYNAMIC_BASE, "i64")
        if variable.name not in self.shared:
            self.shared_size = align(self.shared_size, variable.align)
            self.shared[variable.name] = self.shared_size
            self.shared_size += variable.size
        return str(self.shared[variable.name])

    # --- blocks

    def _block(self, block: Block) -> None:
        number = self.now.first + block.index
        given = self.registers, self.now.slots, self._symbol, self.declared
        e = Follower(*given, self.uses) if self.following else Emitter(*given)
        e.count, e.lines, e.code = self.count, self.lines, block.begin or block.end
        self._enter(e, block, number)
        for code in block.code:
            e.code = code
            if code.op != "gevolve":
                self._translated(e, code)
        e.code = block.end or e.code
        kind = self._end(e, block)
        bit = self.now.flow.bit
        e.save([name for name in e.dirty if block.live_out >> bit[name] & 1])
        e.do(f"br label %n{number}")
        e.start(f"n{number}")
        e.do(f"%j{number} = add i64 %i{number}, 1")
        e.do(f"%m{number} = icmp ult i64 %j{number}, %c{number}")
        e.do(f"br i1 %m{number}, label %l{number}, label %next")
        self.count = e.count
        self._inform(block, kind, e.sites)

    def _inform(self, block: Block, kind: str, sites: list[Site]) -> None:
        flags = _ALONE if block.end is not None and exchange.alone(block.end) else 0
        if any(c.op == "atom" or (c.op == "ld" and _ORDERED & set(c.mods)) for c in block.code):
            flags |= _SPINS
        line = next((c.line.line for c in (*block.code, block.end) if c and c.line), 0)
        place = exchange.KINDS.index(kind)
        self.infos.append(BlockInfo(place, block.issued, len(sites), len(self.sites), flags, line))
        self.sites.extend(sites)

    def _enter(self, e: Emitter, block: Block, number: int) -> None:
        """The head of the loop over the lanes of the group."""
        e.start(f"b{number}")
        e.do(f"%c{number} = load i64, ptr %count")
        for code in block.code:
            if code.op == "gevolve":
                self._mark(e, code, number)
        e.do(f"br label %l{number}")
        e.start(f"l{number}")
        e.lane, e.index, e.frame = f"%lane{number}", f"%i{number}", f"%fp{number}"
        e.do(f"{e.index} = phi i64 [ 0, %b{number} ], [ %j{number}, %n{number} ]")
        slot = e.op(f"getelementptr i64, ptr %group, i64 {e.index}")
        e.do(f"{e.lane} = load i64, ptr {slot}")
        begin = block.begin
        if begin is not None and begin.op == "call":
            self.calls.returned(e, begin)
            return
        e.do(f"{e.frame} = load ptr, ptr {e.lane_field(layout.FRAME, 'i64')}")
        if begin is not None:
            exchange.receive(e, begin)
        if block.index == 0:  # what may be read before it is written reads as what chance left
            for name, place in self.now.slots.items():
                if block.live_in >> self.now.flow.bit[name] & 1:
                    kind = e.registers[name]
                    own = "i8" if kind == "pred" else integer_of(kind)
                    e.do(f"store {own} {e.unwritten(own)}, ptr {e.at(e.frame, place)}")

    def _mark(self, e: Emitter, code: Instruction, number: int) -> None:
        """Count the threads that come by."""
        name = str(code.args[0]) if code.args else ".".join(code.mods[1:])
        index = self.marks.setdefault(name, len(self.marks))
        marks = e.op(f"load ptr, ptr {e.at('%launch', layout.MARKS)}")
        place = e.at(marks, 8 * index)
        before = e.op(f"load i64, ptr {place}")
        e.do(f"store i64 {e.op(f'add i64 {before}, %c{number}')}, ptr {place}")

    def _translated(self, e: Emitter, code: Instruction) -> None:
        try:
            self._instruction(e, code)
        except (AssertionError, LookupError, StopIteration, ValueError):
            # a form of the instruction that its table entry does not foresee
            raise e.unsupported("this form of it is not known") from None

    def _instruction(self, e: Emitter, code: Instruction) -> None:
        known = PURE.get(code.op)
        if known is not None:
            e.guard = self._guard(e, code)
            known(e, code)
            e.guard = None
            return
        known = self.calls.host if code.op == "callhost" else EFFECTS.get(code.op)
        if known is None:
            raise e.unsupported()
        guard = self._guard(e, code)
        if guard is None:
            known(e, code)
            return
        e.do(f"store i64 0, ptr {trace_slot(e)}")  # no access, unless one follows
        with e.only_if(guard, results(code)):
            known(e, code)

    def _guard(self, e: Emitter, code: Instruction) -> str | None:
        if code.guard is None:
            return None
        value = e.read(code.guard, "i1")
        return e.op(f"xor i1 {value}, true") if code.negated else value

    # --- ends of blocks

    def _end(self, e: Emitter, block: Block) -> str:
        """Say where the thread goes next; the runtime's word for how the block ends."""
        end, first = block.end, self.now.first
        if end is None:
            e.go(first + block.targets[0])
            return "jump"
        if end.op in {"bra", SKIP, "brx", "exit", "ret", "trap", "brkpt"}:
            return self._branch(e, block, end)
        after = first + block.targets[0]
        if end.op == "call":
            self.calls.call(e, end, after)
            return "call"
        exchange.send(e, end)
        e.go(after)
        return exchange.kind_of(e, end)

    def _branch(self, e: Emitter, block: Block, end: Instruction) -> str:
        kind, first = "jump", self.now.first
        if end.op == "brx":
            index = e.read(end.args[0], "i32")
            to = str(layout.TRAP)  # an index beyond the list
            for position, target in enumerate(block.targets):
                here = e.op(f"icmp eq i32 {index}, {position}")
                to = e.op(f"select i1 {here}, i32 {first + target}, i32 {to}")
        elif end.op in {"bra", SKIP}:
            to = str(first + block.targets[0])
        elif end.op == "ret" and not self.now.flow.function.entry:
            kind = "ret"
            to = e.op(f"load i32, ptr {e.frame}")
            depth = e.lane_field(layout.DEPTH)
            here = e.op(f"load i32, ptr {depth}")
            e.do(f"store i32 {e.op(f'sub i32 {here}, 1')}, ptr {depth}")
        elif end.op in {"ret", "exit"}:
            to = str(layout.EXIT)
        else:
            to = str(layout.ASSERT if "assert" in end.mods else layout.TRAP)
        guard = self._guard(e, end)
        if guard is not None:
            to = e.op(f"select i1 {guard}, i32 {to}, i32 {first + block.targets[-1]}")
        e.go(to)
        return kind
