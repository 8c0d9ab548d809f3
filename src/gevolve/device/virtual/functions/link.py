"""Functions that link pieces of code, and what the options of compilers ask for."""

import struct

from gevolve.device.sim.machine.assemble import link as link_pieces
from gevolve.device.sim.memory import view
from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.objects import Linker
from gevolve.errors import CompileError

_LOG, _LOG_SIZE = 5, 6
"""Options of the compiler: where errors are written, and how much room is there."""
_KINDS = {0: 1, 1: 2, 2: 4, 3: 5, 4: 6}
"""Kinds of pieces, as NVIDIA's linker numbers them: cubin, PTX, fat binary, object, library."""
_PTX = 1


def log_of(gpu: VirtualGpu, count: int, options: int, values: int) -> tuple[int, int]:
    """Where a compiler's errors go, and how much room is there; no other option has an effect."""
    if not count:
        return 0, 0
    if not options or not values:
        raise Fault(Code.INVALID_VALUE)
    keys = struct.unpack(f"<{count}i", gpu.program.read(options, 4 * count))
    words = struct.unpack(f"<{count}Q", gpu.program.read(values, 8 * count))
    given = dict(zip(keys, words, strict=True))
    return given.get(_LOG, 0), given.get(_LOG_SIZE, 0) & 0xFFFFFFFF


@call("cuLinkCreate", "iaaH")
def create(gpu: VirtualGpu, count: int, options: int, values: int) -> Linker:
    return gpu.add(Linker(log=log_of(gpu, count, options, values)))


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
        made = link_pieces(linker.pieces, gpu.table.machine.arch)
    except CompileError as error:
        address, room = linker.log
        if address and room:
            gpu.program.write(address, f"error : {error}".encode()[: room - 1] + b"\0")
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
