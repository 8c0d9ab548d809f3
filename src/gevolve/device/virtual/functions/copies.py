"""Functions that copy and fill memory."""

import struct

from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.objects import Stream

_HOST, _DEVICE, _ARRAY, _UNIFIED = 1, 2, 3, 4
"""Where one end of a copy is: `CUmemorytype`."""
_COPY, _FILL = 1, 2
"""Kinds of nodes: `CUgraphNodeType`."""


# --- copies --------------------------------------------------------------------------------------


def _copy(gpu: VirtualGpu, stream: Stream | None, to: int, source: int, size: int) -> None:
    stream = stream or gpu.find(Stream, 0)
    gpu.submit(stream, _COPY, lambda: gpu.copy(to, source, size))


def _on_device(gpu: VirtualGpu, size: int, *addresses: int) -> None:
    for address in addresses:
        gpu.memory.check(address, size)


@call("cuMemcpyHtoD", "pan")
def upload(gpu: VirtualGpu, to: int, source: int, size: int) -> None:
    _on_device(gpu, size, to)
    _copy(gpu, None, to, source, size)


@call("cuMemcpyDtoH", "apn")
def download(gpu: VirtualGpu, to: int, source: int, size: int) -> None:
    _on_device(gpu, size, source)
    _copy(gpu, None, to, source, size)


@call("cuMemcpyDtoD", "ppn")
def copy_on_device(gpu: VirtualGpu, to: int, source: int, size: int) -> None:
    _on_device(gpu, size, to, source)
    _copy(gpu, None, to, source, size)


@call("cuMemcpy", "ppn")
def copy(gpu: VirtualGpu, to: int, source: int, size: int) -> None:
    _copy(gpu, None, to, source, size)


@call("cuMemcpyHtoDAsync", "pans")
def upload_async(gpu: VirtualGpu, to: int, source: int, size: int, stream: Stream) -> None:
    _on_device(gpu, size, to)
    _copy(gpu, stream, to, source, size)


@call("cuMemcpyDtoHAsync", "apns")
def download_async(gpu: VirtualGpu, to: int, source: int, size: int, stream: Stream) -> None:
    _on_device(gpu, size, source)
    _copy(gpu, stream, to, source, size)


@call("cuMemcpyDtoDAsync", "ppns")
def copy_on_device_async(gpu: VirtualGpu, to: int, source: int, size: int, stream: Stream) -> None:
    _on_device(gpu, size, to, source)
    _copy(gpu, stream, to, source, size)


@call("cuMemcpyAsync", "ppns")
def copy_async(gpu: VirtualGpu, to: int, source: int, size: int, stream: Stream) -> None:
    _copy(gpu, stream, to, source, size)


@call("cuMemcpy2D", "a")
@call("cuMemcpy2DUnaligned", "a")
def copy_rows(gpu: VirtualGpu, what: int) -> None:
    copy_rows_async(gpu, what, gpu.find(Stream, 0))


@call("cuMemcpy2DAsync", "as")
def copy_rows_async(gpu: VirtualGpu, what: int, stream: Stream) -> None:
    rows = box_2d(gpu, what)
    gpu.submit(stream, _COPY, lambda: copy_box(gpu, rows))


@call("cuMemcpy3D", "a")
def copy_layers(gpu: VirtualGpu, what: int) -> None:
    copy_layers_async(gpu, what, gpu.find(Stream, 0))


@call("cuMemcpy3DAsync", "as")
def copy_layers_async(gpu: VirtualGpu, what: int, stream: Stream) -> None:
    rows = box_3d(gpu, what)
    gpu.submit(stream, _COPY, lambda: copy_box(gpu, rows))


Rows = list[tuple[int, int, int]]
"""What a copy of a box is: where each row goes, where it comes from, and its bytes."""


def copy_box(gpu: VirtualGpu, rows: Rows) -> None:
    for to, source, size in rows:
        gpu.copy(to, source, size)


def _base(kind: int, host: int, device: int) -> int:
    """Where one end of a copy is; arrays, which textures are made of, are not there."""
    if kind & 0xFFFFFFFF not in {_HOST, _DEVICE, _UNIFIED}:
        raise Fault(Code.NOT_SUPPORTED if kind & 0xFFFFFFFF == _ARRAY else Code.INVALID_VALUE)
    return host if kind & 0xFFFFFFFF == _HOST else device


