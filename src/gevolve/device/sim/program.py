"""A PTX module made ready to run: parsed, laid out and translated; JIT-compiled when first launched."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np

from gevolve.device.base import Array
from gevolve.device.sim import layout
from gevolve.device.sim.blocks import NO_BLOCKS, HostCode
from gevolve.device.sim.flow import results, sources
from gevolve.device.sim.host import compile_function
from gevolve.device.sim.memory import PAGE
from gevolve.device.sim.parse import parse
from gevolve.device.sim.ptx import SIZES, Float, Instruction, Module, Reloc, Variable
from gevolve.device.sim.timing.code import Code, code_of
from gevolve.device.sim.timing.gpu import Gpu
from gevolve.device.sim.timing.registers import Registers, assembled
from gevolve.device.sim.translate import Kernel, translate
from gevolve.device.sim.translate.callgraph import align
from gevolve.device.sim.translate.kernel import BlockInfo
from gevolve.errors import UnsupportedError

BLOCK = np.dtype([(n, "<i4") for n in ("kind", "issued", "sites", "first_site", "flags")])
KINDS = ("load", "store", "atomic")
_CHECKED = 8
"""Added to a site's kind when generated code checks its bounds itself."""
_STRONG, _VOLATILE, _RETURNS, _READ_ONLY = 1, 2, 4, 8
"""Flags of a site: an access that orders others, such as ld.acquire; one that keeps its place; an atomic
one whose result is read."""
_ORDERING = frozenset({"relaxed", "acquire", "release", "acq_rel", "mmio"})
SITE = np.dtype([(n, "<i4") for n in ("size", "kind", "line", "flags")])


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel's host code, and the tables that the runtime reads beside it."""

    code: HostCode
    blocks: Array
    sites: Array


class TracedSite(Protocol):
    """What the runtime wants to know of a memory instruction, of PTX or of machine code."""

    @property
    def size(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def checked(self) -> bool: ...


def tables(
    blocks: Sequence[BlockInfo], sites: Sequence[TracedSite], flags: Sequence[int]
) -> tuple[Array, Array]:
    """What the runtime reads of a kernel's blocks and of its sites, each of which has its flags."""
    rows = [
        (site.size, KINDS.index(site.kind) + _CHECKED * site.checked, site.line, flag)
        for site, flag in zip(sites, flags, strict=True)
    ]
    table = [(b.kind, b.issued, b.sites, b.first_site, b.flags) for b in blocks]
    return np.array(table, BLOCK), np.array(rows or [(0, 0, 0, 0)], SITE)


@dataclass(slots=True)
class Program:
    """All kernels and variables of one artefact."""

    kernels: dict[str, Kernel]
    variables: dict[str, Variable]
    places: dict[str, int]
    """Offsets of variables; those of constants begin at `constants`."""
    constants: int
    size: int
    files: dict[int, str]
    functions: dict[str, int]
    ptx: str
    machine: bool = False
    _compiled: dict[str, Compiled] = field(default_factory=dict[str, Compiled])
    _code: dict[str, Code] = field(default_factory=dict[str, Code])

    def compiled(self, name: str) -> Compiled:
        found = self._compiled.get(name)
        if found is None:
            kernel = self.kernels[name]
            read = {
                name
                for flow in kernel.flows
                for block in flow.blocks
                for code in (*block.code, block.end)
                if code is not None
                for name in sources(code)
            }
            flags = [_flags(site.code, read) for site in kernel.sites]
            engine, address = compile_function(kernel.text, "run")
            found = self._compiled[name] = Compiled(
                HostCode(address, NO_BLOCKS, (engine,)), *tables(kernel.blocks, kernel.sites, flags)
            )
        return found

    def code(self, name: str) -> Code:
        """What the timing model reads of a kernel."""
        found = self._code.get(name)
        if found is None:
            kernel = self.kernels[name]
            found = self._code[name] = code_of(kernel.flows, kernel.sites)
        return found

    @property
    def regions(self) -> list[tuple[int, int, bool]]:
        """(offset, size, whether kernels may only read it) of each variable, in order."""
        return [
            (place, self.variables[name].size, place >= self.constants)
            for name, place in self.places.items()
        ]

    def registers(self, name: str, gpu: Gpu) -> Registers:
        """The registers that a thread of a kernel has on a GPU."""
        arch = gpu.machine.arch if gpu.machine else gpu.arch
        told = assembled(self.ptx, arch).get(name) if arch else None
        if told:
            return told
        need, most = self.code(name).need, gpu.limits.registers_per_thread
        return Registers(min(need, most), max(0, need - most))

    def image(self, base: int) -> bytes:
        """The initial content of all variables when they are placed at `base`."""
        out = bytearray(self.size)
        for name, place in self.places.items():
            variable = self.variables[name]
            step = SIZES[variable.type]
            for index, value in enumerate(variable.init):
                at = place + index * step
                out[at : at + step] = self._initial(value, step, base)
        return bytes(out)

    def _initial(self, value: int | Float | Reloc, size: int, base: int) -> bytes:
        if isinstance(value, Float):
            return value.bits.to_bytes(max(size, value.size), "little")[:size]
        if isinstance(value, Reloc):
            target = self.functions.get(value.symbol)
            address = layout.FUNCTIONS + target if target is not None else -1
            if target is None:
                if value.symbol not in self.places:
                    raise UnsupportedError(f"sim cannot take the address of {value.symbol}")
                address = base + self.places[value.symbol]
            value = (address + value.addend) >> value.shift
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def _flags(code: Instruction, read: set[str]) -> int:
    strong = _STRONG if _ORDERING & set(code.mods) else 0
    returns = _RETURNS if code.op == "atom" and read & set(results(code)) else 0
    volatile = _VOLATILE if "volatile" in code.mods else 0
    return (
        strong | returns | volatile | (_READ_ONLY if code.op == "ld" and "nc" in code.mods else 0)
    )


@lru_cache(maxsize=8)
def load(artefact: bytes, *, following: bool = False) -> Program:
    """Parse and translate a PTX module; raises `UnsupportedError` for what cannot be run.

    If it is `following`, it notes where values are used that nothing has written.
    """
    module = parse(artefact.decode())
    places, constants, size = _place(module)
    kernels = {
        name: translate(module, places, function, following=following)
        for name, function in module.functions.items()
        if function.entry and function.body is not None
    }
    variables = {name: module.variables[name] for name in places}
    functions = {name: index for index, name in enumerate(module.functions)}
    files = dict(module.files)
    return Program(kernels, variables, places, constants, size, files, functions, artefact.decode())


def _place(module: Module) -> tuple[dict[str, int], int, int]:
    """Offsets of all module variables: writable ones first, constants on pages of their own."""
    places: dict[str, int] = {}
    at = 0
    nested = [v for f in module.functions.values() for v in f.variables]
    variables = [*module.variables.values(), *nested]
    constants = 0
    for space in ("global", "const"):
        for variable in variables:
            if variable.space == space and variable.length:
                at = align(at, max(variable.align, 256))
                places[variable.name] = at
                at += variable.size
        if space == "global":
            constants = at = align(at, PAGE)
    return places, constants, align(at, PAGE)
