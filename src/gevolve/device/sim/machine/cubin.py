"""A cubin: kernels, functions, constants and variables of one module for one architecture.

    cubin = read(assemble(ptx, "sm_80"))
    cubin.kernels["saxpy"].instructions

All code of a module lies in one space of addresses: kernels first, then functions, each at its `start`.
So a call, a return address and a function pointer name one place, whichever kernel runs. Functions
that are defined nowhere (``vprintf``) have an address behind all code.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gevolve.device.sim.machine import elf, lines
from gevolve.device.sim.machine.decode import decode
from gevolve.device.sim.machine.elf import Elf, Relocation, Section, Symbol
from gevolve.device.sim.machine.instruction import Instruction
from gevolve.device.sim.machine.relocate import relocate

_FUNCTION = 2
_VARIABLE = 1
_ENTRY = 0x10
_ALIGN = 128
_NEW_ABI = 8
_CONSTANT = ".nv.constant"

# Attributes of .nv.info: what the compiler tells the driver.
_PARAM_CBANK, _KPARAM_INFO, _CBANK_PARAM_SIZE = 0x0A, 0x17, 0x19
_MAX_THREADS, _REQNTID = 0x05, 0x10
_FRAME_SIZE, _MIN_STACK_SIZE, _REGCOUNT = 0x11, 0x12, 0x2F
_NUM_BARRIERS = 0x4C

UNBOUNDED = 1 << 24
"""No kernel needs so much local memory; the compiler says more where functions recurse."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel; `offset` counts from the first one."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Function:
    """Code that is called; `stack` is what one call takes of a thread's local memory, in bytes."""

    name: str
    start: int
    instructions: tuple[Instruction, ...]
    registers: int
    stack: int
    calls: frozenset[str]
    """Functions with a place of their own whose address it names, defined here or not.

    Most functions lie in the kernels that call them; those that are called by a pointer do not, and any
    of them may be what a pointer names.
    """


@dataclass(frozen=True, slots=True)
class Kernel(Function):
    """Code that is launched. Sizes are in bytes."""

    shared: int
    """Of one block; what a launch asks for comes on top."""
    local: int
    """Of one thread, with the functions that it calls; 0, or as much as `UNBOUNDED`, if these recurse."""
    parameters: tuple[Parameter, ...]
    parameter_base: int
    """Where they begin in constant bank 0."""
    parameter_size: int
    barriers: int
    """Block barriers that it uses."""
    max_threads: int | None
    """Of a block, if the source says so."""
    constants: Mapping[int, bytes]
    """Content of each constant bank; bank 0 is zeros as long as it is read."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that outlives a launch, by its place in a section of `Cubin.data`."""

    name: str
    section: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Cubin:
    """A module."""

    arch: str
    kernels: Mapping[str, Kernel]
    functions: Mapping[str, Function]
    externals: Mapping[str, int]
    """Addresses given to functions that are defined nowhere."""
    variables: Mapping[str, Variable]
    data: Mapping[str, bytes]
    """Sections that hold variables, as they are before the first launch."""
    relocations: tuple[Relocation, ...]
    """Of code and data; all are applied."""


def read(data: bytes, places: Mapping[str, int] | None = None) -> Cubin:
    """The module in a cubin.

    `places` are addresses in memory of sections with variables (``.nv.global``, ``.nv.global.init``);
    a section that is not among them is put at 0.
    """
    file = elf.read(data)
    arch = architecture(file)
    info = {
        s.name: list(_attributes(s.data)) for s in file.sections if s.name.startswith(".nv.info")
    }
    code = _code(file)
    after = max((start + _aligned(len(s.data)) for s, start in code.values()), default=0)
    missing = dict.fromkeys(
        r.symbol.name
        for r in file.relocations
        if not r.symbol.section and r.symbol.name and r.symbol.type == _FUNCTION
    )
    externals = {name: after + _ALIGN * n for n, name in enumerate(missing)}
    homes = {section.name: start for section, start in code.values()} | dict(places or {})

    def address(symbol: Symbol) -> int:
        if symbol.name in externals:
            return externals[symbol.name]
        return homes.get(symbol.section, 0) + symbol.value

    wanted = tuple(r for r in file.relocations if _counts(r.section))
    content = _relocated(file, wanted, address)
    table = lines.read(file)
    sizes = _per_symbol(info.get(".nv.info", []), file.symbols)
    kernels: dict[str, Kernel] = {}
    functions: dict[str, Function] = {}
    for symbol, (section, start) in code.items():
        name = symbol.name
        where = table.get(section.name, {})
        count = len(section.data) // 16
        common = Function(
            name,
            start,
            decode(content[section.name], arch, start, lines.spread(where, count)),
            section.info >> 24 or sizes.get((_REGCOUNT, name), 0),
            sizes.get((_FRAME_SIZE, name), 0),
            frozenset(
                r.symbol.name
                for r in wanted
                if r.section == section.name
                and r.symbol.type == _FUNCTION
                and r.symbol.section != section.name
            ),
        )
        if symbol.other & _ENTRY:
            banks = _banks(content, name)
            own = dict(info.get(f".nv.info.{name}", []))
            parameters = [v for k, v in info.get(f".nv.info.{name}", []) if k == _KPARAM_INFO]
            kernels[name] = _kernel(common, file, own, parameters, sizes, banks)
        else:
            functions[name] = common
    return Cubin(
        arch,
        kernels,
        functions,
        externals,
        {
            s.name: Variable(s.name, s.section, s.value, s.size)
            for s in file.symbols
            if s.type == _VARIABLE and s.section
        },
        {
            name: held
            for name, held in content.items()
            if name.startswith((".nv.global", ".nv.constant3"))
        },
        wanted,
    )


