"""Calls: arguments out, results back, and functions that the host answers.

A callee's parameters lie at the start of its local memory, just above the caller's; its frame is just
above the caller's frame. So a call moves two pointers, and returning moves them back.
"""

from collections.abc import Mapping

from gevolve.device.sim import layout
from gevolve.device.sim.ptx import Group, Instruction, Prototype
from gevolve.device.sim.translate.callgraph import (
    RECURSIVE,
    Activation,
    CallGraph,
    align,
    place_params,
)
from gevolve.device.sim.translate.emit import Emitter, integer_of
from gevolve.device.sim.translate.library import host_function
from gevolve.errors import CompileError, UnsupportedError

_REFUSED = {
    **dict.fromkeys(("malloc", "free"), "memory allocation in kernels"),
    **dict.fromkeys(
        (
            *("cudaLaunchDevice", "cudaLaunchDeviceV2", "cudaDeviceSynchronize"),
            *("cudaGetParameterBuffer", "cudaGetParameterBufferV2"),
        ),
        "launching kernels from kernels",
    ),
}


class Calls:
    """Translates the calls of one function."""

    def __init__(
        self, graph: CallGraph, activations: Mapping[str, Activation], now: Activation
    ) -> None:
        self.graph = graph
        self.activations = activations
        self.now = now

    def call(self, e: Emitter, code: Instruction, back: int) -> None:
        """Move into the callee; `back` is the block to come back to."""
        name, prototype = self._signature(e, code)
        if name is not None:
            entry = str(self.activations[name].first)
        else:
            pointer = next(operand for operand in code.args if isinstance(operand, str))
            entry = self._entry(e, e.read(pointer, "i64"))
        _, given = _groups(code, prototype)
        places, _ = place_params((*prototype.params, *prototype.returns))
        local = e.lane_field(layout.LOCAL, "i64")
        base = e.op(f"load i64, ptr {local}")
        callee = e.op(f"add i64 {base}, {self.now.local}")
        for variable, argument, place in zip(prototype.params, given, places, strict=False):
            to = _pointer(e, callee, place)
            if argument in self.now.places:
                _copy(e, to, _pointer(e, base, self.now.places[argument]), variable.size)
            else:
                t = integer_of(variable.type)
                e.do(f"store {t} {e.read(argument, t)}, ptr {to}")
        e.do(f"store i64 {callee}, ptr {local}")
        frame = e.at(e.frame, self.now.frame)
        e.do(f"store i32 {back}, ptr {frame}")
        e.do(f"store ptr {frame}, ptr {e.lane_field(layout.FRAME, 'i64')}")
        e.go(self._deeper(e, entry))

    def _deeper(self, e: Emitter, entry: str) -> str:
        """Count the call, and stop a recursion that would leave the thread's stack."""
        depth = e.lane_field(layout.DEPTH)
        deeper = e.op(f"add i32 {e.op(f'load i32, ptr {depth}')}, 1")
        e.do(f"store i32 {deeper}, ptr {depth}")
        widest = max(max(a.frame, align(a.local, 16)) for a in self.activations.values())
        fits = e.op(f"icmp slt i32 {deeper}, {RECURSIVE // widest - 1}")
        return e.op(f"select i1 {fits}, i32 {entry}, i32 {layout.OVERFLOW}")

    def _entry(self, e: Emitter, pointer: str) -> str:
        """The first block of the function that a pointer means; a trap if it means none."""
        to = str(layout.TRAP)
        for number, name in enumerate(self.graph.module.functions):
            if name not in self.activations or self.activations[name].flow.function.entry:
                continue
            here = e.op(f"icmp eq i64 {pointer}, {layout.FUNCTIONS + number}")
            to = e.op(f"select i1 {here}, i32 {self.activations[name].first}, i32 {to}")
        return to

    def returned(self, e: Emitter, code: Instruction) -> None:
        """Back in the caller: restore its pointers and fetch the results."""
        frame = e.lane_field(layout.FRAME, "i64")
        here = e.op(f"sub i64 {e.op(f'load i64, ptr {frame}')}, {self.now.frame}")
        e.do(f"store i64 {here}, ptr {frame}")
        e.do(f"{e.frame} = inttoptr i64 {here} to ptr")
        local = e.lane_field(layout.LOCAL, "i64")
        base = e.op(f"sub i64 {e.op(f'load i64, ptr {local}')}, {self.now.local}")
        e.do(f"store i64 {base}, ptr {local}")
        _, prototype = self._signature(e, code)
        targets, _ = _groups(code, prototype)
        places, _ = place_params((*prototype.params, *prototype.returns))
        places = places[len(prototype.params) :]
        for variable, target, place in zip(prototype.returns, targets, places, strict=True):
            found = _pointer(e, base, self.now.local + place)
            if target in self.now.places:
                _copy(e, _pointer(e, base, self.now.places[target]), found, variable.size)
            else:
                t = integer_of(variable.type)
                e.write(target, t, e.op(f"load {t}, ptr {found}"))

    def host(self, e: Emitter, code: Instruction) -> None:
        """Answer a call of a function that the module only declares."""
        name, prototype = self._signature(e, code)
        assert name is not None
        targets, given = _groups(code, prototype)
        if name in _REFUSED:
            raise UnsupportedError(f"sim cannot run {name}: {_REFUSED[name]} is not simulated")
        base = e.op(f"load i64, ptr {e.lane_field(layout.LOCAL, 'i64')}")
        if name == "vprintf":
            t, value = "i32", "0"
        else:
            known = host_function(name)
            if known is None:
                raise CompileError(f"the PTX calls {name}, which it does not define; link it in")
            symbol, t, _ = known
            args: list[tuple[str, str]] = []
            for argument in given:
                place = _pointer(e, base, self.now.places[argument])
                args.append((t, e.op(f"load {t}, ptr {place}")))
            value = e.call(t, symbol, *args)
        for target in targets:
            e.do(f"store {t} {value}, ptr {_pointer(e, base, self.now.places[target])}")

    def _signature(self, e: Emitter, code: Instruction) -> tuple[str | None, Prototype]:
        name = self.graph.callee(code)
        if name is not None:
            function = self.graph.module.functions[name]
            return name, Prototype(function.returns, function.params)
        prototypes = self.now.flow.function.prototypes
        for operand in reversed(code.args):
            if isinstance(operand, str) and operand in prototypes:
                return None, prototypes[operand]
        raise e.unsupported("a call whose target is not known")


def _groups(code: Instruction, prototype: Prototype) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that a call gives for (results, arguments)."""
    groups = [operand.names for operand in code.args if isinstance(operand, Group)]
    if isinstance(code.args[0], Group) and prototype.returns:
        return groups[0], groups[1] if len(groups) > 1 else ()
    return (), groups[0] if groups else ()


def _pointer(e: Emitter, base: str, offset: int) -> str:
    address = e.op(f"add i64 {base}, {offset}") if offset else base
    return e.op(f"inttoptr i64 {address} to ptr")


def _copy(e: Emitter, to: str, source: str, size: int) -> None:
    name = "llvm.memcpy.inline.p0.p0.i64"
    e.declared[name] = f"declare void @{name}(ptr, ptr, i64 immarg, i1 immarg)"
    e.do(f"call void @{name}(ptr {to}, ptr {source}, i64 {size}, i1 false)")