def box_2d(gpu: VirtualGpu, what: int) -> Rows:
    """The rows of a `CUDA_MEMCPY2D`."""
    if not what:
        raise Fault(Code.INVALID_VALUE)
    words = struct.unpack("<16Q", gpu.program.read(what, 128))
    width, height = words[14:]
    ends: list[tuple[int, int]] = []
    for x, y, kind, host, device, _, pitch in (words[7:14], words[:7]):
        if height > 1 and pitch and pitch < width:
            raise Fault(Code.INVALID_VALUE)
        pitch = pitch or width  # noqa: PLW2901
        ends.append((_base(kind, host, device) + x + y * pitch, pitch))
    (to, wide), (source, long) = ends
    return [(to + row * wide, source + row * long, width) for row in range(height)]


def box_3d(gpu: VirtualGpu, what: int) -> Rows:
    """The rows of a `CUDA_MEMCPY3D`."""
    if not what:
        raise Fault(Code.INVALID_VALUE)
    words = struct.unpack("<25Q", gpu.program.read(what, 200))
    width, height, depth = words[22:]
    ends: list[tuple[int, int, int]] = []
    for x, y, z, _, kind, host, device, _, _, pitch, rows in (words[11:22], words[:11]):
        pitch, rows = pitch or width, rows or height  # noqa: PLW2901
        if pitch < width and height > 1:
            raise Fault(Code.INVALID_VALUE)
        ends.append((_base(kind, host, device) + x + (y + z * rows) * pitch, pitch, pitch * rows))
    (to, wide, thick), (source, long, deep) = ends
    return [
        (to + row * wide + layer * thick, source + row * long + layer * deep, width)
        for layer in range(depth)
        for row in range(height)
    ]


# --- fills ---------------------------------------------------------------------------------------


def fill(gpu: VirtualGpu, to: int, value: int, size: int, count: int) -> None:
    """Write a value of so many bytes, again and again."""
    if gpu.dry:
        return
    gpu.memory.fill(to, value.to_bytes(size, "little"), count)


def _fill(gpu: VirtualGpu, stream: Stream | None, to: int, value: int, size: int, n: int) -> None:
    if to % size:
        raise Fault(Code.INVALID_VALUE)
    gpu.memory.check(to, size * n)
    gpu.submit(stream or gpu.find(Stream, 0), _FILL, lambda: fill(gpu, to, value, size, n))


@call("cuMemsetD8", "pbn")
def fill_8(gpu: VirtualGpu, to: int, value: int, count: int) -> None:
    _fill(gpu, None, to, value, 1, count)


@call("cuMemsetD16", "pwn")
def fill_16(gpu: VirtualGpu, to: int, value: int, count: int) -> None:
    _fill(gpu, None, to, value, 2, count)


@call("cuMemsetD32", "pin")
def fill_32(gpu: VirtualGpu, to: int, value: int, count: int) -> None:
    _fill(gpu, None, to, value, 4, count)


@call("cuMemsetD8Async", "pbns")
def fill_8_async(gpu: VirtualGpu, to: int, value: int, count: int, stream: Stream) -> None:
    _fill(gpu, stream, to, value, 1, count)


@call("cuMemsetD16Async", "pwns")
def fill_16_async(gpu: VirtualGpu, to: int, value: int, count: int, stream: Stream) -> None:
    _fill(gpu, stream, to, value, 2, count)


@call("cuMemsetD32Async", "pins")
def fill_32_async(gpu: VirtualGpu, to: int, value: int, count: int, stream: Stream) -> None:
    _fill(gpu, stream, to, value, 4, count)


def fill_rows(
    gpu: VirtualGpu, to: int, pitch: int, value: int, size: int, width: int, height: int
) -> None:
    for row in range(height):
        fill(gpu, to + row * pitch, value, size, width)


@call("cuMemsetD2D8", "pnbnn")
def fill_rows_8(gpu: VirtualGpu, to: int, pitch: int, value: int, width: int, height: int) -> None:
    fill_rows(gpu, to, pitch, value, 1, width, height)


@call("cuMemsetD2D32", "pninn")
def fill_rows_32(gpu: VirtualGpu, to: int, pitch: int, value: int, width: int, height: int) -> None:
    fill_rows(gpu, to, pitch, value, 4, width, height)
