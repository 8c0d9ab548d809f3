"""A strict double of NVIDIA's driver, in place of `cuda.bindings.driver`.

It forgives nothing: a call out of order, a size or type that is wrong, a handle that is gone, a call
after an error that should have been the last, all raise `MisuseError`. Launches are really computed, by
`sim`'s engine on memory that all modules share. Any call can be made to fail, in any way that the
driver could fail.
"""

# ruff: noqa: N802  (the names are the driver's)

import ctypes
import itertools
import os
import re
from contextlib import suppress
from enum import IntEnum
from typing import ClassVar

import numpy as np

from gevolve.device.base import Limits, Stopped
from gevolve.device.sim import Sim, machine
from gevolve.device.sim.memory import Slot, view
from gevolve.errors import DeviceError, GevolveError

ASSEMBLED = {}
"""The PTX and architecture of machine code that was assembled here: what the double runs for it."""
_assemble = machine.assemble


def _remembering(ptx, arch):
    made = _assemble(ptx, arch)
    ASSEMBLED[made] = ptx.encode(), arch
    return made


machine.assemble = _remembering

CUresult = IntEnum(
    "CUresult",
    {
        "CUDA_SUCCESS": 0,
        **{
            f"CUDA_ERROR_{name}": number
            for name, number in {
                "INVALID_VALUE": 1, "OUT_OF_MEMORY": 2, "NOT_INITIALIZED": 3, "DEINITIALIZED": 4,
                "STUB_LIBRARY": 34, "CALL_REQUIRES_NEWER_DRIVER": 36, "DEVICE_UNAVAILABLE": 46,
                "NO_DEVICE": 100, "INVALID_DEVICE": 101, "DEVICE_NOT_LICENSED": 102,
                "INVALID_IMAGE": 200, "INVALID_CONTEXT": 201, "NO_BINARY_FOR_GPU": 209,
                "ECC_UNCORRECTABLE": 214, "INVALID_PTX": 218, "NVLINK_UNCORRECTABLE": 220,
                "JIT_COMPILER_NOT_FOUND": 221, "UNSUPPORTED_PTX_VERSION": 222,
                "JIT_COMPILATION_DISABLED": 223, "CONTAINED": 226, "INVALID_SOURCE": 300,
                "SHARED_OBJECT_SYMBOL_NOT_FOUND": 302, "SHARED_OBJECT_INIT_FAILED": 303,
                "OPERATING_SYSTEM": 304, "INVALID_HANDLE": 400, "NOT_FOUND": 500, "NOT_READY": 600,
                "ILLEGAL_ADDRESS": 700, "LAUNCH_OUT_OF_RESOURCES": 701, "LAUNCH_TIMEOUT": 702,
                "CONTEXT_IS_DESTROYED": 709, "ASSERT": 710, "HARDWARE_STACK_ERROR": 714,
                "ILLEGAL_INSTRUCTION": 715, "MISALIGNED_ADDRESS": 716, "INVALID_ADDRESS_SPACE": 717,
                "INVALID_PC": 718, "LAUNCH_FAILED": 719, "NOT_SUPPORTED": 801,
                "SYSTEM_NOT_READY": 802, "SYSTEM_DRIVER_MISMATCH": 803,
                "COMPAT_NOT_SUPPORTED_ON_DEVICE": 804, "MPS_CONNECTION_FAILED": 805,
                "MPS_CLIENT_TERMINATED": 810, "EXTERNAL_DEVICE": 911, "UNKNOWN": 999,
            }.items()
        },
    },
)  # fmt: skip
OK = CUresult.CUDA_SUCCESS

