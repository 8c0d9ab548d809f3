"""Functions that link pieces of code, and what the options of compilers ask for."""

import struct

from gevolve.device.sim.machine.assemble import link as link_pieces
from gevolve.device.sim.memory import view
from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.objects import Linker, Options
from gevolve.errors import CompileError

_REGISTERS, _LOG, _LOG_SIZE = 0, 5, 6
"""Options of the compiler: the most registers, where errors are written, and how much room is there."""
_KINDS = {0: 1, 1: 2, 2: 4, 3: 5, 4: 6}
"""Kinds of pieces, as NVIDIA's linker numbers them: cubin, PTX, fat binary, object, library."""
_PTX = 1


def options_of(gpu: VirtualGpu, count: int, options: int, values: int) -> Options:
    """What a compiler is asked for; options that are not known here have no effect."""
    if not count:
        return Options()
    if not options or not values:
        raise Fault(Code.INVALID_VALUE)
    keys = struct.unpack(f"<{count}i", gpu.program.read(options, 4 * count))
    words = struct.unpack(f"<{count}Q", gpu.program.read(values, 8 * count))
    given = dict(zip(keys, words, strict=True))
    room, registers = (given.get(key, 0) & 0xFFFFFFFF for key in (_LOG_SIZE, _REGISTERS))
    return Options(given.get(_LOG, 0), room, registers)


def tell(gpu: VirtualGpu, options: Options, error: Exception) -> None:
    """Write an error where the program wants to have it."""
    if options.log and options.room:
        gpu.program.write(options.log, str(error).encode()[: options.room - 1] + b"\0")


@call("cuLinkCreate", "iaaH")
def create(gpu: VirtualGpu, count: int, options: int, values: int) -> Linker:
    return gpu.add(Linker(options=options_of(gpu, count, options, values)))


@call("cuLinkAddData", "lian")
def add_data(gpu: VirtualGpu, linker: Linker, kind: int, data: int, size: int) -> None:
    if kind not in _KINDS or not data or not size:
        raise Fault(Code.INVALID_VALUE)
    _add(linker, kind, gpu.program.read(data, size))


@call("cuLinkAddFile", "lit")
def add_file(_: VirtualGpu, linker: Linker, kind: int, path: str) -> None:
    if kind not in _KINDS:
        raise Fault(Code.INVALID_VALUE)
    try:
        with open(path, "rb") as file:  # noqa: PTH123  (a path of the program's, as it says it)
            _add(linker, kind, file.read())
    except OSError:
        raise Fault(Code.FILE_NOT_FOUND) from None


def _add(linker: Linker, kind: int, data: bytes) -> None:
    text = data.rstrip(b"\0") + b"\n" if kind == _PTX else data
    linker.pieces.append((_KINDS[kind], text))


@call("cuLinkComplete", "lPN?")
def complete(gpu: VirtualGpu, linker: Linker) -> tuple[int, int]:
    assert gpu.table.machine is not None
    try:
        made = link_pieces(
            linker.pieces,
            gpu.table.machine.arch,
            registers=linker.options.registers,
        )
    except CompileError as error:
        tell(gpu, linker.options, CompileError(f"error : {error}"))
        raise Fault(Code.INVALID_PTX) from error
    held = gpu.memory.allocate(len(made), "host", gpu.program)
    view(held.address, held.size)[:] = bytearray(made)
    linker.made = held.address
    return held.address, held.size


@call("cuLinkDestroy", "l")
def destroy(gpu: VirtualGpu, linker: Linker) -> None:
    if linker.made:
        gpu.memory.free(gpu.memory.allocations[linker.made], gpu.program)
    gpu.remove(linker)