def variable_sections(data: bytes) -> list[tuple[str, int]]:
    """The sections of a cubin that hold variables that outlive a block, with their sizes, by name."""
    file = elf.read(data)
    named = {s.section for s in file.symbols if s.type == _VARIABLE and _counts(s.section)}
    return sorted((s.name, len(s.data or bytes(s.size))) for s in file.sections if s.name in named)


def architecture(file: Elf) -> str:
    """Such as ``sm_80``."""
    return f"sm_{file.flags >> 8 & 0xFF if file.abi >= _NEW_ABI else file.flags & 0xFF}"


def _counts(section: str) -> bool:
    return section.startswith((".text.", ".nv.global", _CONSTANT))


def _aligned(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def _code(file: Elf) -> dict[Symbol, tuple[Section, int]]:
    """Every function with its section and its address, kernels first."""
    sections = {s.name: s for s in file.sections}
    found = [s for s in file.symbols if s.type == _FUNCTION and s.section == f".text.{s.name}"]
    placed: dict[Symbol, tuple[Section, int]] = {}
    at = 0
    for symbol in sorted(found, key=lambda s: not s.other & _ENTRY):
        section = sections[symbol.section]
        placed[symbol] = section, at
        at += _aligned(len(section.data))
    return placed


def _relocated(
    file: Elf, wanted: tuple[Relocation, ...], address: Callable[[Symbol], int]
) -> dict[str, bytes]:
    """Content of every section, addresses filled in; zeros where the file has none."""
    content = {s.name: bytearray(s.data or bytes(s.size)) for s in file.sections if _counts(s.name)}
    for relocation in wanted:
        relocate(
            content[relocation.section], relocation, address(relocation.symbol) + relocation.addend
        )
    return {name: bytes(held) for name, held in content.items()}


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Attributes of a section .nv.info; a short value is in the entry, a long one follows it."""
    at = 0
    while at + 4 <= len(data):
        form, key, value = data[at], data[at + 1], data[at + 2 : at + 4]
        at += 4
        if form == 4:
            size = int.from_bytes(value, "little")
            value = data[at : at + size]
            at += size
        yield key, value


def _per_symbol(
    attributes: list[tuple[int, bytes]], symbols: tuple[Symbol, ...]
) -> dict[tuple[int, str], int]:
    """Attributes that give a number to a function, by attribute and name."""
    found: dict[tuple[int, str], int] = {}
    for key, value in attributes:
        if key in {_FRAME_SIZE, _MIN_STACK_SIZE, _REGCOUNT} and len(value) == 8:
            index, number = struct.unpack("<II", value)
            found[key, symbols[index].name] = number
    return found


def _banks(content: Mapping[str, bytes], kernel: str) -> dict[int, bytes]:
    """Constant banks of a kernel: its own, and those that all share."""
    banks: dict[int, bytes] = {}
    for name, held in content.items():
        if name.startswith(_CONSTANT):
            number, _, owner = name.removeprefix(_CONSTANT).partition(".")
            if owner in {"", kernel}:
                banks[int(number)] = held
    return banks


def _kernel(
    common: Function,
    file: Elf,
    own: Mapping[int, bytes],
    parameters: list[bytes],
    sizes: Mapping[tuple[int, str], int],
    banks: dict[int, bytes],
) -> Kernel:
    name = common.name
    shared = next((s.size for s in file.sections if s.name == f".nv.shared.{name}"), 0)
    base, size = struct.unpack("<HH", own[_PARAM_CBANK][4:8]) if _PARAM_CBANK in own else (0, 0)
    limit = own.get(_REQNTID) or own.get(_MAX_THREADS)
    x, y, z = struct.unpack("<III", limit) if limit else (0, 0, 0)
    section = next(s for s in file.sections if s.name == f".text.{name}")
    barriers = own[_NUM_BARRIERS][0] if _NUM_BARRIERS in own else section.flags >> 20 & 0x7F
    return Kernel(
        name,
        common.start,
        common.instructions,
        common.registers,
        common.stack,
        common.calls,
        shared=shared,
        local=_stack(common, file, sizes),
        parameters=tuple(sorted(map(_parameter, parameters), key=lambda p: p.offset)),
        parameter_base=base,
        parameter_size=size,
        barriers=barriers,
        max_threads=x * y * z or None,
        constants=banks,
    )


def _stack(kernel: Function, file: Elf, sizes: Mapping[tuple[int, str], int]) -> int:
    """Bytes of a thread's stack. Where functions recurse the compiler counts the kernel's own alone."""
    known = sizes.get((_MIN_STACK_SIZE, kernel.name), kernel.stack)
    within = f".text.{kernel.name}"
    called = (s.name for s in file.symbols if s.section == within and s.name != kernel.name)
    least = kernel.stack + max((sizes.get((_FRAME_SIZE, name), 0) for name in called), default=0)
    return known if known >= least else UNBOUNDED


def _parameter(value: bytes) -> Parameter:
    _, _, offset, rest = struct.unpack("<IHHI", value)
    return Parameter(offset, rest >> 18)
