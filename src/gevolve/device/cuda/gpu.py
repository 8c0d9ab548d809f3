"""The NVIDIA GPU that a workload's host code sees: buffers, symbols, launches and their usage.

Launches are queued until the host reads or writes anything, and then run as one graph, each between
two events. So kernels of a host loop run back to back, without the host in between, and only they are
timed: copies are not.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gevolve.device.base import Limits, Poisoned, Shape, Stopped, Usage
from gevolve.device.cuda import graph
from gevolve.device.cuda.context import Context
from gevolve.device.cuda.memory import CudaBuffer, CudaMemory
from gevolve.device.parameters import chosen, parameter
from gevolve.device.sim import arguments
from gevolve.errors import LaunchError
from gevolve.ir.llvm import names

_QUEUE = 64
"""The most launches that may be queued."""


class _QueuedLaunch(NamedTuple):
    kernel: str
    shape: tuple[int, ...]
    """Blocks, threads of a block, and bytes of dynamic shared memory."""
    params: bytes
    began: Any
    ended: Any


class CudaGpu:
    """An artefact that is open on a GPU."""

    def __init__(self, context: Context, artefact: bytes, limits: Limits, pattern: int) -> None:
        self._context = context
        self._driver = context.driver
        self._limits = limits
        self._module, self._release = context.borrow(artefact)
        self._memory = CudaMemory(context.driver, limits, pattern, self._await)
        self._queue: list[_QueuedLaunch] = []
        self._used = Usage()
        self._choice = chosen(artefact)
        self._launched: dict[str, None] = {}
        context.flush()
        context.opened(self)

    def array(self, data: npt.ArrayLike) -> CudaBuffer:
        return self._memory.array(data)

    def empty(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> CudaBuffer:
        return self._memory.empty(shape, dtype)

    def zeros(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> CudaBuffer:
        return self._memory.zeros(shape, dtype)

    def symbol(self, name: str, dtype: npt.DTypeLike = np.uint8) -> CudaBuffer:
        self._check_open()
        variables = dict.fromkeys(self._module.signature.variables)
        found = arguments.lookup("variable", name, variables)
        return self._memory.symbol(*self._module.variable(found), name, dtype)

    def parameter(self, name: str, *values: int) -> int:
        return parameter(self._choice, name, values)

    def launch(self, kernel: str, grid: Shape, block: Shape, *args: Any, shared: int = 0) -> None:
        self._check_open()
        kernels = self._module.signature.kernels
        name = arguments.lookup("kernel", kernel, kernels)
        blocks = arguments.shape3(f"{kernel}: grid", grid, arguments.MAX_GRID)
        threads = arguments.shape3(f"{kernel}: block", block, arguments.MAX_BLOCK)
        params = arguments.encode(kernel, kernels[name], args)
        self._check_block(kernel, name, threads)
        self._module.allow(name, shared, self._context.most_shared)
        if self._used.launches >= self._limits.launches:
            raise Stopped("fuel", f"more than {self._limits.launches} launches")
        self._used.launches += 1
        self._launched[name] = None
        if len(self._queue) >= _QUEUE:
            self._await()
        events = self._context.event(), self._context.event()
        self._queue.append(_QueuedLaunch(name, (*blocks, *threads, shared), params, *events))

    def _record(self, launch: _QueuedLaunch) -> None:
        """Put a launch and its events on the stream."""
        # The driver takes the address of an array of addresses, one for each parameter.
        data = np.frombuffer(launch.params or b"\0", np.uint8)
        offsets = [offset for _, offset in self._module.signature.kernels[launch.kernel]]
        table = np.array([data.ctypes.data + offset for offset in offsets] or [0], np.uint64)
        handle, stream = self._module.function(launch.kernel).handle, self._context.stream
        call = self._driver.call
        call("cuEventRecordWithFlags", launch.began, stream, graph.EXTERNAL)
        call("cuLaunchKernel", handle, *launch.shape, stream, table.ctypes.data, 0)
        call("cuEventRecordWithFlags", launch.ended, stream, graph.EXTERNAL)

    def _check_block(self, kernel: str, name: str, threads: tuple[int, int, int]) -> None:
        count = threads[0] * threads[1] * threads[2]
        if count > arguments.MAX_THREADS:
            raise LaunchError(
                f"{kernel}: a block of {count} threads; the most is {arguments.MAX_THREADS}"
            )
        function = self._module.function(name)
        if count > function.most_threads:
            raise Stopped(
                "crash",
                f"{kernel}: a block of {count} threads; with {function.resources.registers}"
                f" registers a thread, the most is {function.most_threads}",
            )

    def _await(self) -> None:
        """Run all queued launches and add up their times."""
        if not self._queue:
            return
        queue, self._queue = self._queue, []
        try:
            steps = (partial(self._record, launch) for launch in queue)
            graph.run(self._driver, self._context.stream, *steps)
            for launch in queue:
                took = self._driver.call("cuEventElapsedTime", launch.began, launch.ended)
                self._used.time += float(took) / 1000
        except Poisoned as error:
            kernels = ", ".join(dict.fromkeys(names.demangle(launch.kernel) for launch in queue))
            raise Poisoned(error.verdict, f"{kernels}: {error}") from error
        finally:
            for launch in queue:
                self._context.reuse(launch.began, launch.ended)

    def usage(self, *, timed: bool = True) -> Usage:
        self._check_open()
        self._await()
        self._memory.check()
        return Usage(
            time=self._used.time if timed else 0.0,
            launches=self._used.launches,
            memory=self._memory.most,
            kernels=tuple(self._launched),
            changed=self._memory.changed(),
        )

    def close(self) -> None:
        if self._memory.closed:
            return
        for launch in self._queue:
            self._context.reuse(launch.began, launch.ended)
        self._queue.clear()
        self._context.closed(self)
        try:
            self._memory.close()
        finally:
            self._release()

    def _check_open(self) -> None:
        if self._memory.closed:
            raise LaunchError("the device is closed; open it again")
