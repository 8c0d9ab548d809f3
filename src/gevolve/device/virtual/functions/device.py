"""Functions about the driver itself, the device and contexts."""

import hashlib
import struct

from gevolve.device.virtual.attributes import LAST, attributes, capability
from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.names import DRIVER, number_of, resolve
from gevolve.device.virtual.objects import Context, Pool

_LIMITS = {0: 1024, 1: 1 << 20, 2: 8 << 20, 3: 2, 4: 2048, 5: 128, 6: 0}
"""Stack, printf buffer, heap, depth and launches of kernels that launch kernels, fetches of L2."""
_FOUND, _NOT_FOUND = 0, 1
_OF_THE_RUNTIME = bytes.fromhex("6bd5fb6c5bf4e74a8987d93912fd9df9")
"""The table that the CUDA runtime asks for when it starts."""


@call("cuInit", "i", context=False, started=False)
def start(gpu: VirtualGpu, flags: int) -> None:
    if flags:
        raise Fault(Code.INVALID_VALUE)
    gpu.started = True


@call("cuDriverGetVersion", "I", context=False, started=False)
def version(_: VirtualGpu) -> int:
    return DRIVER


@call("cuGetProcAddress", "taj", context=False, started=False)
def find_function(gpu: VirtualGpu, name: str, to: int, wanted: int) -> None:
    """The form before CUDA 12, which has nothing to say about why a symbol is not found."""
    found = resolve(name, wanted)
    if not to:
        raise Fault(Code.INVALID_VALUE)
    if found is None:
        gpu.program.write(to, bytes(8))
        raise Fault(Code.NOT_FOUND)
    gpu.program.symbol(to, number_of(found))


@call("cuGetProcAddress_v2", "tajna", context=False, started=False)
def find_function_2(gpu: VirtualGpu, name: str, to: int, wanted: int, _: int, why: int) -> None:
    found = resolve(name, wanted)
    if why:
        gpu.program.write(why, struct.pack("<i", _FOUND if found else _NOT_FOUND))
    find_function(gpu, name, to, wanted)


@call("cuGetExportTable", "aa", context=False, started=False)
def export_table(gpu: VirtualGpu, to: int, id_: int) -> None:
    """Tables of functions that NVIDIA does not document. Its CUDA runtime needs them, other libraries do without."""
    if not to or not id_:
        raise Fault(Code.INVALID_VALUE)
    if gpu.program.read(id_, 16) == _OF_THE_RUNTIME:
        gpu.say(
            "this program uses the CUDA runtime (libcudart), which runs on NVIDIA's own driver only;"
            " programs of the driver API run here"
        )
    raise Fault(Code.NOT_FOUND)


# --- the device ----------------------------------------------------------------------------------


@call("cuDeviceGetCount", "I", context=False)
def count(_: VirtualGpu) -> int:
    return 1


@call("cuDeviceGet", "Ij", context=False)
def get(_: VirtualGpu, ordinal: int) -> int:
    if ordinal:
        raise Fault(Code.INVALID_DEVICE)
    return 0


@call("cuDeviceGetName", "ajd", context=False)
def name(gpu: VirtualGpu, to: int, length: int, _: int) -> None:
    if not to or length < 1:
        raise Fault(Code.INVALID_VALUE)
    gpu.program.write(to, gpu.table.title.encode()[: length - 1] + b"\0")


@call("cuDeviceTotalMem", "Nd", context=False)
def total_memory(gpu: VirtualGpu, _: int) -> int:
    return gpu.memory.total


@call("cuDeviceGetAttribute", "Ijd", context=False)
def attribute(gpu: VirtualGpu, key: int, _: int) -> int:
    if not 0 < key <= LAST:
        raise Fault(Code.INVALID_VALUE)
    return attributes(gpu.table).get(key, 0)


@call("cuDeviceComputeCapability", "IId", context=False)
def compute_capability(gpu: VirtualGpu, _: int) -> tuple[int, int]:
    return capability(gpu.table)


@call("cuDeviceGetUuid", "ad", context=False)
def uuid(gpu: VirtualGpu, to: int, _: int) -> None:
    if not to:
        raise Fault(Code.INVALID_VALUE)
    gpu.program.write(to, hashlib.sha256(gpu.table.title.encode()).digest()[:16])


@call("cuDeviceGetPCIBusId", "ajd", context=False)
def pci_bus(gpu: VirtualGpu, to: int, length: int, _: int) -> None:
    if not to or length < 1:
        raise Fault(Code.INVALID_VALUE)
    gpu.program.write(to, b"0000:01:00.0"[: length - 1] + b"\0")


@call("cuDeviceCanAccessPeer", "Idd", context=False)
def can_access_peer(_: VirtualGpu, __: int, ___: int) -> int:
    return 0


@call("cuDeviceGetDefaultMemPool", "Hd", context=False)
def default_pool(gpu: VirtualGpu, _: int) -> Pool:
    return gpu.pool