CUjit_option = IntEnum(
    "CUjit_option",
    {"CU_JIT_ERROR_LOG_BUFFER": 5, "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES": 6},
)
CUstreamCaptureMode = IntEnum("CUstreamCaptureMode", {"CU_STREAM_CAPTURE_MODE_RELAXED": 2})
CUdevice_attribute = IntEnum(
    "CUdevice_attribute",
    {
        f"CU_DEVICE_ATTRIBUTE_{name}": number
        for name, number in {
            "L2_CACHE_SIZE": 38, "COMPUTE_CAPABILITY_MAJOR": 75, "COMPUTE_CAPABILITY_MINOR": 76,
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 97,
        }.items()
    },
)  # fmt: skip
CUfunction_attribute = IntEnum(
    "CUfunction_attribute",
    {
        f"CU_FUNC_ATTRIBUTE_{name}": number
        for number, name in enumerate(
            ("MAX_THREADS_PER_BLOCK", "SHARED_SIZE_BYTES", "CONST_SIZE_BYTES", "LOCAL_SIZE_BYTES",
             "NUM_REGS", "PTX_VERSION", "BINARY_VERSION", "CACHE_MODE_CA",
             "MAX_DYNAMIC_SHARED_SIZE_BYTES")
        )
    },
)  # fmt: skip

ANYWHERE = (
    "INVALID_VALUE", "DEINITIALIZED", "INVALID_CONTEXT", "UNKNOWN", "ECC_UNCORRECTABLE",
    "DEVICE_UNAVAILABLE", "NVLINK_UNCORRECTABLE", "CONTAINED", "CONTEXT_IS_DESTROYED",
    "OPERATING_SYSTEM", "MPS_CLIENT_TERMINATED", "EXTERNAL_DEVICE", "NOT_SUPPORTED",
)  # fmt: skip
"""Errors that any call can return."""
FROM_A_KERNEL = (
    "ILLEGAL_ADDRESS", "LAUNCH_TIMEOUT", "ASSERT", "HARDWARE_STACK_ERROR", "ILLEGAL_INSTRUCTION",
    "MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE", "INVALID_PC", "LAUNCH_FAILED",
)  # fmt: skip
"""Errors of a launch, which the next call that waits for it returns."""
STARTING = (
    "NO_DEVICE", "STUB_LIBRARY", "SYSTEM_DRIVER_MISMATCH", "COMPAT_NOT_SUPPORTED_ON_DEVICE",
    "SYSTEM_NOT_READY", "MPS_CONNECTION_FAILED", "INVALID_DEVICE", "DEVICE_NOT_LICENSED",
    "CALL_REQUIRES_NEWER_DRIVER",
)  # fmt: skip
OF_CALL = {
    "cuInit": STARTING,
    "cuDeviceGetCount": STARTING,
    "cuDeviceGet": STARTING,
    "cuDevicePrimaryCtxRetain": ("OUT_OF_MEMORY", *STARTING),
    "cuModuleLoadDataEx": (
        "INVALID_PTX", "INVALID_IMAGE", "INVALID_SOURCE", "UNSUPPORTED_PTX_VERSION",
        "NO_BINARY_FOR_GPU", "OUT_OF_MEMORY", "SHARED_OBJECT_SYMBOL_NOT_FOUND",
        "SHARED_OBJECT_INIT_FAILED", "JIT_COMPILER_NOT_FOUND", "JIT_COMPILATION_DISABLED",
    ),
    "cuModuleGetFunction": ("NOT_FOUND", "INVALID_HANDLE"),
    "cuModuleGetGlobal": ("NOT_FOUND", "INVALID_HANDLE"),
    "cuMemAlloc": ("OUT_OF_MEMORY", *FROM_A_KERNEL),
    "cuMemFree": FROM_A_KERNEL,
    "cuMemcpyHtoD": FROM_A_KERNEL,
    "cuMemcpyDtoH": FROM_A_KERNEL,
    "cuLaunchKernel": ("LAUNCH_OUT_OF_RESOURCES", "OUT_OF_MEMORY", *FROM_A_KERNEL),
    "cuEventCreate": ("OUT_OF_MEMORY",),
    "cuStreamSynchronize": FROM_A_KERNEL,
    "cuGraphInstantiate": ("OUT_OF_MEMORY",),
    "cuGraphLaunch": ("LAUNCH_OUT_OF_RESOURCES", "OUT_OF_MEMORY", *FROM_A_KERNEL),
    "cuEventElapsedTime": ("NOT_READY", "INVALID_HANDLE"),
}  # fmt: skip
"""Errors of particular calls."""
_LASTING = {
    *FROM_A_KERNEL, "DEINITIALIZED", "INVALID_CONTEXT", "UNKNOWN", "ECC_UNCORRECTABLE", "CONTAINED",
    "CONTEXT_IS_DESTROYED", "NVLINK_UNCORRECTABLE", "EXTERNAL_DEVICE", "MPS_CLIENT_TERMINATED",
}  # fmt: skip
"""Errors after which the context is of no more use: nobody should call again."""
_BEFORE_INIT = {"cuInit", "cuDriverGetVersion"}
_NO_CONTEXT = {
    "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
    "cuDeviceTotalMem", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease", "cuCtxSetCurrent",
}  # fmt: skip
_VALUES = {
    "cuModuleGetGlobal": 2, "cuMemGetInfo": 2,
    **dict.fromkeys(
        ("cuInit", "cuDevicePrimaryCtxRelease", "cuCtxSetCurrent", "cuModuleUnload", "cuMemFree",
         "cuFuncSetAttribute", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemsetD8", "cuMemsetD32",
         "cuLaunchKernel", "cuEventDestroy", "cuEventRecordWithFlags", "cuStreamSynchronize",
         "cuStreamDestroy", "cuStreamBeginCapture", "cuGraphDestroy", "cuGraphLaunch",
         "cuGraphExecDestroy"),
        0,
    ),
}  # fmt: skip
"""How many values a call returns after its code, if not one."""
_WAITING = {
    "cuMemAlloc",
    "cuMemFree",
    "cuMemcpyHtoD",
    "cuMemcpyDtoH",
    "cuStreamSynchronize",
    "cuModuleUnload",
}


