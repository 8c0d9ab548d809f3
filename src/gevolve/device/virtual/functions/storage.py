"""Functions about memory: allocations of all kinds, what pointers point to, pools."""

import struct

from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.memory import Allocation, Kind
from gevolve.device.virtual.objects import Pool, Stream

_HOST, _DEVICE = 1, 2
_PITCH = 512
_FREE = 11
"""A kind of nodes: `CUgraphNodeType`."""


# --- allocations ---------------------------------------------------------------------------------


def _allocate(gpu: VirtualGpu, size: int, kind: Kind) -> int:
    return gpu.memory.allocate(size, kind, gpu.program).address


def _free(gpu: VirtualGpu, one: Allocation | None, *kinds: Kind) -> None:
    if one is None or one.kind not in kinds:
        raise Fault(Code.INVALID_VALUE)
    gpu.memory.free(one, gpu.program)


@call("cuMemAlloc", "Pn")
def allocate(gpu: VirtualGpu, size: int) -> int:
    return _allocate(gpu, size, "device")


@call("cuMemAllocPitch", "PNnni")
def allocate_rows(gpu: VirtualGpu, width: int, height: int, element: int) -> tuple[int, int]:
    if element not in {4, 8, 16} or not width or not height:
        raise Fault(Code.INVALID_VALUE)
    pitch = -(-width // _PITCH) * _PITCH
    return _allocate(gpu, pitch * height, "device"), pitch


@call("cuMemAllocManaged", "Pni")
def allocate_managed(gpu: VirtualGpu, size: int, flags: int) -> int:
    if flags not in {1, 2}:
        raise Fault(Code.INVALID_VALUE)
    return _allocate(gpu, size, "managed")


@call("cuMemHostAlloc", "Pni")
def allocate_host(gpu: VirtualGpu, size: int, _: int) -> int:
    return _allocate(gpu, size, "host")


@call("cuMemAllocHost", "Pn")
def allocate_host_1(gpu: VirtualGpu, size: int) -> int:
    return _allocate(gpu, size, "host")


@call("cuMemFree", "p", context=None)
def free(gpu: VirtualGpu, address: int) -> None:
    if address:
        _free(gpu, gpu.memory.allocations.get(address), "device", "managed")


@call("cuMemFreeHost", "a", context=None)
def free_host(gpu: VirtualGpu, address: int) -> None:
    _free(gpu, gpu.memory.by_host(address), "host")


@call("cuMemHostRegister", "ani")
def register(gpu: VirtualGpu, address: int, size: int, _: int) -> None:
    gpu.memory.register(address, size, gpu.program)


@call("cuMemHostUnregister", "a", context=None)
def unregister(gpu: VirtualGpu, address: int) -> None:
    one = gpu.memory.by_host(address)
    if one is None or one.kind != "registered":
        raise Fault(Code.HOST_MEMORY_NOT_REGISTERED)
    gpu.memory.free(one, gpu.program)


@call("cuMemHostGetDevicePointer", "Pai")
def device_pointer(gpu: VirtualGpu, address: int, flags: int) -> int:
    one = gpu.memory.holder(address)
    if flags or one is None or not one.host:
        raise Fault(Code.INVALID_VALUE)
    return one.address + address - one.host


@call("cuMemHostGetFlags", "Ia")
def host_flags(gpu: VirtualGpu, address: int) -> int:
    if gpu.memory.by_host(address) is None:
        raise Fault(Code.INVALID_VALUE)
    return 2  # mapped


@call("cuMemGetInfo", "NN")
def info(gpu: VirtualGpu) -> tuple[int, int]:
    return gpu.memory.free_bytes, gpu.memory.total


@call("cuMemGetAddressRange", "P?N?p")
def address_range(gpu: VirtualGpu, address: int) -> tuple[int, int]:
    one = gpu.memory.holder(address)
    if one is None:
        raise Fault(Code.NOT_FOUND)
    return one.address, one.size


@call("cuPointerGetAttribute", "aip", context=False)
def pointer_attribute(gpu: VirtualGpu, to: int, key: int, address: int) -> None:
    one = gpu.memory.holder(address)
    if not to or one is None:
        raise Fault(Code.INVALID_VALUE)
    value = _about(gpu, one, key, address)
    if value is None:
        raise Fault(Code.INVALID_VALUE)
    gpu.program.write(to, value)


@call("cuPointerGetAttributes", "iaap", context=False)
def pointer_attributes(gpu: VirtualGpu, count: int, keys: int, to: int, address: int) -> None:
    """Several attributes of any pointer; those of one that is not known are 0."""
    if not keys or not to:
        raise Fault(Code.INVALID_VALUE)
    one = gpu.memory.holder(address)
    wanted = struct.unpack(f"<{count}i", gpu.program.read(keys, 4 * count))
    places = struct.unpack(f"<{count}Q", gpu.program.read(to, 8 * count))
    for key, place in zip(wanted, places, strict=True):
        value = _about(gpu, one, key, address) if one else bytes(4 if key in _SMALL else 8)
        gpu.program.write(place, value or bytes(4))


_SMALL = {2, 8, 9, 13}
"""Attributes of pointers that have four bytes."""


def _about(gpu: VirtualGpu, one: Allocation, key: int, address: int) -> bytes | None:
    offset = address - (one.address if gpu.memory.is_device(address) else one.host)
    context = gpu.stack[-1].handle if gpu.stack else 0
    host = one.kind in {"host", "registered"}
    small = {2: _HOST if host else _DEVICE, 8: int(one.kind == "managed"), 9: 0, 13: 1}
    large = {1: context, 3: one.address + offset, 11: one.address, 12: one.size, 7: one.mapping}
    if key == 4 and one.host:
        return struct.pack("<Q", one.host + offset)
    if key in small:
        return struct.pack("<i", small[key])
    return struct.pack("<Q", large[key]) if key in large else None


@call("cuPointerSetAttribute", "aip", context=False)
def set_pointer_attribute(gpu: VirtualGpu, _: int, __: int, address: int) -> None:
    gpu.memory.check(address, 1)


# --- managed memory and pools --------------------------------------------------------------------


@call("cuMemPrefetchAsync", "pnis")
def prefetch(gpu: VirtualGpu, address: int, size: int, _: int, __: Stream) -> None:
    gpu.memory.check(address, size)


@call("cuMemPrefetchAsync_v2", "pnnis")
def prefetch_2(gpu: VirtualGpu, address: int, size: int, _: int, __: int, ___: Stream) -> None:
    gpu.memory.check(address, size)


@call("cuMemAdvise", "pnii")
def advise(gpu: VirtualGpu, address: int, size: int, _: int, __: int) -> None:
    gpu.memory.check(address, size)


@call("cuMemAdvise_v2", "pnin")
def advise_2(gpu: VirtualGpu, address: int, size: int, _: int, __: int) -> None:
    gpu.memory.check(address, size)


@call("cuStreamAttachMemAsync", "spni")
def attach(gpu: VirtualGpu, _: Stream, address: int, size: int, __: int) -> None:
    gpu.memory.check(address, max(size, 1))


@call("cuMemPoolCreate", "Ha")
def create_pool(gpu: VirtualGpu, properties: int) -> Pool:
    if not properties:
        raise Fault(Code.INVALID_VALUE)
    return gpu.add(Pool())


@call("cuMemPoolDestroy", "o")
def destroy_pool(gpu: VirtualGpu, pool: Pool) -> None:
    gpu.remove(pool)


@call("cuMemPoolSetAccess", "oan")
def set_access(_: VirtualGpu, __: Pool, ___: int, ____: int) -> None:
    """There is one device."""


@call("cuMemPoolGetAccess", "Iao")
def get_access(_: VirtualGpu, __: int, ___: Pool) -> int:
    return 3  # may read and write


@call("cuMemPoolTrimTo", "on")
def trim(_: VirtualGpu, __: Pool, ___: int) -> None:
    """Nothing is kept that a program has freed."""


_FLAGS = {1, 2, 3}
"""Attributes of pools that are ints; the others are sizes."""


@call("cuMemPoolGetAttribute", "oia")
def pool_attribute(gpu: VirtualGpu, pool: Pool, key: int, to: int) -> None:
    if not to or not 1 <= key <= 8:
        raise Fault(Code.INVALID_VALUE)
    known = {1: 1, 2: 1, 3: 1, 5: gpu.memory.used, 6: gpu.memory.used, 7: gpu.memory.used, 8: gpu.memory.used}  # fmt: skip
    value = pool.attributes.get(key, known.get(key, 0))
    gpu.program.write(to, struct.pack("<i" if key in _FLAGS else "<Q", value))


@call("cuMemPoolSetAttribute", "oia")
def set_pool_attribute(gpu: VirtualGpu, pool: Pool, key: int, value: int) -> None:
    if not value or not 1 <= key <= 8:
        raise Fault(Code.INVALID_VALUE)
    if key not in {6, 8}:  # these two are only reset
        small = key in _FLAGS
        kind, size = ("<i", 4) if small else ("<Q", 8)
        pool.attributes[key] = struct.unpack(kind, gpu.program.read(value, size))[0]


@call("cuMemAllocAsync", "Pns")
def allocate_async(gpu: VirtualGpu, size: int, _: Stream) -> int:
    return _allocate(gpu, size, "device")


@call("cuMemAllocFromPoolAsync", "Pnos")
def allocate_from_pool(gpu: VirtualGpu, size: int, _: Pool, __: Stream) -> int:
    return _allocate(gpu, size, "device")


@call("cuMemFreeAsync", "ps")
def free_async(gpu: VirtualGpu, address: int, stream: Stream) -> None:
    if address not in gpu.memory.allocations:
        raise Fault(Code.INVALID_VALUE)
    gpu.submit(stream, _FREE, lambda: free(gpu, address))