@call("cuDeviceGetMemPool", "Hd", context=False)
def pool(gpu: VirtualGpu, _: int) -> Pool:
    return gpu.pool


@call("cuDeviceSetMemPool", "do", context=False)
def set_pool(gpu: VirtualGpu, _: int, chosen: Pool) -> None:
    gpu.pool = chosen


# --- contexts ------------------------------------------------------------------------------------


@call("cuDevicePrimaryCtxRetain", "Hd", context=False)
def retain(gpu: VirtualGpu, _: int) -> Context:
    if gpu.primary is None:
        gpu.primary = gpu.add(Context(primary=True))
    gpu.primary.active = True
    gpu.retained += 1
    return gpu.primary


@call("cuDevicePrimaryCtxRelease", "d", context=False)
def release(gpu: VirtualGpu, _: int) -> None:
    if not gpu.retained:
        raise Fault(Code.INVALID_CONTEXT)
    gpu.retained -= 1
    if not gpu.retained:
        reset(gpu, 0)


@call("cuDevicePrimaryCtxReset", "d", context=False)
def reset(gpu: VirtualGpu, _: int) -> None:
    if gpu.primary is not None:
        gpu.primary.active, gpu.primary.broken = False, None
        gpu.primary.limits.clear()


@call("cuDevicePrimaryCtxGetState", "dII", context=False)
def state(gpu: VirtualGpu, _: int) -> tuple[int, int]:
    one = gpu.primary or Context(active=False)
    return one.flags, int(one.active)


@call("cuDevicePrimaryCtxSetFlags", "di", context=False)
def set_primary_flags(gpu: VirtualGpu, _: int, flags: int) -> None:
    if gpu.primary is not None:
        gpu.primary.flags = flags


@call("cuCtxCreate", "Hid", context=False)
def create(gpu: VirtualGpu, flags: int, _: int) -> Context:
    made = gpu.add(Context(flags=flags))
    gpu.stack.append(made)
    return made


@call("cuCtxCreate_v3", "Hanid", context=False)
def create_3(gpu: VirtualGpu, _: int, __: int, flags: int, device: int) -> Context:
    return create(gpu, flags, device)


@call("cuCtxCreate_v4", "Haid", context=False)
def create_4(gpu: VirtualGpu, _: int, flags: int, device: int) -> Context:
    return create(gpu, flags, device)


@call("cuCtxDestroy", "c", context=False)
def destroy(gpu: VirtualGpu, context: Context) -> None:
    gpu.forget(context)


@call("cuCtxSetCurrent", "c?", context=False)
def set_current(gpu: VirtualGpu, context: Context | None) -> None:
    if gpu.stack:
        gpu.stack.pop()
    if context is not None:
        gpu.stack.append(context)


@call("cuCtxGetCurrent", "H", context=False)
def get_current(gpu: VirtualGpu) -> Context | int:
    return gpu.stack[-1] if gpu.stack else 0


@call("cuCtxPushCurrent", "c", context=False)
def push(gpu: VirtualGpu, context: Context) -> None:
    gpu.stack.append(context)


@call("cuCtxPopCurrent", "H?", context=False)
def pop(gpu: VirtualGpu) -> Context:
    if not gpu.stack:
        raise Fault(Code.INVALID_CONTEXT)
    return gpu.stack.pop()


@call("cuCtxGetDevice", "I")
def device(_: VirtualGpu) -> int:
    return 0


@call("cuCtxGetApiVersion", "c?I", context=False)
def api_version(_: VirtualGpu, __: Context | None) -> int:
    return 3020


@call("cuCtxGetFlags", "I")
def flags(gpu: VirtualGpu) -> int:
    return gpu.context.flags


@call("cuCtxGetId", "c?N")
def identity(gpu: VirtualGpu, context: Context | None) -> int:
    return (context or gpu.context).handle


@call("cuCtxSynchronize")
def synchronize(_: VirtualGpu) -> None:
    """All work is done when it is submitted."""


@call("cuCtxGetLimit", "Ni")
def get_limit(gpu: VirtualGpu, key: int) -> int:
    if key not in _LIMITS:
        raise Fault(Code.UNSUPPORTED_LIMIT)
    return gpu.context.limits.get(key, _LIMITS[key])


@call("cuCtxSetLimit", "in")
def set_limit(gpu: VirtualGpu, key: int, value: int) -> None:
    if key not in _LIMITS:
        raise Fault(Code.UNSUPPORTED_LIMIT)
    gpu.context.limits[key] = value


@call("cuCtxGetStreamPriorityRange", "I?I?")
def priorities(_: VirtualGpu) -> tuple[int, int]:
    return 0, -5


@call("cuCtxSetCacheConfig", "i")
def set_cache(_: VirtualGpu, __: int) -> None:
    """A preference, which has no effect."""


@call("cuCtxGetCacheConfig", "I")
def get_cache(_: VirtualGpu) -> int:
    return 0


@call("cuProfilerStart")
@call("cuProfilerStop")
def profile(_: VirtualGpu) -> None:
    """No profiler is there to be told."""
