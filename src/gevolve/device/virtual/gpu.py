"""The virtual GPU of one program: its contexts, memory, modules and streams, and what kernels did.

Work is done when it is submitted, in the order of the program's calls: a legal order, for work on a GPU
only ever waits for what was submitted before it. Time is that of the machine, kernel by kernel, and no
kernel overlaps another.
"""

import sys
from collections.abc import Iterable
from typing import TypeVar

from gevolve.device.base import Hazard, Limits
from gevolve.device.sim.buffer import Memory
from gevolve.device.sim.gpu import LaunchStopped, SimGpu
from gevolve.device.sim.hazards import Watch
from gevolve.device.sim.machine.program import MachineProgram
from gevolve.device.sim.memory import VARIABLES
from gevolve.device.sim.timing import Clock, Gpu, Timing
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.memory import DeviceMemory
from gevolve.device.virtual.objects import (
    Action,
    Capture,
    Context,
    Function,
    Module,
    Node,
    Pool,
    Stream,
    Thing,
)
from gevolve.device.virtual.timer import LaunchTimer
from gevolve.device.virtual.wire import HostCall, Program
from gevolve.ir.llvm import names

T = TypeVar("T", bound=Thing)

_FIRST_HANDLE, _NEXT_HANDLE = 0x10000, 0x40
_LEGACY, _PER_THREAD = 1, 2
"""Handles of the streams that every context has; 0 is the first of them."""
_STOPS = {
    1: Code.LAUNCH_TIMEOUT,
    2: Code.ILLEGAL_INSTRUCTION,
    3: Code.LAUNCH_TIMEOUT,
    6: Code.HARDWARE_STACK_ERROR,
    7: Code.ASSERT,
}
"""What a program is told when a kernel is stopped, by the number of the reason; else a bad address."""
_NOT_FOUND: dict[type[Thing], Code] = {
    Context: Code.INVALID_CONTEXT,
    Pool: Code.INVALID_VALUE,
    Node: Code.INVALID_VALUE,
}


