"""One kernel and the functions it calls, as one host function that steps a warp through blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gevo.device.sim import layout
from gevo.device.sim.flow import CARRY, SKIP, Block, Flow, flow_of, results
from gevo.device.sim.ptx import SIZES, Function, Group, Instruction, Module, Prototype, Variable
from gevo.device.sim.translate import bits, compare, convert, exchange, floating, integer, memory
from gevo.device.sim.translate.emit import Emitter, Site, integer_of, literal
from gevo.device.sim.translate.library import host_function
from gevo.device.sim.translate.memory import trace_slot
from gevo.device.sim.translate.special import special
from gevo.device.sim.translate.table import EFFECTS, PURE
from gevo.errors import CompileError, UnsupportedError

assert bits
assert compare
assert convert
assert floating
assert integer
assert memory

RECURSIVE_STACK = 64 << 10
"""Bytes of registers, and of local memory, for each thread of a kernel that recurses."""
_SPINS = frozenset({"atom", "ld"})
_REFUSED = {
    "malloc": "memory allocation in kernels",
    "free": "memory allocation in kernels",
    "cudaLaunchDevice": "launching kernels from kernels",
    "cudaGetParameterBuffer": "launching kernels from kernels",
    "cudaLaunchDeviceV2": "launching kernels from kernels",
    "cudaGetParameterBufferV2": "launching kernels from kernels",
    "cudaDeviceSynchronize": "launching kernels from kernels",
}


def align(offset: int, to: int) -> int:
    return -(-offset // to) * to


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
    dynamic_align: int
    stack: int
    local: int
    limits: Mapping[str, tuple[int, ...]]


@dataclass(slots=True)
class _Activation:
    """Where a function keeps things: registers in its frame, the rest in local memory."""

    flow: Flow
    first: int
    """The number of its first block."""
    slots: dict[str, int] = field(default_factory=dict[str, int])
    frame: int = 8  # the return address comes first
    places: dict[str, int] = field(default_factory=dict[str, int])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    local: int = 0


def place_params(params: tuple[Variable, ...], start: int = 0) -> tuple[dict[str, int], int]:
    """The offset of each parameter, and where they end."""
    places: dict[str, int] = {}
    for param in params:
        start = align(start, param.align)
        places[param.name] = start
        start += param.size
    return places, start


class Translator:
    """Translates one kernel of a module."""

    def __init__(self, module: Module, places: Mapping[str, int], kernel: Function) -> None:
        self.module = module
        self.places = places
        """Offsets of module variables from the module's base."""
        self.kernel = kernel
        self.params, self.param_size = place_params(kernel.params)
        self.shared: dict[str, int] = {}
        self.shared_size = 0
        self.dynamic_align = 16
        self.declared: dict[str, str] = {}
        self.activations: dict[str, _Activation] = {}
        self.calls: dict[str, set[str]] = {}
        self.sites: list[Site] = []
        self.infos: list[BlockInfo] = []
        self.marks: dict[str, int] = {}
        self.lines: list[str] = []
        self.count = 0
        self.now: _Activation

    def translate(self) -> Kernel:
        names = self._reachable()
        first = 0
        for name in names:
            flow = flow_of(self._prepared(self.module.functions[name]))
            self.activations[name] = self._place(flow, first)
            first += len(flow.blocks)
        depth, recursive = self._depth(self.kernel.name)
        for name in names:
            self.now = self.activations[name]
            for block in self.now.flow.blocks:
                self._block(block, recursive=recursive)
        stack, local = (RECURSIVE_STACK, RECURSIVE_STACK) if recursive else depth
        waits = any(exchange.KINDS[info.kind].startswith("bar_") for info in self.infos)
        return Kernel(
            self.kernel.name,
            tuple((p, self.params[p.name]) for p in self.kernel.params),
            self._text(),
            tuple(self.infos),
            tuple(self.sites),
            tuple(self.marks),
            waits,
            self.shared_size,
            self.dynamic_align,
            align(stack, 16),
            align(local, 16),
            self.kernel.limits,
        )

    # --- functions and where they keep things

    def _reachable(self) -> list[str]:
        """The kernel and every function that it may call, in the order of the module."""
        found = {self.kernel.name: None}
        todo = [self.kernel.name]
        while todo:
            function = self.module.functions[todo.pop()]
            called: set[str] = set()
            for code in function.body or ():
                if not isinstance(code, Instruction) or code.op not in {"call", "mov"}:
                    continue
                for operand in code.args:
                    name = self._callee(operand) if isinstance(operand, str) else None
                    if name is None or self.module.functions[name].body is None:
                        continue
                    if code.op == "call":
                        called.add(name)
                    if name not in found:
                        found[name] = None
                        todo.append(name)
            self.calls[function.name] = called
        return list(found)

    def _callee(self, name: str) -> str | None:
        name = self.module.aliases.get(name, name)
        return name if name in self.module.functions else None

    def _prepared(self, function: Function) -> Function:
        """Calls of functions without a body become plain instructions."""
        if not any(isinstance(c, Instruction) and c.op == "call" for c in function.body or ()):
            return function
        body = tuple(
            self._host_call(code) if isinstance(code, Instruction) and code.op == "call" else code
            for code in function.body or ()
        )
        return Function(
            function.name,
            function.entry,
            function.returns,
            function.params,
            body,
            function.registers,
            function.variables,
            function.tables,
            function.prototypes,
            function.limits,
        )

    def _host_call(self, code: Instruction) -> Instruction:
        name = self._target(code)
        if name is None or self.module.functions[name].body is not None:
            return code
        if name == "__assertfail":
            return code._replace(op="trap", mods=("assert",), args=())
        return code._replace(op="callhost")

    def _place(self, flow: Flow, first: int) -> _Activation:
        function = flow.function
        found = _Activation(flow, first)
        for name in flow.crossing:
            found.slots[name] = found.frame
            found.frame += 16 if function.registers.get(name) == "b128" else 8
        if not function.entry:
            variables = (*function.params, *function.returns)
            found.places, found.local = place_params(variables)
            found.sizes = {v.name: v.size for v in variables}
        for variable in function.variables:
            if variable.space in {"local", "param"}:
                found.local = align(found.local, variable.align)
                found.places[variable.name] = found.local
                found.sizes[variable.name] = variable.size
                found.local += variable.size
        found.local = align(found.local, 16)
        found.frame = align(found.frame, 16)
        return found

    def _depth(self, name: str, above: tuple[str, ...] = ()) -> tuple[tuple[int, int], bool]:
        """The most (frame, local) bytes below a function, and whether the calls recurse."""
        if name in above:
            return (0, 0), True
        own = self.activations[name]
        stack = local = 0
        indirect = any(
            b.end is not None and b.end.op == "call" and self._target(b.end) is None
            for b in own.flow.blocks
        )
        recursive = indirect
        for callee in self.calls[name]:
            (s, m), again = self._depth(callee, (*above, name))
            stack, local, recursive = max(stack, s), max(local, m), recursive or again
        return (own.frame + stack, own.local + local), recursive

    def _target(self, code: Instruction) -> str | None:
        for operand in code.args:
            if isinstance(operand, str) and (name := self._callee(operand)) is not None:
                return name
        return None

    # --- names

    def _symbol(self, e: Emitter, name: str) -> str:
        """The address or value that a name that is no register stands for, as i64."""
        value = special(e, name)
        if value is not None:
            return value
        place = self.now.places.get(name)
        if place is not None:
            base = e.op(f"load i64, ptr {e.lane_field(layout.LOCAL, 'i64')}")
            return e.op(f"add i64 {base}, {place}") if place else base
        if self.now.flow.function.entry and name in self.params:
            base = e.load_launch(layout.PARAMS, "i64")
            return e.op(f"add i64 {base}, {self.params[name]}")
        variable = next((v for v in self.now.flow.function.variables if v.name == name), None)
        variable = variable or self.module.variables.get(name)
        if variable is not None and variable.space == "shared":
            return self._shared(e, variable)
        if name in self.places:
            base = e.load_launch(layout.GLOBALS, "i64")
            return e.op(f"add i64 {base}, {self.places[name]}")
        callee = self._callee(name)
        if callee in self.activations:
            return literal(layout.FUNCTIONS + self.activations[callee].first, "i64")
        raise e.unsupported(f"unknown name {name}")

    def _shared(self, e: Emitter, variable: Variable) -> str:
        if not variable.count:
            self.dynamic_align = max(self.dynamic_align, variable.align)
            return e.load_launch(layout.DYNAMIC_BASE, "i64")
        if variable.name not in self.shared:
            self.shared_size = align(self.shared_size, variable.align)
            self.shared[variable.name] = self.shared_size
            self.shared_size += variable.size
        return str(self.shared[variable.name])

    # --- blocks

    def _block(self, block: Block, *, recursive: bool) -> None:
        now = self.now
        flow = now.flow
        number = now.first + block.index
        registers = {**flow.function.registers, CARRY: "pred"}
        e = Emitter(registers, now.slots, self._symbol, self.declared)
        e.count = self.count
        e.lines = self.lines
        end = block.end
        e.code = block.begin or end or (block.code[0] if block.code else None)
        self._enter(e, block, number)
        for code in block.code:
            e.code = code
            if code.op == "gevo":
                continue
            self._instruction(e, code)
        e.code = end or e.code
        kind = "jump"
        flags = 0
        if end is None:
            e.go(now.first + block.targets[0])
        elif end.op in {"bra", SKIP, "brx", "ret", "exit", "trap", "brkpt"}:
            kind = self._branch(e, block, end)
        elif end.op == "call":
            kind = self._call(e, block, end, recursive=recursive)
        else:
            kind = exchange.kind_of(e, end)
            exchange.send(e, end)
            e.go(now.first + block.targets[0])
            flags = 1 if exchange.alone(end) else 0
        e.save([name for name in e.dirty if block.live_out >> flow.bit[name] & 1])
        e.do(f"br label %n{number}")
        e.start(f"n{number}")
        e.do(f"%j{number} = add i64 %i{number}, 1")
        e.do(f"%m{number} = icmp ult i64 %j{number}, %c{number}")
        e.do(f"br i1 %m{number}, label %l{number}, label %next")
        self.count = e.count
        if any(c.op in _SPINS and (c.op == "atom" or _ordered(c)) for c in block.code):
            flags |= 2
        line = next((c.line.line for c in (*block.code, end) if c and c.line), 0)
        info = BlockInfo(
            exchange.KINDS.index(kind), block.issued, len(e.sites), len(self.sites), flags, line
        )
        self.infos.append(info)
        self.sites.extend(e.sites)

    def _enter(self, e: Emitter, block: Block, number: int) -> None:
        """The head of the loop over the lanes of the group."""
        e.start(f"b{number}")
        e.do(f"%c{number} = load i64, ptr %count")
        for code in block.code:
            if code.op == "gevo":
                self._mark(e, code, number)
        e.do(f"br label %l{number}")
        e.start(f"l{number}")
        e.do(f"%i{number} = phi i64 [ 0, %b{number} ], [ %j{number}, %n{number} ]")
        slot = e.op(f"getelementptr i64, ptr %group, i64 %i{number}")
        e.lane, e.index, e.frame = f"%lane{number}", f"%i{number}", f"%fp{number}"
        e.do(f"{e.lane} = load i64, ptr {slot}")
        frame = e.lane_field(layout.FRAME, "i64")
        begin = block.begin
        if begin is not None and begin.op == "call":
            now = self.now
            address = e.op(f"sub i64 {e.op(f'load i64, ptr {frame}')}, {now.frame}")
            e.do(f"store i64 {address}, ptr {frame}")
            e.do(f"{e.frame} = inttoptr i64 {address} to ptr")
            local = e.lane_field(layout.LOCAL, "i64")
            base = e.op(f"sub i64 {e.op(f'load i64, ptr {local}')}, {now.local}")
            e.do(f"store i64 {base}, ptr {local}")
            self._returned(e, begin, base)
            return
        e.do(f"{e.frame} = load ptr, ptr {frame}")
        if begin is not None:
            exchange.receive(e, begin)
        if block.index == 0:  # what may be read before it is written reads as zero
            for name, slot_offset in self.now.slots.items():
                if block.live_in >> self.now.flow.bit[name] & 1:
                    kind = e.registers[name]
                    own = "i8" if kind == "pred" else integer_of(kind)
                    e.do(f"store {own} 0, ptr {e.at(e.frame, slot_offset)}")

    def _mark(self, e: Emitter, code: Instruction, number: int) -> None:
        name = str(code.args[0]) if code.args else ".".join(code.mods[1:])
        index = self.marks.setdefault(name, len(self.marks))
        marks = e.op(f"load ptr, ptr {e.at('%launch', layout.MARKS)}")
        place = e.at(marks, 8 * index)
        before = e.op(f"load i64, ptr {place}")
        e.do(f"store i64 {e.op(f'add i64 {before}, %c{number}')}, ptr {place}")

    def _instruction(self, e: Emitter, code: Instruction) -> None:
        translate = PURE.get(code.op)
        if translate is not None:
            e.guard = self._guard(e, code)
            translate(e, code)
            e.guard = None
            return
        translate = EFFECTS.get(code.op)
        if translate is None:
            if code.op != "callhost":
                raise e.unsupported()
            translate = self._call_host
        if code.guard is None:
            translate(e, code)
            return
        guard = self._guard(e, code)
        assert guard is not None
        if code.op != "callhost":
            e.do(f"store i64 0, ptr {trace_slot(e)}")
        with e.only_if(guard, results(code)):
            translate(e, code)

    def _guard(self, e: Emitter, code: Instruction) -> str | None:
        if code.guard is None:
            return None
        value = e.read(code.guard, "i1")
        return e.op(f"xor i1 {value}, true") if code.negated else value

    # --- ends of blocks

    def _branch(self, e: Emitter, block: Block, end: Instruction) -> str:
        first = self.now.first
        kind = "jump"
        if end.op == "brx":
            index = e.read(end.args[0], "i32")
            to = str(layout.TRAP)  # an index beyond the list
            for position, target in enumerate(block.targets[: len(block.targets) - bool(end.guard)]):
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
        else:
            failed = layout.ASSERT if "assert" in end.mods else layout.TRAP
            to = str(layout.EXIT if end.op in {"ret", "exit"} else failed)
        guard = self._guard(e, end)
        if guard is not None:
            to = e.op(f"select i1 {guard}, i32 {to}, i32 {first + block.targets[-1]}")
        e.go(to)
        return kind

    def _signature(self, e: Emitter, end: Instruction) -> tuple[str | None, Prototype]:
        name = self._target(end)
        if name is not None:
            function = self.module.functions[name]
            return name, Prototype(function.returns, function.params)
        for operand in reversed(end.args):
            found = self.now.flow.function.prototypes.get(operand) if isinstance(operand, str) else None
            if found is not None:
                return None, found
        raise e.unsupported("a call whose target is not known")

    def _groups(self, end: Instruction, prototype: Prototype) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names that a call gives for (results, arguments)."""
        groups = [operand.names for operand in end.args if isinstance(operand, Group)]
        if isinstance(end.args[0], Group) and prototype.returns:
            return groups[0], groups[1] if len(groups) > 1 else ()
        return (), groups[0] if groups else ()

    def _call(self, e: Emitter, block: Block, end: Instruction, *, recursive: bool) -> str:
        now = self.now
        name, prototype = self._signature(e, end)
        if name is not None:
            entry = str(self.activations[name].first)
        else:
            pointer = next(a for a in end.args if isinstance(a, str))
            value = e.op(f"sub i64 {e.read(pointer, 'i64')}, {layout.FUNCTIONS}")
            entry = self._known_entry(e, value)
        _, given = self._groups(end, prototype)
        places, _ = place_params((*prototype.params, *prototype.returns))
        base = e.op(f"load i64, ptr {e.lane_field(layout.LOCAL, 'i64')}")
        callee = e.op(f"add i64 {base}, {now.local}")
        for variable, argument in zip(prototype.params, given, strict=True):
            self._pass(e, argument, base, variable, e.op(f"add i64 {callee}, {places[variable.name]}"))
        e.do(f"store i64 {callee}, ptr {e.lane_field(layout.LOCAL, 'i64')}")
        frame = e.at(e.frame, now.frame)
        back = now.first + block.targets[0]
        e.do(f"store i32 {back}, ptr {frame}")
        e.do(f"store ptr {frame}, ptr {e.lane_field(layout.FRAME, 'i64')}")
        depth = e.lane_field(layout.DEPTH)
        deeper = e.op(f"add i32 {e.op(f'load i32, ptr {depth}')}, 1")
        e.do(f"store i32 {deeper}, ptr {depth}")
        if recursive:
            most = RECURSIVE_STACK // max(
                max(a.frame, a.local) for a in self.activations.values()
            )
            fits = e.op(f"icmp slt i32 {deeper}, {most - 1}")
            entry = e.op(f"select i1 {fits}, i32 {entry}, i32 {layout.OVERFLOW}")
        e.go(entry)
        return "call"

    def _known_entry(self, e: Emitter, value: str) -> str:
        """A function pointer's block, or a trap if it points to no function."""
        to = str(layout.TRAP)
        for activation in self.activations.values():
            if activation.flow.function.entry:
                continue
            here = e.op(f"icmp eq i64 {value}, {activation.first}")
            to = e.op(f"select i1 {here}, i32 {activation.first}, i32 {to}")
        return to

    def _pass(self, e: Emitter, name: str, base: str, variable: Variable, to: str) -> None:
        """Copy an argument, a parameter variable or a register, to where the callee reads it."""
        place = e.op(f"inttoptr i64 {to} to ptr")
        if name in self.now.places:
            source = e.op(f"add i64 {base}, {self.now.places[name]}")
            pointer = e.op(f"inttoptr i64 {source} to ptr")
            e.do(
                f"call void @llvm.memcpy.inline.p0.p0.i64(ptr {place}, ptr {pointer}, "
                f"i64 {variable.size}, i1 false)"
            )
            e.declared["memcpy"] = (
                "declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64 immarg, i1 immarg)"
            )
            return
        t = integer_of(variable.type)
        e.do(f"store {t} {e.read(name, t)}, ptr {place}")

    def _returned(self, e: Emitter, code: Instruction, base: str) -> None:
        """Fetch what a call returned from the callee's memory, just above this function's own."""
        e.code = code
        _, prototype = self._signature(e, code)
        targets, _ = self._groups(code, prototype)
        places, _ = place_params((*prototype.params, *prototype.returns))
        for variable, target in zip(prototype.returns, targets, strict=True):
            at = e.op(f"add i64 {base}, {self.now.local + places[variable.name]}")
            pointer = e.op(f"inttoptr i64 {at} to ptr")
            if target in self.now.places:
                to = e.op(f"add i64 {base}, {self.now.places[target]}")
                place = e.op(f"inttoptr i64 {to} to ptr")
                e.do(
                    f"call void @llvm.memcpy.inline.p0.p0.i64(ptr {place}, ptr {pointer}, "
                    f"i64 {variable.size}, i1 false)"
                )
                e.declared["memcpy"] = (
                    "declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64 immarg, i1 immarg)"
                )
                continue
            t = integer_of(variable.type)
            e.write(target, t, e.op(f"load {t}, ptr {pointer}"))

    def _call_host(self, e: Emitter, code: Instruction) -> None:
        name, prototype = self._signature(e, code)
        assert name is not None
        targets, given = self._groups(code, prototype)
        if name in _REFUSED:
            raise UnsupportedError(f"sim cannot run {name}: {_REFUSED[name]} is not simulated")
        if name == "vprintf":
            self._store_result(e, targets, "i32", "0")
            return
        known = host_function(name)
        if known is None:
            raise CompileError(f"the PTX calls {name}, which it does not define; link it in")
        symbol, t, _ = known
        base = e.op(f"load i64, ptr {e.lane_field(layout.LOCAL, 'i64')}")
        args: list[tuple[str, str]] = []
        for argument in given:
            at = e.op(f"add i64 {base}, {self.now.places[argument]}")
            args.append((t, e.op(f"load {t}, ptr {e.op(f'inttoptr i64 {at} to ptr')}")))
        self._store_result(e, targets, t, e.call(t, symbol, *args))

    def _store_result(self, e: Emitter, targets: tuple[str, ...], t: str, value: str) -> None:
        for target in targets:
            at = self._symbol(e, target)
            e.do(f"store {t} {value}, ptr {e.op(f'inttoptr i64 {at} to ptr')}")

    # --- the whole

    def _text(self) -> str:
        numbers = range(len(self.infos))
        cases = " ".join(f"i32 {n}, label %b{n}" for n in numbers)
        head = f"""
define void @run(ptr %w) {{
start:
%at.launch = getelementptr i8, ptr %w, i64 {layout.LAUNCH}
%launch = load ptr, ptr %at.launch
%at.trace = getelementptr i8, ptr %launch, i64 {layout.TRACE}
%trace = load ptr, ptr %at.trace
%group = getelementptr i8, ptr %w, i64 {layout.GROUP}
%count = getelementptr i8, ptr %w, i64 {layout.COUNT}
br label %next
next:
%now = call i32 @gevo_next(ptr %w)
switch i32 %now, label %done [ {cases} ]
done:
ret void
"""
        self.declared["gevo_next"] = "declare i32 @gevo_next(ptr)"
        return "\n".join((head.strip(), *self.lines, "}", *self.declared.values()))


def _ordered(code: Instruction) -> bool:
    return bool({"volatile", "relaxed", "acquire", "mmio"} & set(code.mods))


def size_of(variable: Variable) -> int:
    return SIZES[variable.type] * variable.count
