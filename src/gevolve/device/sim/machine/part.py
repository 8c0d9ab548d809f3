"""Kernels of one cubin, decoded, translated, and JIT-compiled when first launched."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gevolve.device.sim.blocks import compile_blocks
from gevolve.device.sim.machine import cubin
from gevolve.device.sim.machine.addresses import indirect_addresses
from gevolve.device.sim.machine.fingerprint import fingerprint, module_fingerprint
from gevolve.device.sim.machine.instruction import RZ, Address, Instruction, Label, Reg
from gevolve.device.sim.machine.translate.blocks import Block
from gevolve.device.sim.machine.translate.emit import Site
from gevolve.device.sim.machine.translate.kernel import translate
from gevolve.device.sim.program import Compiled, tables
from gevolve.device.sim.ptx import Variable
from gevolve.device.sim.timing.code import Code
from gevolve.device.sim.timing.machine import machine_code
from gevolve.device.sim.translate.callgraph import RECURSIVE, align
from gevolve.device.sim.translate.kernel import BlockInfo

_STRONG, _RETURNS, _READ_ONLY = 1, 4, 8
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)")
_PARAM = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)")


@dataclass(frozen=True, slots=True)
class MachineKernel:
    """A translated kernel, and all that a launch must know."""

    name: str
    params: tuple[tuple[Variable, int], ...]
    """Each parameter with its offset."""
    bodies: tuple[str, ...]
    """Host code of each block, as text."""
    common: str
    """What all of them may refer to."""
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


@dataclass
class Part:
    """Kernels that were assembled together, as every module that has them shares them."""

    module: cubin.Cubin
    starts: Mapping[str, int]
    """Offsets of the sections that hold variables."""
    addresses: tuple[int, ...]
    """Addresses of variables that the code names, counted from the module's base."""
    kernels: dict[str, MachineKernel]
    _compiled: dict[str, Compiled] = field(default_factory=dict[str, Compiled])
    _code: dict[str, Code] = field(default_factory=dict[str, Code])
    _fingerprints: dict[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all that it runs and reads."""
        return module_fingerprint(self.module)

    def fingerprint_of(self, name: str) -> str:
        """A digest of the machine code of a kernel, which does not depend on names."""
        if name not in self._fingerprints:
            self._fingerprints[name] = fingerprint(self.kernels[name].source)
        return self._fingerprints[name]

    def compiled(self, name: str) -> Compiled:
        """Host code of a kernel."""
        found = self._compiled.get(name)
        if found is None:
            kernel = self.kernels[name]
            atomic = _loads_of_atomics([one for b in kernel.flow for one in b.instructions])
            flags = [
                _STRONG if site.code.address in atomic else _flags(site.code)
                for site in kernel.sites
            ]
            found = self._compiled[name] = Compiled(
                compile_blocks(kernel.bodies, kernel.common),
                *tables(kernel.blocks, kernel.sites, flags),
            )
        return found

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


def parameter_types(text: str) -> dict[str, tuple[str, ...]]:
    """The types of each kernel's parameters, which machine code no longer has."""
    return {name: tuple(_PARAM.findall(params)) for name, params in _ENTRY.findall(text)}


def read_part(data: bytes, types: Mapping[str, tuple[str, ...]]) -> Part:
    """Decode and translate a cubin."""
    starts, at = dict[str, int](), 0
    for name, size in cubin.variable_sections(data):
        if not name.startswith(".nv.constant"):
            starts[name] = at = align(at, 256)
            at += size
    module, addresses = indirect_addresses(cubin.read(data, starts), starts)
    kernels = {name: _kernel(module, kernel, types) for name, kernel in module.kernels.items()}
    return Part(module, starts, tuple(addresses), kernels)


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
    if code.indirect or local >= cubin.UNBOUNDED or (source.stack and not local):
        local = RECURSIVE
    return MachineKernel(
        source.name,
        tuple(params),
        code.bodies,
        code.common,
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


def _flags(code: Instruction) -> int:
    result = next((x for x in code.operands if isinstance(x, (Reg, Address))), None)
    returns = code.opcode.startswith("ATOM") and isinstance(result, Reg) and result.index != RZ
    strong = _STRONG if "STRONG" in code.modifiers else 0
    constant = _READ_ONLY if code.opcode == "LDG" and "CONSTANT" in code.modifiers else 0
    return strong | constant | (_RETURNS if returns else 0)


def _loads_of_atomics(codes: Sequence[Instruction]) -> set[int]:
    """Addresses of the loads that belong to an atomic operation which the assembler made a loop of.

    Shared memory adds no floats by itself: the loop loads a value, computes the new one, and swaps it in if
    nothing else has come in between (`ATOMS.CAST.SPIN`), or else begins anew.
    """
    casts = [one for one in codes if one.opcode == "ATOMS" and "CAST" in one.modifiers]
    loops = [
        (label.address, one.address)
        for one in codes
        for label in one.operands
        if isinstance(label, Label) and label.address <= one.address
    ]
    found: set[int] = set()
    for cast in casts:
        place, expected = cast.operands[1:3]
        begins = [start for start, end in loops if start <= cast.address <= end]
        found |= {
            one.address
            for one in codes
            if one.opcode == "LDS"
            and max(begins, default=cast.address) <= one.address < cast.address
            and one.operands == (expected, place)
        }
    return found
