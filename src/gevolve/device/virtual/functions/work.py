"""Functions about streams, events and launches."""

import struct

from gevolve.device.sim.arguments import MAX_BLOCK, MAX_GRID
from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.functions.code import most_threads
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.objects import Capture, Context, Event, Function, Graph, Stream
from gevolve.device.virtual.wire import HostCall

KERNEL, HOST, RECORD = 0, 3, 7
"""Kinds of nodes: `CUgraphNodeType`."""
_NO_TIMING, _EXTERNAL = 2, 1
_BUFFER, _BUFFER_SIZE = 1, 2
"""Keys of what a launch is given besides its parameters."""
Shape = tuple[int, int, int]


# --- streams -------------------------------------------------------------------------------------


@call("cuStreamCreate", "Hi")
def create(gpu: VirtualGpu, flags: int) -> Stream:
    if flags not in {0, 1}:
        raise Fault(Code.INVALID_VALUE)
    return gpu.add(Stream(context=gpu.context, flags=flags))


@call("cuStreamCreateWithPriority", "Hij")
def create_with_priority(gpu: VirtualGpu, flags: int, priority: int) -> Stream:
    made = create(gpu, flags)
    made.priority = max(-5, min(priority, 0))
    return made


@call("cuStreamDestroy", "s", context=None)
def destroy(gpu: VirtualGpu, stream: Stream) -> None:
    if stream.handle <= 2:
        raise Fault(Code.INVALID_HANDLE)
    gpu.remove(stream)


@call("cuStreamSynchronize", "s")
@call("cuStreamQuery", "s")
def synchronize(_: VirtualGpu, stream: Stream) -> None:
    if stream.capture is not None:
        stream.capture.broken = True
        raise Fault(Code.STREAM_CAPTURE_UNSUPPORTED)


@call("cuStreamGetFlags", "sI")
def flags(_: VirtualGpu, stream: Stream) -> int:
    return stream.flags


@call("cuStreamGetPriority", "sI")
def priority(_: VirtualGpu, stream: Stream) -> int:
    return stream.priority


@call("cuStreamGetId", "sN")
def identity(_: VirtualGpu, stream: Stream) -> int:
    return stream.handle


@call("cuStreamGetCtx", "sH")
def context_of(gpu: VirtualGpu, stream: Stream) -> Context:
    return stream.context or gpu.context


@call("cuStreamGetDevice", "sI")
def device_of(_: VirtualGpu, __: Stream) -> int:
    return 0


@call("cuStreamWaitEvent", "sei")
def wait(_: VirtualGpu, stream: Stream, event: Event, __: int) -> None:
    """What the event comes after is done; in a capture, the stream joins the one of the event."""
    if event.captured is None:
        if stream.capture is not None and event.position is None:
            return
        if stream.capture is not None:
            raise Fault(Code.STREAM_CAPTURE_ISOLATION)
        return
    capture, nodes = event.captured
    if stream.capture not in {None, capture}:
        raise Fault(Code.STREAM_CAPTURE_MERGE)
    stream.capture = capture
    stream.last = list(dict.fromkeys([*stream.last, *nodes]))


@call("cuLaunchHostFunc", "saa")
def host_function(gpu: VirtualGpu, stream: Stream, function: int, argument: int) -> None:
    if not function:
        raise Fault(Code.INVALID_VALUE)
    gpu.submit(stream, HOST, lambda: HostCall(function, argument))


@call("cuStreamAddCallback", "saai")
def callback(gpu: VirtualGpu, stream: Stream, function: int, argument: int, _: int) -> None:
    if not function:
        raise Fault(Code.INVALID_VALUE)
    gpu.submit(stream, HOST, lambda: HostCall(function, stream.handle, argument))


# --- captures ------------------------------------------------------------------------------------


@call("cuStreamBeginCapture", "s")
def begin_capture(gpu: VirtualGpu, stream: Stream) -> None:
    if stream.capture is not None:
        raise Fault(Code.ILLEGAL_STATE)
    if stream.handle == 1:
        raise Fault(Code.STREAM_CAPTURE_IMPLICIT)
    gpu.captures += 1
    stream.capture, stream.last = Capture(gpu.add(Graph()), stream, gpu.captures), []


@call("cuStreamEndCapture", "sH")
def end_capture(gpu: VirtualGpu, stream: Stream) -> Graph:
    capture = stream.capture
    if capture is None:
        raise Fault(Code.ILLEGAL_STATE)
    if capture.origin is not stream:
        raise Fault(Code.STREAM_CAPTURE_UNMATCHED)
    gpu.end(capture)
    if capture.broken:
        raise Fault(Code.STREAM_CAPTURE_INVALIDATED)
    return capture.graph


@call("cuStreamIsCapturing", "sI")
def is_capturing(_: VirtualGpu, stream: Stream) -> int:
    return 0 if stream.capture is None else 2 if stream.capture.broken else 1


@call("cuStreamGetCaptureInfo", "sIN?")
def capture_info(gpu: VirtualGpu, stream: Stream) -> tuple[int, int]:
    return is_capturing(gpu, stream), stream.capture.number if stream.capture else 0


@call("cuStreamGetCaptureInfo_v2", "sIN?H?aN?")
@call("cuStreamGetCaptureInfo_v3", "sIN?H?aaN?")
def capture_info_2(
    gpu: VirtualGpu, stream: Stream, *places: int
) -> tuple[int, int, Graph | int, int]:
    if any(places):  # where the nodes that come before would be told
        raise Fault(Code.NOT_SUPPORTED)
    graph = stream.capture.graph if stream.capture else 0
    return *capture_info(gpu, stream), graph, 0


