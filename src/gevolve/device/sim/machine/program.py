"""A module of machine code made ready to run: decoded and translated; JIT-compiled when first launched.

It has what `SimGpu` and `Memory` ask of a module of PTX (`sim.program.Program`), so that both run alike.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from gevolve.device.sim.host import compile_function
from gevolve.device.sim.machine import cubin
from gevolve.device.sim.machine.addresses import ADDRESSES, indirect_addresses
from gevolve.device.sim.machine.assemble import assemble
from gevolve.device.sim.machine.instruction import RZ, Address, Instruction, Reg
from gevolve.device.sim.machine.translate.blocks import Block
from gevolve.device.sim.machine.translate.emit import Site
from gevolve.device.sim.machine.translate.kernel import translate
from gevolve.device.sim.memory import PAGE
from gevolve.device.sim.program import BLOCK, KINDS, SITE, Compiled
from gevolve.device.sim.ptx import Variable
from gevolve.device.sim.timing.code import Code
from gevolve.device.sim.timing.gpu import Gpu
from gevolve.device.sim.timing.machine import machine_code
from gevolve.device.sim.timing.registers import Registers
from gevolve.device.sim.translate.callgraph import RECURSIVE, align
from gevolve.device.sim.translate.kernel import BlockInfo

_CHECKED = 8
_STRONG, _RETURNS = 1, 4
_BANKS = 8
_UNBOUNDED = 1 << 24
"""No kernel needs so much local memory; the compiler says more where functions recurse."""
_SHARED_WINDOW, _LOCAL_WINDOW, _STACK = 0x18, 0x20, 0x28
"""Where in constant bank 0 kernels find these; the sizes of block and grid come first."""
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)")
_PARAM = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)")


@dataclass(frozen=True, slots=True)
class MachineKernel:
    """A translated kernel, and all that a launch must know."""

    name: str
    params: tuple[tuple[Variable, int], ...]
    """Each parameter with its offset."""
    text: str
    blocks: tuple[BlockInfo, ...]
    sites: tuple[Site, ...]
    waits: bool
    shared: int
    stack: int
    local: int
    limits: Mapping[str, tuple[int, ...]]
    flow: tuple[Block, ...]
    """Its basic blocks, by number."""
    source: cubin.Kernel
    marks: tuple[str, ...] = ()
    dynamic_align: int = 1

    @property
    def ends(self) -> tuple[Instruction | None, ...]:
        """What ends each block, if it needs the scheduler."""
        return tuple(block.end for block in self.flow)


@dataclass(slots=True)
class MachineProgram:
    """All kernels and variables of one artefact."""

    arch: str
    module: cubin.Cubin
    kernels: dict[str, MachineKernel]
    variables: dict[str, Variable]
    places: dict[str, int]
    """Offsets of variables; those of constants begin at `constants`."""
    banks: dict[str, tuple[int, ...]]
    """Offsets of a kernel's constant banks, by number; -1 where it has none."""
    contents: tuple[tuple[int, bytes], ...]
    """What lies where before the first launch, addresses counted from the module's base."""
    pointers: tuple[int, ...]
    """Places that hold addresses."""
    constants: int
    size: int
    files: dict[int, str] = field(default_factory=dict[int, str])
    machine: bool = True
    _compiled: dict[str, Compiled] = field(default_factory=dict[str, Compiled])
    _code: dict[str, Code] = field(default_factory=dict[str, Code])

    def compiled(self, name: str) -> Compiled:
        """Host code of a kernel."""
        found = self._compiled.get(name)
        if found is None:
            kernel = self.kernels[name]
            engine, address = compile_function(kernel.text, "run")
            blocks = np.array(
                [(b.kind, b.issued, b.sites, b.first_site, b.flags) for b in kernel.blocks], BLOCK
            )
            rows = [
                (s.size, KINDS.index(s.kind) + _CHECKED * s.checked, s.line, _flags(s.code))
                for s in kernel.sites
            ]
            sites = np.array(rows or [(0, 0, 0, 0)], SITE)
            found = self._compiled[name] = Compiled(engine, address, blocks, sites)
        return found

    def registers(self, name: str, gpu: Gpu) -> Registers:  # noqa: ARG002  (it was assembled for one)
        """The registers that a thread of a kernel has; what was spilled is in the code."""
        return Registers(self.kernels[name].source.registers, 0)

    def code(self, name: str) -> Code:
        """What the timing model reads of a kernel."""
        found = self._code.get(name)
        if found is None:
            kernel = self.kernels[name]
            blocks = [block.instructions for block in kernel.flow]
            blocks += [[]] * (len(kernel.blocks) - len(blocks))
            sites = [site.code for site in kernel.sites]
            found = self._code[name] = machine_code(blocks, sites, kernel.source.registers)
        return found

    def image(self, base: int) -> bytes:
        """The initial content of all variables and constants when they are placed at `base`."""
        out = bytearray(self.size)
        for at, content in self.contents:
            out[at : at + len(content)] = content
        for at in self.pointers:
            value = int.from_bytes(out[at : at + 8], "little") + base
            out[at : at + 8] = value.to_bytes(8, "little")
        return bytes(out)

    @property
    def regions(self) -> list[tuple[int, int, bool]]:
        """(offset, size, whether kernels may only read it) of what kernels may touch, in order."""
        found = {
            (place, self.variables[name].size, place >= self.constants)
            for name, place in self.places.items()
        }
        for kernel, places in self.banks.items():
            held = self.kernels[kernel].source.constants
            found |= {
                (place, len(held[n]), True)
                for n, place in enumerate(places)
                if place >= 0 and n != 3 and n in held
            }
        return sorted(found)

    def bank(
        self,
        kernel: MachineKernel,
        params: bytes,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        windows: tuple[int, int],
    ) -> bytes:
        """Constant bank 0 of a launch. `windows` are where shared and local memory begin."""
        source = kernel.source
        size = max(source.parameter_base + max(source.parameter_size, len(params)), _STACK + 8)
        out = bytearray(max(size, len(source.constants.get(0, b""))))
        struct.pack_into("<6I", out, 0, *block, *grid)
        struct.pack_into("<2QI", out, _SHARED_WINDOW, *windows, kernel.local)
        out[source.parameter_base : source.parameter_base + len(params)] = params
        return bytes(out)

    def bank_addresses(self, kernel: MachineKernel, bank: int, base: int) -> tuple[int, ...]:
        """Where each constant bank is, bank 0 of the launch being at `bank`."""
        places = self.banks[kernel.name]
        return (bank, *(base + place if place >= 0 else 0 for place in places[1:]))


