"""The state of one GPU in this process: its context, loaded modules, events, a scratch buffer."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Protocol

from gevolve.device.cuda import driver as cuda_driver
from gevolve.device.cuda.module import LoadedModule
from gevolve.device.cuda.signature import read, retargeted
from gevolve.errors import SourceError, UnsupportedError

_LEAST_SCRATCH = 4 << 20


class Closing(Protocol):
    """A handle that is open in this context."""

    def close(self) -> None: ...


class Context:
    """The primary context of one GPU, and what is kept in it between runs."""

    def __init__(self, index: int, functions: Any = None) -> None:
        self.driver = driver = cuda_driver.start(functions)
        self._modules: dict[bytes, LoadedModule] = {}
        self._kept: set[bytes] = set()
        self._borrowed: list[LoadedModule] = []
        self._handles: list[Closing] = []
        self._events: list[Any] = []
        self._idle: list[Any] = []
        with driver.setting_up(f"cuda:{index}"), ExitStack() as undo:
            self._find(index)
            context = driver.call("cuDevicePrimaryCtxRetain", self._device)
            undo.callback(driver.give_back, "cuDevicePrimaryCtxRelease", self._device)
            driver.call("cuCtxSetCurrent", context)
            size = max(2 * driver.attribute(self._device, "L2_CACHE_SIZE"), _LEAST_SCRATCH)
            self._scratch = (driver.call("cuMemAlloc", size), size)
            undo.callback(driver.give_back, "cuMemFree", self._scratch[0])
            self._undo = undo.pop_all()

    def _find(self, index: int) -> None:
        driver = self.driver
        count = int(driver.call("cuDeviceGetCount"))
        if index >= count:
            there = f"cuda:0 to cuda:{count - 1}" if count > 1 else "cuda:0" if count else "none"
            raise cuda_driver.NotReadyError(
                f"no GPU cuda:{index}; there is {there} (see CUDA_VISIBLE_DEVICES)"
            )
        self._device = driver.call("cuDeviceGet", index)
        self.title = cuda_driver.title(driver, self._device)
        self.sm = cuda_driver.sm(driver, self._device)
        self.most_shared = driver.attribute(self._device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")

    # --- modules ---------------------------------------------------------------------------------

    def has(self, artefact: bytes) -> bool:
        return artefact in self._modules

    def keep(self, artefact: bytes) -> None:
        self._kept.add(artefact)

    def load(self, artefact: bytes) -> LoadedModule:
        """The module of an artefact, from a cache of those marked by `keep` and the last other one."""
        found = self._modules.pop(artefact, None) or self._fresh(artefact)
        self._modules[artefact] = found
        self._evict()
        return found

    def borrow(self, artefact: bytes) -> tuple[LoadedModule, Callable[[], None]]:
        """A module for one run, and a function that releases it.

        The values of variables belong to a module and must not leak into the next run, so a module
        with variables is loaded for every run.
        """
        if read(artefact).variables:
            module = self._fresh(artefact)
            return module, module.unload
        module = self.load(artefact)
        self._borrowed.append(module)
        return module, lambda: self._borrowed.remove(module)

    def _evict(self) -> None:
        evictable = [artefact for artefact in self._modules if artefact not in self._kept]
        for artefact in evictable[:-1]:
            if self._modules[artefact] not in self._borrowed:
                self._modules.pop(artefact).unload()

    def _fresh(self, artefact: bytes) -> LoadedModule:
        """Load an artefact. PTX for a newer GPU is tried with this GPU as its target."""
        built = read(artefact)
        if self.sm >= built.sm and not (built.exact and self.sm != built.sm):
            return LoadedModule(self.driver, artefact)
        try:
            return LoadedModule(self.driver, retargeted(artefact, self.sm))
        except SourceError as error:
            raise UnsupportedError(
                f"the kernel is built for {built.target}, and {self.title} is sm_{self.sm}; compile it"
                f" with clang_options = ('--no-offload-arch=all', '--offload-arch=sm_{self.sm}')"
            ) from error

    # --- handles ---------------------------------------------------------------------------------

    def opened(self, handle: "Closing") -> None:
        self._handles.append(handle)

    def closed(self, handle: "Closing") -> None:
        self._handles.remove(handle)

    def close_handles(self) -> None:
        """Close the handles that failed host code has left open."""
        while self._handles:
            self._handles[-1].close()

    # --- time ------------------------------------------------------------------------------------

    def event(self) -> Any:
        """An event; `reuse` returns it to the pool."""
        if not self._idle:
            self._idle.append(self.driver.call("cuEventCreate", 0))
            self._events.append(self._idle[-1])
        return self._idle.pop()

    def reuse(self, *events: Any) -> None:
        self._idle += events

    def flush(self) -> None:
        """Flush the L2 cache by writing more than it holds.

        The write also keeps the GPU busy while the first launch and its events are queued, so that
        the time between the events is the kernel's, not the host's.
        """
        address, size = self._scratch
        self.driver.call("cuMemsetD8", address, 0, size)

    def close(self) -> None:
        """Free everything."""
        with self._undo as undo:
            for module in self._modules.values():
                undo.callback(module.unload)
            for event in self._events:
                undo.callback(self.driver.give_back, "cuEventDestroy", event)
            undo.callback(self.close_handles)