class MisuseError(AssertionError):
    """The driver was not called as its documentation says."""


def demand(truth, what):
    if not truth:
        raise MisuseError(what)


class Number:
    """A handle or address, as the bindings wrap it."""

    def __init__(self, value=0):
        self.value = int(value)

    def __int__(self):
        return self.value


class CUdeviceptr(Number):
    pass


class CUstream(Number):
    pass


class CUdevice(Number):
    pass


class CUcontext(Number):
    pass


class CUmodule(Number):
    program = None


class CUfunction(Number):
    module = name = None
    shared = 48 << 10


class CUgraph(Number):
    steps = ()


class CUgraphExec(CUgraph):
    pass


class CUevent(Number):
    at = None
    seen = False


class Double:
    """The driver of a machine with some GPUs; stands in for the module `cuda.bindings.driver`."""

    CUresult, CUjit_option = CUresult, CUjit_option
    CUdevice_attribute, CUfunction_attribute = CUdevice_attribute, CUfunction_attribute
    CUdeviceptr, CUstream = CUdeviceptr, CUstream
    CUstreamCaptureMode = CUstreamCaptureMode
    CUDA_VERSION = 12080
    made: ClassVar = []
    """All doubles of this process that were not ended."""

    def __init__(self, gpus=1, *, sm=70, memory=1 << 30, version=12080, l2=1 << 20, noise=0.0):
        self.gpus, self.sm, self.memory, self.version, self.l2 = gpus, sm, memory, version, l2
        self.noise = noise
        self.calls = []
        """The name of every call, in order."""
        self.rate = 0.0
        """How many of all calls fail."""
        self.rng = np.random.default_rng(0)
        self.injected = []
        """(call, error) that are still to come, each once."""
        self._pid = self._context = self._current = self._last = None
        self._retained = 0
        self._pending = None
        self._numbers = itertools.count(0x5000, 16)
        self._slot = None
        self._blocks, self._modules, self._events = {}, {}, {}
        self._streams, self._graphs = {}, {}
        self._capture = None
        """What the stream that is being captured has been given."""
        self._clock = 0.0
        self.made.append(self)

    # --- what tests ask --------------------------------------------------------------------------

    def inject(self, call, error):
        """Let the next call of this name fail."""
        self.injected.append((call, CUresult[f"CUDA_ERROR_{error}"]))

    def end(self):
        """What the end of the process does."""
        self._lose_context()
        self._modules, self._slot = {}, None

    def leaks(self):
        """What was not given back."""
        if self._last is not None:
            return []  # all went with the context
        found = [f"{size} bytes" for _, size in self._blocks.values()]
        found += ["a module"] * len(self._modules) + ["an event"] * len(self._events)
        found += ["a stream"] * len(self._streams) + ["a graph"] * len(self._graphs)
        return found + ["the context"] * self._retained

    # --- the driver ------------------------------------------------------------------------------

    def __getattribute__(self, name):
        if not name.startswith("cu"):
            return super().__getattribute__(name)
        try:
            function = super().__getattribute__("_" + name)
        except AttributeError:
            raise MisuseError(f"{name} is not a function that gevolve needs") from None
        return lambda *args: self._call(name, function, args)

    def _call(self, name, function, args):
        self.calls.append(name)
        demand(self._last is None, f"{name} after {self._last}, which nobody looked at")
        demand(name in _BEFORE_INIT or self._pid is not None, f"{name} before cuInit")
        demand(self._pid in {None, os.getpid()}, f"{name} in a fork of the process of cuInit")
        free = name in _BEFORE_INIT | _NO_CONTEXT
        demand(free or self._current is not None, f"{name} without a context")
        # Whoever calls wrongly is told so before the call can fail.
        done = function(*args)
        error = self._failure(name)
        if error is None:
            result = done()
            if result is None:
                return (OK,)
            if not isinstance(result, CUresult):
                return (OK, *result) if isinstance(result, tuple) else (OK, result)
            error = result
        if error.name.removeprefix("CUDA_ERROR_") in _LASTING:
            self._last = error
            self._lose_context()
        return (error, *[None] * _VALUES.get(name, 1))

    def _failure(self, name):
        for position, (call, error) in enumerate(self.injected):
            if call == name:
                del self.injected[position]
                return error
        if self._pending is not None and name in _WAITING:
            return self._pending
        if self.rate and self.rng.random() < self.rate:
            which = self.rng.choice([*ANYWHERE, *OF_CALL.get(name, ())])
            return CUresult[f"CUDA_ERROR_{which}"]
        return None

    def _lose_context(self):
        for module in self._modules.values():
            module.program.close()
        if self._slot:
            self._slot.close()

    # Each function below checks its arguments and gives back what the call then does.

    def _cuInit(self, flags):
        demand(flags == 0 and type(flags) is int, "cuInit takes 0")

        def done():
            if not self.gpus:
                return CUresult.CUDA_ERROR_NO_DEVICE
            self._pid = os.getpid()
            return None

        return done

    def _cuDriverGetVersion(self):
        return lambda: self.version

    def _cuDeviceGetCount(self):
        return lambda: self.gpus

    def _cuDeviceGet(self, ordinal):
        demand(type(ordinal) is int and 0 <= ordinal < self.gpus, "cuDeviceGet: no such ordinal")
        return lambda: CUdevice(ordinal)

    def _cuDeviceGetName(self, length, device):
        self._device(device)
        demand(length >= 32, "cuDeviceGetName: a short name")
        return lambda: b"Double of a GPU".ljust(length, b"\0")

    def _cuDeviceTotalMem(self, device):
        self._device(device)
        return lambda: self.memory

    def _cuDeviceGetAttribute(self, attribute, device):
        self._device(device)
        demand(isinstance(attribute, CUdevice_attribute), "cuDeviceGetAttribute: no attribute")
        numbers = {38: self.l2, 75: self.sm // 10, 76: self.sm % 10, 97: 96 << 10}
        return lambda: numbers[attribute]

    def _cuDevicePrimaryCtxRetain(self, device):
        self._device(device)

        def done():
            if self._context is None:
                self._context, self._slot = CUcontext(next(self._numbers)), _last_slot()
            self._retained += 1
            return self._context

        return done

    def _cuDevicePrimaryCtxRelease(self, device):
        self._device(device)
        demand(self._retained, "cuDevicePrimaryCtxRelease without cuDevicePrimaryCtxRetain")

        def done():
            self._retained -= 1
            if not self._retained:
                demand(not self.leaks(), f"the context goes with {self.leaks()} in it")
                self._lose_context()
                self._context = self._current = None

        return done

    def _cuCtxSetCurrent(self, context):
        demand(context is self._context and context, "cuCtxSetCurrent: no such context")

        def done():
            self._current = context

        return done

    # --- modules

    def _cuModuleLoadDataEx(self, image, count, options, values):
        demand(type(image) is bytes and image.endswith(b"\0"), "PTX must end with a NUL")
        demand(count == len(options) == len(values), "options and values differ in number")
        demand(all(isinstance(option, CUjit_option) for option in options), "no JIT option")
        given = dict(zip(options, values, strict=True))
        log = given.get(CUjit_option.CU_JIT_ERROR_LOG_BUFFER)
        size = given.get(CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        demand(type(log) is bytearray and size == len(log), "the log has no size, or another")

        if image.startswith(b"\x7fELF"):
            demand(image[:-1] in ASSEMBLED, "machine code that nobody assembled")
            image, arch = ASSEMBLED[image[:-1]]
            if int(arch.removeprefix("sm_").rstrip("a")) != self.sm:
                return lambda: CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU
            image += b"\0"

        def done():
            module = CUmodule(next(self._numbers))
            built = re.search(rb"\.target\s+sm_(\d+)", image)
            if built and (int(built[1]) > self.sm or (b"match." in image and self.sm < 70)):
                return CUresult.CUDA_ERROR_INVALID_PTX
            try:
                module.program = Sim().open(image[:-1], Limits(fuel=1 << 20))
            except GevolveError as error:
                said = f"ptxas application ptx input, line 1; error : {error}".encode()
                log[: min(len(said), size)] = said[:size]
                return CUresult.CUDA_ERROR_INVALID_PTX
            # All modules see the memory of the one context.
            module.program._memory._slot.buffers = self._slot.buffers
            self._modules[int(module)] = module
            return module

        return done

    def _cuModuleUnload(self, module):
        self._alive(module, CUmodule, self._modules)

        def done():
            del self._modules[int(module)]
            module.program._memory._slot.buffers = []
            module.program.close()

        return done

    def _cuModuleGetFunction(self, module, name):
        self._alive(module, CUmodule, self._modules)
        demand(type(name) is bytes, "cuModuleGetFunction: a name is bytes")

        def done():
            if name.decode() not in module.program._program.kernels:
                return CUresult.CUDA_ERROR_NOT_FOUND
            function = CUfunction(next(self._numbers))
            function.module, function.name = module, name.decode()
            return function

        return done

    def _cuModuleGetGlobal(self, module, name):
        self._alive(module, CUmodule, self._modules)
        demand(type(name) is bytes, "cuModuleGetGlobal: a name is bytes")

        def done():
            variable = module.program._program.variables.get(name.decode())
            if variable is None:
                return CUresult.CUDA_ERROR_NOT_FOUND
            return CUdeviceptr(module.program.symbol(name.decode()).ptr), variable.size

        return done

    def _cuFuncGetAttribute(self, attribute, function):
        kernel = self._kernel(function)
        demand(isinstance(attribute, CUfunction_attribute), "cuFuncGetAttribute: no attribute")
        most = int(np.prod(kernel.limits.get("maxntid", 1024)))
        numbers = {0: most, 1: kernel.shared, 2: 0, 3: kernel.local, 4: 32}
        return lambda: numbers[attribute]

    def _cuFuncSetAttribute(self, function, attribute, value):
        kernel = self._kernel(function)
        demand(attribute == 8, "cuFuncSetAttribute: only the dynamic shared memory can be set")
        demand(0 <= value <= (96 << 10) - kernel.shared, "cuFuncSetAttribute: too much")

        def done():
            function.shared = kernel.shared + value

        return done

    # --- memory

    def _cuMemGetInfo(self):
        return lambda: (self.memory - self._used(), self.memory)

    def _cuMemAlloc(self, size):
        demand(type(size) is int and size > 0, "cuMemAlloc of nothing")

        def done():
            if self._used() + size > self.memory:
                return CUresult.CUDA_ERROR_OUT_OF_MEMORY
            mapping, address = self._slot.allocate(size)
            view(address, size)[:] = 0xEE  # nothing may rely on what fresh memory holds
            self._blocks[address] = (mapping, size)
            return CUdeviceptr(address)

        return done

    def _cuMemFree(self, pointer):
        demand(isinstance(pointer, CUdeviceptr), "cuMemFree takes a CUdeviceptr")
        demand(int(pointer) in self._blocks, "cuMemFree of what is not allocated")

        def done():
            mapping, size = self._blocks.pop(int(pointer))
            self._slot.release(mapping, int(pointer), size)

        return done

    def _cuMemcpyHtoD(self, target, source, size):
        owner = self._place(target, size)
        demand(type(source) is int and source, "cuMemcpyHtoD: the source is no address")

        def done():
            data = ctypes.string_at(source, size)
            if owner is None:
                view(int(target), size)[:] = np.frombuffer(data, np.uint8)
            else:
                with owner._memory.writable(int(target)):
                    view(int(target), size)[:] = np.frombuffer(data, np.uint8)

        return done

    def _cuMemcpyDtoH(self, target, source, size):
        self._place(source, size)
        demand(type(target) is int and target, "cuMemcpyDtoH: the target is no address")

        def done():
            ctypes.memmove(target, int(source), size)

        return done

    def _cuMemsetD8(self, target, value, count):
        return self._set(target, value, count, np.uint8)

    def _cuMemsetD32(self, target, value, count):
        return self._set(target, value, count, np.uint32)

    def _set(self, target, value, count, kind):
        size = np.dtype(kind).itemsize
        self._place(target, count * size)
        demand(int(target) % size == 0, "a memset of words to no multiple of their size")
        demand(0 <= value < 1 << 8 * size, "a memset of a value that does not fit")

        def done():
            view(int(target), count * size).view(kind)[:] = value

        return done

    # --- launches and events

    def _cuLaunchKernel(self, function, *rest):
        kernel = self._kernel(function)
        demand(len(rest) == 10, "cuLaunchKernel takes 11 arguments")
        grid, block, (shared, stream, params, extra) = rest[:3], rest[3:6], rest[6:]
        demand(all(type(n) is int and n > 0 for n in (*grid, *block)), "a launch of nothing")
        at_once = int(stream) == 0  # the default stream is always there, and is not captured
        if not at_once:
            self._capturing(stream)
        demand(extra == 0, "kernelParams or extra, not both")
        count = len(kernel.params)
        demand(type(params) is int and (params or not count), "kernelParams is no address")
        table = (ctypes.c_uint64 * count).from_address(params) if count else ()
        demand(all(table), "a parameter without an address")
        args = [
            ctypes.string_at(at, v.size) for at, (v, _) in zip(table, kernel.params, strict=True)
        ]

        def done():
            if shared + kernel.shared > function.shared:
                return CUresult.CUDA_ERROR_INVALID_VALUE
            return step() if at_once else self._capture.append(step)

        def step():
            program = function.module.program
            before = program.usage(timed=False).time
            try:
                program.launch(function.name, grid, block, *args, shared=shared)
            except Stopped as stopped:
                self._pending = _meaning(stopped)
            took = program.usage(timed=False).time - before
            self._clock += took * (1 + self.noise * abs(self.rng.standard_normal()))

        return done

    def _cuEventCreate(self, flags):
        demand(flags == 0, "cuEventCreate: events here are timed ones")

        def done():
            event = CUevent(next(self._numbers))
            self._events[int(event)] = event
            return event

        return done

    def _cuEventDestroy(self, event):
        self._alive(event, CUevent, self._events)

        def done():
            del self._events[int(event)]

        return done

    def _cuEventRecordWithFlags(self, event, stream, flags):
        self._alive(event, CUevent, self._events)
        self._capturing(stream)
        demand(flags == 1, "an event of the capture, not of the graph that it makes")

        def step():
            event.at, event.seen = self._clock, False

        return lambda: self._capture.append(step)

    # --- streams and graphs

    def _capturing(self, stream):
        self._alive(stream, CUstream, self._streams)
        demand(self._capture is not None, "queued on a stream that is not being captured")

    def _cuStreamCreate(self, flags):
        demand(flags == 0, "a stream that does not wait for copies")

        def done():
            stream = CUstream(next(self._numbers))
            self._streams[int(stream)] = stream
            return stream

        return done

    def _cuStreamDestroy(self, stream):
        self._alive(stream, CUstream, self._streams)
        demand(self._capture is None, "cuStreamDestroy while the stream is captured")

        def done():
            del self._streams[int(stream)]

        return done

    def _cuStreamBeginCapture(self, stream, mode):
        self._alive(stream, CUstream, self._streams)
        demand(mode == 2 and self._capture is None, "cuStreamBeginCapture twice, or in no mode")

        def done():
            self._capture = []

        return done

    def _cuStreamEndCapture(self, stream):
        self._capturing(stream)

        def done():
            graph = CUgraph(next(self._numbers))
            graph.steps, self._capture = self._capture, None
            self._graphs[int(graph)] = graph
            return graph

        return done

    def _cuGraphInstantiate(self, graph, flags):
        self._alive(graph, CUgraph, self._graphs)
        demand(flags == 0, "cuGraphInstantiate takes no flags here")

        def done():
            made = CUgraphExec(next(self._numbers))
            made.steps = graph.steps
            self._graphs[int(made)] = made
            return made

        return done

    def _cuGraphLaunch(self, graph, stream):
        self._alive(graph, CUgraphExec, self._graphs)
        self._alive(stream, CUstream, self._streams)
        demand(self._capture is None, "cuGraphLaunch while the stream is captured")

        def done():
            for step in graph.steps:
                step()

        return done

    def _cuGraphDestroy(self, graph):
        self._alive(graph, CUgraph, self._graphs)

        def done():
            del self._graphs[int(graph)]

        return done

    def _cuGraphExecDestroy(self, graph):
        self._alive(graph, CUgraphExec, self._graphs)
        return self._cuGraphDestroy(graph)

    def _cuStreamSynchronize(self, stream):
        self._alive(stream, CUstream, self._streams)
        demand(self._capture is None, "cuStreamSynchronize while the stream is captured")

        def done():
            for one in self._events.values():
                one.seen |= one.at is not None

        return done

    def _cuEventElapsedTime(self, began, ended):
        for event in (began, ended):
            self._alive(event, CUevent, self._events)
            demand(event.at is not None, "cuEventElapsedTime of an event that was not recorded")
            demand(event.seen, "cuEventElapsedTime of an event that nobody waited for")
        return lambda: (ended.at - began.at) * 1e-3

    # --- checks

    def _device(self, device):
        demand(isinstance(device, CUdevice), "not a device")

    def _alive(self, handle, kind, those):
        demand(isinstance(handle, kind), f"not a {kind.__name__}")
        demand(those.get(int(handle)) is handle, f"a {kind.__name__} that is gone")

    def _kernel(self, function):
        demand(isinstance(function, CUfunction), "not a CUfunction")
        self._alive(function.module, CUmodule, self._modules)
        return function.module.program._program.kernels[function.name]

    def _used(self):
        return sum(size for _, size in self._blocks.values())

    def _place(self, pointer, size):
        """The module that memory belongs to, or None; it must be in one allocation."""
        demand(isinstance(pointer, CUdeviceptr), "an address is a CUdeviceptr")
        demand(type(size) is int and size > 0, "a copy of nothing")
        low, high = int(pointer), int(pointer) + size
        for start, (_, length) in self._blocks.items():
            if start <= low and high <= start + length:
                return None
        for module in self._modules.values():
            program = module.program._program
            for name, place in program.places.items():
                start = module.program._memory.globals + place
                if start <= low and high <= start + program.variables[name].size:
                    return module.program
        raise MisuseError(f"{size} bytes at {low:#x} are in no allocation")


def _last_slot():
    """Memory above that of all modules: `sim` wants what a kernel may touch in order of address."""
    slots = []
    with suppress(DeviceError):
        while True:
            slots.append(Slot())
    *others, last = slots
    for slot in others:
        slot.close()
    return last


def _meaning(stopped):
    """The driver's code for what `sim` stopped a kernel for."""
    words = {
        "multiple": "MISALIGNED_ADDRESS",
        "assertion": "ASSERT",
        "stack": "HARDWARE_STACK_ERROR",
        "trap": "LAUNCH_FAILED",
    }
    if stopped.verdict in {"fuel", "divergent-barrier"}:
        return CUresult.CUDA_ERROR_LAUNCH_TIMEOUT
    name = next((name for word, name in words.items() if word in str(stopped)), "ILLEGAL_ADDRESS")
    return CUresult[f"CUDA_ERROR_{name}"]
