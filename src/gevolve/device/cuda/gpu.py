"""The NVIDIA GPU that a workload's host code sees: buffers, symbols, launches and their usage.

Launches are queued, each between two events, and awaited when the host reads anything. So kernels of
a host loop run back to back, as they would without gevolve, and only they are timed: copies are not.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gevolve.device.base import Limits, Poisoned, Shape, Stopped, Usage
from gevolve.device.cuda.context import Context
from gevolve.device.cuda.memory import CudaBuffer, CudaMemory
from gevolve.device.sim import arguments
from gevolve.errors import LaunchError
from gevolve.ir.llvm import names

_QUEUE = 64
"""The most launches that may be queued."""


class _QueuedLaunch(NamedTuple):
    kernel: str
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
        self._stream = context.driver.api.CUstream(0)
        self._queue: list[_QueuedLaunch] = []
        self._used = Usage()
        self._launched: dict[str, None] = {}
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
        if not self._used.launches:
            self._context.flush()
        self._used.launches += 1
        self._launched[name] = None
        self._run(name, blocks, threads, shared, params)

    def _run(
        self,
        name: str,
        blocks: tuple[int, int, int],
        threads: tuple[int, int, int],
        shared: int,
        params: bytes,
    ) -> None:
        # The driver takes the address of an array of addresses, one for each parameter.
        data = np.frombuffer(params or b"\0", np.uint8)
        offsets = [offset for _, offset in self._module.signature.kernels[name]]
        table = np.array([data.ctypes.data + offset for offset in offsets] or [0], np.uint64)
        handle, call, stream = self._module.function(name).handle, self._driver.call, self._stream
        given = (handle, *blocks, *threads, shared, stream, table.ctypes.data, 0)
        if len(self._queue) >= _QUEUE:
            self._await()
        launch = _QueuedLaunch(name, self._context.event(), self._context.event())
        try:
            call("cuEventRecord", launch.began, stream)
            call("cuLaunchKernel", *given)
            call("cuEventRecord", launch.ended, stream)
        except Stopped:
            self._context.reuse(launch.began, launch.ended)
            raise
        self._queue.append(launch)

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
        """Wait for all queued launches and add up their times."""
        if not self._queue:
            return
        queue, self._queue = self._queue, []
        try:
            self._driver.call("cuEventSynchronize", queue[-1].ended)
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