def _flags(code: Instruction) -> int:
    result = next((x for x in code.operands if isinstance(x, (Reg, Address))), None)
    returns = code.opcode.startswith("ATOM") and isinstance(result, Reg) and result.index != RZ
    strong = _STRONG if "STRONG" in code.modifiers else 0
    return strong | (_RETURNS if returns else 0)


@lru_cache(maxsize=8)
def load_ptx(ptx: bytes, arch: str) -> MachineProgram:
    """Assemble PTX, decode and translate it; raises `UnsupportedError` for what cannot be run."""
    text = ptx.decode()
    return load(assemble(text, arch), _parameter_types(text))


def _parameter_types(text: str) -> dict[str, tuple[str, ...]]:
    """The types of each kernel's parameters, which machine code no longer has."""
    return {name: tuple(_PARAM.findall(params)) for name, params in _ENTRY.findall(text)}


def load(data: bytes, types: Mapping[str, tuple[str, ...]] | None = None) -> MachineProgram:
    """Decode and translate a cubin. `types` are those of parameters (``f32``), where they are known."""
    plain = cubin.read(data)
    sections = {
        v.section: plain.data[v.section]
        for v in plain.variables.values()
        if v.section in plain.data
    }
    starts: dict[str, int] = {}
    at = 0
    for name in sorted(sections):
        if not name.startswith(".nv.constant"):
            starts[name] = at = align(at, 256)
            at += len(sections[name])
    constants = at = align(at, PAGE)
    module = cubin.read(data, starts) if starts else plain
    module, addresses = indirect_addresses(module, starts)
    contents = [(place, module.data[name]) for name, place in starts.items()]
    held: dict[tuple[str, int], int] = {}
    shared: dict[tuple[int, bytes], int] = {}
    for kernel in module.kernels.values():
        for number, bank in sorted(kernel.constants.items()):
            if not 0 < number < _BANKS:
                continue
            place = shared.get((number, bank))
            if place is None:
                place = shared[number, bank] = at = align(at, 256)
                contents.append((place, bank))
                at += len(bank)
            held[kernel.name, number] = place
    pointers = _pointers(module, starts, held)
    if addresses:
        place = at = align(at, 256)
        contents.append((place, b"".join(a.to_bytes(8, "little") for a in addresses)))
        pointers += tuple(place + 8 * n for n in range(len(addresses)))
        held |= {(name, ADDRESSES): place for name in module.kernels}
        at += 8 * len(addresses)
    banks = {
        name: tuple(held.get((name, number), -1) for number in range(_BANKS))
        for name in module.kernels
    }
    bank3 = next((place for (_, n), place in held.items() if n == 3), None)
    places: dict[str, int] = {}
    for variable in module.variables.values():
        if variable.section in starts:
            places[variable.name] = starts[variable.section] + variable.offset
        elif variable.section.startswith(".nv.constant3") and bank3 is not None:
            places[variable.name] = bank3 + variable.offset
    variables = {
        name: Variable(name, "global", "b8", module.variables[name].size, 1) for name in places
    }
    return MachineProgram(
        module.arch,
        module,
        {name: _kernel(module, kernel, types or {}) for name, kernel in module.kernels.items()},
        variables,
        places,
        banks,
        tuple(contents),
        pointers,
        constants,
        align(at, PAGE),
    )


