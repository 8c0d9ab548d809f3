"""A module of machine code made ready to run: decoded and translated; JIT-compiled when first launched.

It has what `SimGpu` and `Memory` ask of a module of PTX (`sim.program.Program`), so that both run alike.

Kernels of PTX are assembled one by one, and one that was assembled before is not assembled again: variants
mostly differ in one kernel. Each then comes with the variables of the module, which must lie alike in all;
where they do not, the module is assembled as a whole.
"""

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from gevolve.device.sim.machine import cubin
from gevolve.device.sim.machine.addresses import ADDRESSES
from gevolve.device.sim.machine.assemble import assemble
from gevolve.device.sim.machine.part import MachineKernel, Part, parameter_types, read_part
from gevolve.device.sim.machine.parts import parts_of
from gevolve.device.sim.memory import PAGE
from gevolve.device.sim.program import Compiled
from gevolve.device.sim.ptx import Variable
from gevolve.device.sim.timing.code import Code
from gevolve.device.sim.timing.gpu import Gpu
from gevolve.device.sim.timing.registers import Registers
from gevolve.device.sim.translate.callgraph import align

_BANKS = 8
_SHARED_WINDOW, _LOCAL_WINDOW, _STACK = 0x18, 0x20, 0x28
"""Where in constant bank 0 kernels find these, and behind the last one the size of dynamic shared memory; the
sizes of block and grid come first."""
_CONSTANTS, _CONSTANTS_OF_HOPPER = 0x50, 0xD0
"""Where they find the generic address of their constants."""
_BANK_OF_CONSTANTS = 3


@dataclass(slots=True)
class MachineProgram:
    """All kernels and variables of one artefact."""

    arch: str
    parts: tuple[Part, ...]
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

    @property
    def fingerprint(self) -> str:
        """A digest of the machine code, which many PTX modules share."""
        return hashlib.sha256(
            " ".join(part.fingerprint for part in self.parts).encode()
        ).hexdigest()

    def fingerprint_of(self, name: str) -> str:
        """A digest of the machine code of a kernel."""
        return self._part(name).fingerprint_of(name)

    def compiled(self, name: str) -> Compiled:
        """Host code of a kernel."""
        return self._part(name).compiled(name)

    def code(self, name: str) -> Code:
        """What the timing model reads of a kernel."""
        return self._part(name).code(name)

    def _part(self, name: str) -> Part:
        return next(part for part in self.parts if name in part.kernels)

    def registers(self, name: str, gpu: Gpu) -> Registers:  # noqa: ARG002  (it was assembled for one)
        """The registers that a thread of a kernel has; what was spilled is in the code."""
        return Registers(self.kernels[name].source.registers, 0)

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
        dynamic: int,
        base: int,
    ) -> bytes:
        """Constant bank 0 of a launch. `windows` are where shared and local memory begin.

        `dynamic` is how much shared memory the launch asks for, in bytes; `base` is where the module lies.
        """
        source = kernel.source
        size = max(source.parameter_base + max(source.parameter_size, len(params)), _STACK + 8)
        out = bytearray(max(size, len(source.constants.get(0, b""))))
        struct.pack_into("<6I", out, 0, *block, *grid)
        struct.pack_into("<2Q2I", out, _SHARED_WINDOW, *windows, kernel.local, dynamic)
        at = _CONSTANTS_OF_HOPPER if self.arch == "sm_90" else _CONSTANTS
        place = self.banks[kernel.name][_BANK_OF_CONSTANTS]
        if place >= 0 and len(out) >= at + 8:
            struct.pack_into("<Q", out, at, base + place)
        out[source.parameter_base : source.parameter_base + len(params)] = params
        return bytes(out)

    def bank_addresses(self, kernel: MachineKernel, bank: int, base: int) -> tuple[int, ...]:
        """Where each constant bank is, bank 0 of the launch being at `bank`."""
        places = self.banks[kernel.name]
        return (bank, *(base + place if place >= 0 else 0 for place in places[1:]))


@lru_cache(maxsize=8)
def load_ptx(ptx: bytes, arch: str, *, registers: int = 0) -> MachineProgram:
    """Assemble PTX, with a limit on registers if any, decode and translate it.

    Raises `UnsupportedError` for what cannot be run.
    """
    text = ptx.decode()
    parts = [_part(part, arch, registers) for part in parts_of(text)]
    if any(_variables(part) != _variables(parts[0]) for part in parts):
        parts = [_part(text, arch, registers)]
    return _joined(parts)


@lru_cache(maxsize=128)
def _part(text: str, arch: str, registers: int) -> Part:
    return read_part(assemble(text, arch, registers=registers), parameter_types(text))


def load(data: bytes, types: Mapping[str, tuple[str, ...]] | None = None) -> MachineProgram:
    """Decode and translate a cubin. `types` are those of parameters (``f32``), where they are known."""
    return _joined([read_part(data, types or {})])


def _variables(part: Part) -> object:
    """All that parts of one module must have in common."""
    return part.starts, part.module.variables, part.module.data


def _joined(parts: Sequence[Part]) -> MachineProgram:
    """A module of parts whose variables lie alike."""
    module, starts = parts[0].module, parts[0].starts
    at = max((place + len(module.data[name]) for name, place in starts.items()), default=0)
    constants = at = align(at, PAGE)
    contents = [(place, module.data[name]) for name, place in starts.items()]
    held: dict[tuple[str, int], int] = {}
    shared: dict[tuple[int, bytes], int] = {}
    pointers: set[int] = set()
    for part in parts:
        own: dict[tuple[str, int], int] = {}
        for kernel in part.module.kernels.values():
            for number, bank in sorted(kernel.constants.items()):
                if not 0 < number < _BANKS:
                    continue
                place = shared.get((number, bank))
                if place is None:
                    place = shared[number, bank] = at = align(at, 256)
                    contents.append((place, bank))
                    at += len(bank)
                own[kernel.name, number] = place
        pointers.update(_pointers(part.module, starts, own))
        if part.addresses:
            place = at = align(at, 256)
            contents.append((place, b"".join(a.to_bytes(8, "little") for a in part.addresses)))
            pointers.update(place + 8 * n for n in range(len(part.addresses)))
            own |= {(name, ADDRESSES): place for name in part.module.kernels}
            at += 8 * len(part.addresses)
        held |= own
    kernels = {name: kernel for part in parts for name, kernel in part.kernels.items()}
    banks = {
        name: tuple(held.get((name, number), -1) for number in range(_BANKS)) for name in kernels
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
        tuple(parts),
        kernels,
        variables,
        places,
        banks,
        tuple(contents),
        tuple(sorted(pointers)),
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