@call("cuThreadExchangeStreamCaptureMode", "a")
def capture_mode(_: VirtualGpu, __: int) -> None:
    """Nothing that a program does elsewhere disturbs a capture."""


# --- events --------------------------------------------------------------------------------------


@call("cuEventCreate", "Hi")
def create_event(gpu: VirtualGpu, flags: int) -> Event:
    if flags & ~7:
        raise Fault(Code.INVALID_VALUE)
    return gpu.add(Event(flags=flags))


@call("cuEventDestroy", "e", context=None)
def destroy_event(gpu: VirtualGpu, event: Event) -> None:
    gpu.remove(event)


def note(gpu: VirtualGpu, event: Event) -> None:
    """The work before an event is done."""
    event.position, event.captured = gpu.launches, None


@call("cuEventRecord", "es")
def record(gpu: VirtualGpu, event: Event, stream: Stream) -> None:
    if stream.capture is not None:
        event.captured = (stream.capture, list(stream.last))
    else:
        note(gpu, event)


@call("cuEventRecordWithFlags", "esi")
def record_with_flags(gpu: VirtualGpu, event: Event, stream: Stream, flags: int) -> None:
    if flags & _EXTERNAL and stream.capture is not None:
        gpu.submit(stream, RECORD, lambda: note(gpu, event), event)
    else:
        record(gpu, event, stream)


@call("cuEventSynchronize", "e")
@call("cuEventQuery", "e")
def event_is_over(_: VirtualGpu, event: Event) -> None:
    if event.captured is not None:
        raise Fault(Code.CAPTURED_EVENT)


@call("cuEventElapsedTime", "Fee")
def elapsed(gpu: VirtualGpu, first: Event, last: Event) -> float:
    """Milliseconds of the machine between two events."""
    if first.position is None or last.position is None or (first.flags | last.flags) & _NO_TIMING:
        raise Fault(Code.INVALID_HANDLE)
    ends = sorted((first.position, last.position))
    took = gpu.cycles(*ends) / (gpu.table.clock * 1e3)
    return took if first.position <= last.position else -took


# --- launches ------------------------------------------------------------------------------------


@call("cuLaunchKernel", "fiiiiiiisaa")
def launch(
    gpu: VirtualGpu,
    kernel: Function,
    x: int, y: int, z: int, wide: int, high: int, deep: int,
    shared: int, stream: Stream, params: int, extra: int,
) -> None:  # fmt: skip
    queue(gpu, kernel, (x, y, z), (wide, high, deep), shared, stream, params, extra)


@call("cuLaunchKernelEx", "afaa")
def launch_ex(gpu: VirtualGpu, config: int, kernel: Function, params: int, extra: int) -> None:
    if not config:
        raise Fault(Code.INVALID_VALUE)
    words = struct.unpack("<7I4xQQI4x", gpu.program.read(config, 56))
    stream = gpu.find(Stream, words[7])
    queue(gpu, kernel, words[:3], words[3:6], words[6], stream, params, extra)


def queue(
    gpu: VirtualGpu,
    kernel: Function,
    grid: Shape,
    block: Shape,
    shared: int,
    stream: Stream,
    params: int,
    extra: int,
) -> None:
    """Check a launch and submit it."""
    data = ready(gpu, kernel, grid, block, shared, params, extra)
    gpu.submit(stream, KERNEL, lambda: gpu.launch(kernel, grid, block, shared, data), kernel)


def ready(
    gpu: VirtualGpu,
    kernel: Function,
    grid: Shape,
    block: Shape,
    shared: int,
    params: int,
    extra: int,
) -> bytes:
    """The parameters of a launch; a fault if it asks for what the GPU does not have."""
    for shape, most in ((grid, MAX_GRID), (block, MAX_BLOCK)):
        if not all(0 < size <= limit for size, limit in zip(shape, most, strict=True)):
            raise Fault(Code.INVALID_VALUE)
    threads = block[0] * block[1] * block[2]
    if threads > 1024 or shared > kernel.most_dynamic:
        raise Fault(Code.INVALID_VALUE)
    if threads > most_threads(gpu, kernel):
        raise Fault(Code.LAUNCH_OUT_OF_RESOURCES)
    source = kernel.kernel.source
    if params:
        parts = gpu.program.gather(params, [one.size for one in source.parameters])
        out = bytearray(source.parameter_size)
        for one, part in zip(source.parameters, parts, strict=True):
            out[one.offset : one.offset + one.size] = part
        return bytes(out)
    if extra:
        return _packed(gpu, extra, source.parameter_size)
    if source.parameters:
        raise Fault(Code.INVALID_VALUE)
    return b""


def _packed(gpu: VirtualGpu, extra: int, wanted: int) -> bytes:
    """Parameters that the program has laid out itself."""
    address = size = 0
    while key := int.from_bytes(gpu.program.read(extra, 8), "little"):
        value = int.from_bytes(gpu.program.read(extra + 8, 8), "little")
        if key == _BUFFER:
            address = value
        elif key == _BUFFER_SIZE:
            size = int.from_bytes(gpu.program.read(value, 8), "little")
        else:
            raise Fault(Code.INVALID_VALUE)
        extra += 16
    if not address or size < wanted:
        raise Fault(Code.INVALID_VALUE)
    return gpu.program.read(address, size)[:wanted]