def _pointers(
    module: cubin.Cubin, starts: Mapping[str, int], held: Mapping[tuple[str, int], int]
) -> tuple[int, ...]:
    """Places of addresses of variables, which count from the module's base until that is known."""
    found: set[int] = set()
    for relocation in module.relocations:
        if relocation.symbol.section not in starts:
            continue
        if relocation.section in starts:
            found.add(starts[relocation.section] + relocation.offset)
        elif relocation.section.startswith(".nv.constant"):
            number, _, owner = relocation.section.removeprefix(".nv.constant").partition(".")
            for kernel, bank in held:
                if bank == int(number) and owner in {"", kernel}:
                    found.add(held[kernel, bank] + relocation.offset)
    return tuple(sorted(found))


def _kernel(
    module: cubin.Cubin, source: cubin.Kernel, types: Mapping[str, tuple[str, ...]]
) -> MachineKernel:
    code = translate(module, source)
    known = types.get(source.name, ())
    params: list[tuple[Variable, int]] = []
    for number, parameter in enumerate(source.parameters):
        kind = known[number] if number < len(known) else "b8"
        size = {"8": 1, "16": 2, "32": 4, "64": 8}.get(kind[1:], 0)
        if size != parameter.size:
            kind, size = "b8", 1
        params.append(
            (Variable(f"p{number}", "param", kind, parameter.size // size, size), parameter.offset)
        )
    limits = {"maxntid": (source.max_threads, 1, 1)} if source.max_threads else {}
    local = source.local
    if code.indirect or local >= _UNBOUNDED or (source.stack and not local):
        local = RECURSIVE
    return MachineKernel(
        source.name,
        tuple(params),
        code.text,
        code.infos,
        code.sites,
        code.waits,
        source.shared,
        code.stack,
        align(local, 16),
        limits,
        code.blocks,
        source,
    )