class VirtualGpu:
    """A GPU that one program uses."""

    def __init__(
        self, table: Gpu, memory: DeviceMemory, program: Program, timer: LaunchTimer | None = None
    ) -> None:
        """With a `timer`, launches have its times, and of what they do only that is watched which is named."""
        self.table, self.memory, self.program = table, memory, program
        self.timer = timer
        self.dry = False
        """Whether launches are only timed, and nothing is computed or copied."""
        self.read_back = False
        """Whether the host has read what a kernel should have computed."""
        self.started = False
        self.thread = 0
        """The thread of the program that calls."""
        self.primary: Context | None = None
        self.retained = 0
        self.then: HostCall | None = None
        """What the program calls before the call that is worked on returns."""
        self.late = Code.SUCCESS
        """What went wrong with work that nobody waited for."""
        self.launches = 0
        self.captures = 0
        self.faults: dict[Hazard, None] = {}
        """Kernels that were stopped."""
        self.said: dict[str, None] = {}
        """What the program should know, each once."""
        self._things: dict[int, Thing] = {}
        self._next = _FIRST_HANDLE
        self._threads: dict[int, list[Context]] = {}
        self._streams = {number: Stream(number) for number in (_LEGACY, _PER_THREAD)}
        self.pool = self.add(Pool())
        self._clock = None if timer else Clock(table)
        self._watch = None if timer else Watch()
        self._timed: list[Timing] = []
        self._named: frozenset[str] = frozenset()
        """The kernels that are watched, with a timer."""

    # --- handles and contexts --------------------------------------------------------------------

    def add(self, thing: T) -> T:
        """Give a new object its handle."""
        thing.handle, self._next = self._next, self._next + _NEXT_HANDLE
        self._things[thing.handle] = thing
        return thing

    def remove(self, thing: Thing) -> None:
        self._things.pop(thing.handle, None)

    def find(self, kind: type[T], handle: int) -> T:
        """The object of a handle; the documented error if there is none of that kind."""
        found: Thing | None = self._things.get(handle)
        if handle in {0, *self._streams}:
            found = self._streams[handle or _LEGACY]
        if not isinstance(found, kind):
            raise Fault(_NOT_FOUND.get(kind, Code.INVALID_HANDLE))
        return found

    @property
    def stack(self) -> list[Context]:
        """The contexts of the thread that calls; the last one is current."""
        return self._threads.setdefault(self.thread, [])

    @property
    def context(self) -> Context:
        """The current context, if a call may use it."""
        if not self.stack:
            raise Fault(Code.INVALID_CONTEXT)
        current = self.stack[-1]
        if not current.active:
            raise Fault(Code.CONTEXT_IS_DESTROYED)
        if current.broken:
            raise Fault(current.broken)
        return current

    def forget(self, context: Context) -> None:
        """Destroy a context."""
        context.active = False
        self.remove(context)
        if self.stack and self.stack[-1] is context:
            self.stack.pop()

    def say(self, words: str) -> None:
        """Tell whoever runs the program, once."""
        if words not in self.said:
            self.said[words] = None
            print(f"gevolve gpu: {words}", file=sys.stderr, flush=True)

    # --- streams ---------------------------------------------------------------------------------

    def submit(self, stream: Stream, kind: int, action: Action, about: object = None) -> None:
        """Do a piece of work, or add it to the graph that the stream records."""
        if stream.capture is None:
            self.then = action() or self.then
            return
        if stream.capture.broken:
            raise Fault(Code.STREAM_CAPTURE_INVALIDATED)
        graph = stream.capture.graph
        node = self.add(Node(kind=kind, action=action, after=stream.last, graph=graph, about=about))
        graph.nodes.append(node)
        stream.last = [node]

    def end(self, capture: Capture) -> None:
        """Let all streams that record into a graph work again."""
        for stream in (one for one in self._things.values() if isinstance(one, Stream)):
            if stream.capture is capture:
                stream.capture, stream.last = None, []
        for stream in self._streams.values():
            if stream.capture is capture:
                stream.capture, stream.last = None, []

    def run(self, nodes: Iterable[Node]) -> None:
        """Do the work of a graph, which is in order."""
        for node in nodes:
            later = node.action() if node.action else None
            if later:
                self.program.call(later)

    # --- kernels ---------------------------------------------------------------------------------

    def load(self, program: MachineProgram) -> Module:
        """Place a module's variables in memory."""
        taken = sorted((one.globals, one.end) for one in self.memory.modules)
        start = self.memory.slot.base + VARIABLES
        place = start
        for low, high in taken:
            if place + program.size <= low:
                break
            place = high
        memory = Memory(program, Limits(), 0, slot=self.memory.slot, place=place - start)
        gpu = SimGpu(
            program, Limits(), 0, 0, 0, self._clock, self._watch,
            most_shared=self.table.limits.most_shared, memory=memory, hear=self.program.print,
        )  # fmt: skip
        if program.size:
            self.memory.modules.append(memory)
            self._meet()
        return self.add(Module(program=program, memory=memory, gpu=gpu))

    def unload(self, module: Module) -> None:
        assert module.memory is not None
        if module.memory in self.memory.modules:
            self.memory.modules.remove(module.memory)
            self._meet()
        module.memory.close()
        for function in module.functions.values():
            self.remove(function)
        self.remove(module)

    def _meet(self) -> None:
        """Tell each module of the others."""
        every = self.memory.modules
        for one in every:
            one.others = tuple(other for other in every if other is not one)

    def launch(
        self,
        function: Function,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        params: bytes,
    ) -> None:
        """Run a kernel. If it is stopped, its context has come to an end."""
        module, context = function.module, self.context
        assert module.gpu is not None
        assert module.memory is not None
        module.memory.others = tuple(one for one in self.memory.modules if one is not module.memory)
        module.memory.written, self.memory.written = self.memory.written, []
        try:
            if self.timer:
                self._timed.append(
                    self.timer.timing(
                        function, grid, block, shared, params, lambda: self._rooms(function, params)
                    )
                )
            if not self.dry:
                gpu = self._watched(module) if function.name in self._named else module.gpu
                gpu.launch_encoded(function.name, grid, block, params, shared)
            self.launches += 1
        except LaunchStopped as stop:
            if self._clock:
                self._clock.cancel()
            code = _STOPS.get(stop.stop, Code.ILLEGAL_ADDRESS)
            context.broken = Code.MISALIGNED_ADDRESS if stop.misaligned else code
            at = stop.place if stop.place not in {"", "?"} else "a line that is not known"
            kernel = names.demangle(function.name)
            self.faults[Hazard(_word(context.broken), kernel, (at,), f"{stop.words}, at {at}")] = (
                None
            )

    def _watched(self, module: Module) -> SimGpu:
        """A module whose launches are watched, in memory that has no shadow."""
        assert module.program is not None
        self._watch = self._watch or Watch()
        return SimGpu(
            module.program, Limits(), 0, 0, 0, None, self._watch,
            most_shared=self.table.limits.most_shared, memory=module.memory, hear=self.program.print,
        )  # fmt: skip

    def _rooms(self, function: Function, params: bytes) -> dict[int, int]:
        """The pointers among the parameters of a launch, and how many bytes are behind each."""
        found: dict[int, int] = {}
        for one in function.kernel.source.parameters:
            value = int.from_bytes(params[one.offset : one.offset + one.size], "little")
            held = self.memory.holder(value) if one.size == 8 else None
            if held is not None:
                found[value] = held.end - value
        return found

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy bytes, unless nothing is to be done but timed."""
        if not self.dry:
            self.memory.copy(to, source, size, self.program)
        elif self.memory.is_private(source) and not self.memory.is_private(to):
            self.read_back = True
            raise Fault(Code.NOT_PERMITTED)  # what it would read was not computed

    def begin(self, *, dry: bool) -> None:
        """Count from here, and watch no kernel."""
        self.dry, self.read_back, self.launches, self.late = dry, False, 0, Code.SUCCESS
        if self.timer:  # runs have nothing to do with each other, whatever one has done
            self._named, self.memory.poisons = frozenset(), False
            self.faults.clear()
            for context in (one for one in self._things.values() if isinstance(one, Context)):
                context.broken = None
        self._timed.clear()
        if self.timer:
            self.timer.begin()

    def watch(self, kernels: Iterable[str]) -> None:
        """Watch launches of these kernels until it is begun again; what nothing has written is poisoned."""
        self._named, self.memory.poisons = frozenset(kernels), True
        if self.timer and self._watch:
            self._watch.hazards.clear()

    # --- what it was -----------------------------------------------------------------------------

    def cycles(self, first: int, last: int) -> float:
        """Cycles from after the launch before `first` to the end of the launch before `last`."""
        timings = self.timings[first:last]
        gaps = self.table.launch * max(len(timings) - 1, 0)
        return sum((one.cycles for one in timings), 0.0) + gaps

    @property
    def timings(self) -> list[Timing]:
        """One for each launch."""
        return self._clock.timings if self._clock else self._timed

    @property
    def hazards(self) -> list[Hazard]:
        """Everything that kernels did and should not do, and reads of the host, each once."""
        host = [
            Hazard("uninitialised", "the host", (name,), f"reads {count} bytes of {name} that nothing has written")
            for name, count in self.memory.unwritten.items()
        ]  # fmt: skip
        watched = [*self._watch.hazards, *self._watch.reads] if self._watch else []
        return [*self.faults, *watched, *host]


def _word(code: Code) -> str:
    return {
        Code.ILLEGAL_ADDRESS: "out of bounds",
        Code.MISALIGNED_ADDRESS: "misaligned",
        Code.ASSERT: "assertion",
        Code.LAUNCH_TIMEOUT: "deadlock",
    }.get(code, "crash")
