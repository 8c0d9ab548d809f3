"""The state of one GPU in this process: its context, loaded modules, events, a scratch buffer."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, Protocol

from gevolve.device.cuda import driver as cuda_driver
from gevolve.device.cuda.image import machine_code
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
            # A blocking stream: it and copies wait for each other.
            self.stream = driver.call("cuStreamCreate", 0)
            undo.callback(driver.give_back, "cuStreamDestroy", self.stream)
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
        """A module for one run, and the function that returns it.

        Variables live in a module, and what one run leaves in them must not reach the next: they get
        their initial values again. A module with variables that the host cannot see, or that another
        run has borrowed, is loaded anew.
        """
        module = self.load(artefact)
        if read(artefact).variables and (module in self._borrowed or not module.reset()):
            module = self._fresh(artefact)
            return module, module.unload
        self._borrowed.append(module)
        return module, lambda: self._borrowed.remove(module)

    def _evict(self) -> None:
        evictable = [artefact for artefact in self._modules if artefact not in self._kept]
        for artefact in evictable[:-1]:
            if self._modules[artefact] not in self._borrowed:
                self._modules.pop(artefact).unload()

    def fitted(self, artefact: bytes) -> bytes:
        """The PTX with this GPU as its target if it was made for a newer one."""
        built = read(artefact)
        fits = self.sm >= built.sm and not (built.exact and self.sm != built.sm)
        return artefact if fits else retargeted(artefact, self.sm)

    def _fresh(self, artefact: bytes) -> LoadedModule:
        """Load an artefact. PTX for a newer GPU is tried with this GPU as its target."""
        ptx = self.fitted(artefact)
        try:
            return self._loaded(ptx)
        except SourceError as error:
            if ptx is artefact:
                raise
            raise UnsupportedError(
                f"the kernel is built for {read(artefact).target}, and {self.title} is sm_{self.sm};"
                f" with that as its target it is refused: {error}. If the kernel needs a newer GPU,"
                " use one; if it does not, compile it"
                f" with clang_options = ('--no-offload-arch=all', '--offload-arch=sm_{self.sm}')"
            ) from error

    def _loaded(self, ptx: bytes) -> LoadedModule:
        signature = read(ptx)
        code = machine_code(ptx, f"sm_{self.sm}{'a' * signature.exact}")
        if code is not None:
            # A driver that is older than the assembler refuses its machine code.
            with suppress(SourceError):
                return LoadedModule(self.driver, code, signature)
        return LoadedModule(self.driver, ptx, signature)

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
        """Flush the L2 cache by writing more than it holds, before a run uploads anything.

        So the first launch finds the uploads in L2, as on `sim`, and nothing of earlier runs.
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
