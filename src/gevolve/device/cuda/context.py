"""One GPU made ready in this process: its context, the modules that are loaded, events, a scratch area."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Protocol

from gevolve.device.cuda import driver as door
from gevolve.device.cuda.module import Module
from gevolve.device.cuda.signature import read, retargeted
from gevolve.errors import SourceError, UnsupportedError

_LEAST_SCRATCH = 4 << 20


class Closing(Protocol):
    """A handle that is open in this context."""

    def close(self) -> None: ...


class Context:
    """The primary context of one GPU, and what lasts in it from run to run."""

    def __init__(self, index: int, functions: Any = None) -> None:
        self.driver = driver = door.start(functions)
        self._modules: dict[bytes, Module] = {}
        self._kept: set[bytes] = set()
        self._borrowed: list[Module] = []
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
            raise door.NotReadyError(
                f"no GPU cuda:{index}; there is {there} (see CUDA_VISIBLE_DEVICES)"
            )
        self._device = driver.call("cuDeviceGet", index)
        self.title = door.title(driver, self._device)
        self.sm = door.sm(driver, self._device)
        self.most_shared = driver.attribute(self._device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")

    # --- modules ---------------------------------------------------------------------------------

    def has(self, artefact: bytes) -> bool:
        return artefact in self._modules

    def keep(self, artefact: bytes) -> None:
        self._kept.add(artefact)

    def load(self, artefact: bytes) -> Module:
        """An artefact's module. Those kept on purpose stay loaded, and the last of the others."""
        found = self._modules.pop(artefact, None) or self._fresh(artefact)
        self._modules[artefact] = found
        self._evict()
        return found

    def borrow(self, artefact: bytes) -> tuple[Module, Callable[[], None]]:
        """A module for one run, and how to give it back.

        Variables live in a module, and what a run leaves in them must not reach the next: a module
        that has any is loaded anew for every run.
        """
        if read(artefact).variables:
            module = self._fresh(artefact)
            return module, module.unload
        module = self.load(artefact)
        self._borrowed.append(module)
        return module, lambda: self._borrowed.remove(module)

    def _evict(self) -> None:
        loose = [artefact for artefact in self._modules if artefact not in self._kept]
        for artefact in loose[:-1]:
            if self._modules[artefact] not in self._borrowed:
                self._modules.pop(artefact).unload()

    def _fresh(self, artefact: bytes) -> Module:
        """Load an artefact. One for a newer GPU may still use nothing that this one has not."""
        built = read(artefact)
        if self.sm >= built.sm and not (built.exact and self.sm != built.sm):
            return Module(self.driver, artefact)
        try:
            return Module(self.driver, retargeted(artefact, self.sm))
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
        """Close what host code that failed has left open."""
        while self._handles:
            self._handles[-1].close()

    # --- time ------------------------------------------------------------------------------------

    def event(self) -> Any:
        """An event, to be handed back with `reuse`."""
        if not self._idle:
            self._idle.append(self.driver.call("cuEventCreate", 0))
            self._events.append(self._idle[-1])
        return self._idle.pop()

    def reuse(self, *events: Any) -> None:
        self._idle += events

    def flush(self) -> None:
        """Write more than the L2 cache holds.

        It also keeps the GPU busy while the first launch and its events are queued behind it, so
        that the time between them is the kernel's, not the host's.
        """
        address, size = self._scratch
        self.driver.call("cuMemsetD8", address, 0, size)

    def close(self) -> None:
        """Give everything back."""
        with self._undo as undo:
            for module in self._modules.values():
                undo.callback(module.unload)
            for event in self._events:
                undo.callback(self.driver.give_back, "cuEventDestroy", event)
            undo.callback(self.close_handles)
