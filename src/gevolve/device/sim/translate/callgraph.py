"""Who calls whom, and where each function keeps its registers and its memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gevolve.device.sim.flow import Flow
from gevolve.device.sim.ptx import Function, Instruction, Module, Reloc, Variable

RECURSIVE = 64 << 10
"""Bytes of registers, and of local memory, for each thread of a kernel that recurses."""


def align(offset: int, to: int) -> int:
    """The next multiple of `to`."""
    return -(-offset // to) * to


def place_params(params: tuple[Variable, ...]) -> tuple[list[int], int]:
    """The offset of each parameter, and where they end."""
    places: list[int] = []
    end = 0
    for param in params:
        places.append(align(end, param.align))
        end = places[-1] + param.size
    return places, end


@dataclass(slots=True)
class Activation:
    """Where a function keeps things: registers in its frame, parameters and arrays in local memory."""

    flow: Flow
    first: int
    """The number of its first block."""
    slots: dict[str, int] = field(default_factory=dict[str, int])
    """Offsets in the frame of registers that live across blocks; the return address comes first."""
    frame: int = 8
    places: dict[str, int] = field(default_factory=dict[str, int])
    """Offsets in local memory."""
    local: int = 0


def activation(flow: Flow, first: int) -> Activation:
    """Lay out a function whose first block has this number."""
    function = flow.function
    found = Activation(flow, first)
    for name in flow.crossing:
        found.slots[name] = found.frame
        found.frame += 16 if function.registers.get(name) == "b128" else 8
    if not function.entry:
        params = (*function.params, *function.returns)
        offsets, found.local = place_params(params)
        found.places = {p.name: at for p, at in zip(params, offsets, strict=True)}
    for variable in function.variables:
        if variable.space in {"local", "param"}:
            found.local = align(found.local, variable.align)
            found.places[variable.name] = found.local
            found.local += variable.size
    found.local = align(found.local, 16)
    found.frame = align(found.frame, 16)
    return found


class CallGraph:
    """The functions that a kernel may reach."""

    def __init__(self, module: Module, kernel: Function) -> None:
        self.module = module
        self.calls: dict[str, set[str]] = {}
        self.indirect = False
        self.names = self._reach(kernel.name)

    def _reach(self, kernel: str) -> list[str]:
        found, todo = {kernel: None}, [kernel]
        while todo:
            function = self.module.functions[todo.pop()]
            called = self.calls[function.name] = set[str]()
            mentioned = set[str]()
            for code in _instructions(function, "call", "mov"):
                names = [n for x in code.args if isinstance(x, str) and (n := self.function(x))]
                mentioned.update(names)
                if code.op == "call":
                    called.update(names)
                    self.indirect |= not names
            if self.indirect:  # anything whose address was taken may be called
                mentioned.update(self._pointed_at())
            for name in sorted(mentioned - found.keys()):
                if self.module.functions[name].body is not None:
                    found[name] = None
                    todo.append(name)
        return list(found)

    def _pointed_at(self) -> Iterator[str]:
        for variable in self.module.variables.values():
            for value in variable.init:
                if isinstance(value, Reloc) and (name := self.function(value.symbol)):
                    yield name

    def function(self, name: str) -> str | None:
        """The function that a name means, or None if it is no function."""
        name = self.module.aliases.get(name, name)
        return name if name in self.module.functions else None

    def callee(self, code: Instruction) -> str | None:
        """The function that a call names; None if it goes through a pointer."""
        for operand in code.args:
            if isinstance(operand, str) and (name := self.function(operand)) is not None:
                return name
        return None

    def prepared(self, name: str) -> Function:
        """A function in which calls of what has no body are instructions like others."""
        function = self.module.functions[name]
        if not any(_instructions(function, "call")):
            return function
        body = tuple(
            self._host_call(code) if isinstance(code, Instruction) and code.op == "call" else code
            for code in function.body or ()
        )
        return replace(function, body=body)

    def _host_call(self, code: Instruction) -> Instruction:
        name = self.callee(code)
        if name is None or self.module.functions[name].body is not None:
            return code
        if name == "__assertfail":
            return code._replace(op="trap", mods=("assert",), args=())
        return code._replace(op="callhost")

    def depth(self, name: str, places: dict[str, Activation]) -> tuple[int, int] | None:
        """The most bytes of (frames, local memory) that calls pile up; None if they recurse."""
        return None if self.indirect else self._depth(name, places, {})

    def _depth(
        self,
        name: str,
        places: dict[str, Activation],
        known: dict[str, tuple[int, int] | None],
    ) -> tuple[int, int] | None:
        if name in known:
            return known[name]
        known[name] = None  # met again before it is done, it recurses
        frames = local = 0
        for callee in self.calls[name]:
            if callee not in places:
                continue
            below = self._depth(callee, places, known)
            if below is None:
                return None
            frames, local = max(frames, below[0]), max(local, below[1])
        own = places[name]
        known[name] = own.frame + frames, own.local + local
        return known[name]


def _instructions(function: Function, *ops: str) -> Iterator[Instruction]:
    for code in function.body or ():
        if isinstance(code, Instruction) and code.op in ops:
            yield code
