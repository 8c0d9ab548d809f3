"""IREE's runtime in this process, on a real GPU or on the virtual one.

All calls to IREE are here, since it has no types.
"""

import ctypes
import os
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from gevolve.device.base import Array, Stopped
from gevolve.device.cost import KernelCost
from gevolve.device.sim.timing import Gpu
from gevolve.device.virtual.library import NAME, library_folder
from gevolve.device.virtual.serve import start_server
from gevolve.errors import DeviceError, UnsupportedError, one_line


class Spent(NamedTuple):
    """What a run of a program took."""

    time: float
    launches: int


class Loaded:
    """A module of IREE's that is ready to run."""

    def __init__(self, host: "Host", module: bytes) -> None:
        self._host = host
        self._module = module
        self._main = self._loaded()

    def _loaded(self) -> Any:
        runtime, config = self._host.runtime, self._host.config
        self._config = config
        try:
            vm = runtime.VmModule.copy_buffer(config.vm_instance, self._module)
            context = runtime.SystemContext(config=config)
            context.add_vm_module(vm)
            return context.modules[vm.name]["main"]
        except (RuntimeError, ValueError) as error:
            raise UnsupportedError(
                f"the GPU does not take what IREE makes of it: {_cause(error)}"
            ) from None

    def run(self, arguments: Sequence[Array]) -> list[Any]:
        """Run it; the results stay on the GPU."""
        runtime, device = self._host.runtime, self._host.config.device
        if self._config is not self._host.config:
            self._main = self._loaded()
        try:
            given = [runtime.asdevicearray(device, array) for array in arguments]
            found = self._main(*given)
        except (RuntimeError, ValueError) as error:
            raise Stopped("crash", f"IREE: {one_line(error)}") from None
        return list(found) if isinstance(found, tuple) else [found]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    @staticmethod
    def read(results: Sequence[Any]) -> list[Array]:
        """Results of a run, on the host."""
        return [np.asarray(one.to_host()) for one in results]


class Host:
    """IREE's runtime on a real GPU."""

    def __init__(self, index: int = 0) -> None:
        self.runtime: Any = import_module("iree.runtime")
        self._index = index
        self.config = self._opened()

    def _opened(self) -> Any:
        index = self._index
        try:
            device = self.runtime.get_driver("cuda").create_device_by_uri(f"cuda://{index}")
            return self.runtime.Config(device=device)
        except (RuntimeError, ValueError) as error:
            raise DeviceError(
                f"iree finds no GPU cuda:{index}: {one_line(error)[:200]}; use iree:a100"
            ) from None

    def load(self, module: bytes) -> Loaded:
        return Loaded(self, module)

    def run(self, loaded: Loaded, arguments: Sequence[Array]) -> tuple[list[Array], Spent]:
        """Results, and the seconds that it took until they were there."""
        began = time.perf_counter()
        results = loaded.run(arguments)
        found = loaded.read(results)
        return found, Spent(time.perf_counter() - began, 1)


class VirtualHost(Host):
    """IREE's runtime on the virtual GPU; there is one in a process."""

    def __init__(self, table: Gpu) -> None:
        self._folder = tempfile.mkdtemp(prefix="gevolve-gpu-")
        os.environ["GEVOLVE_GPU"] = start_server(table, Path(self._folder))
        self._library = ctypes.CDLL(str(library_folder() / NAME), ctypes.RTLD_GLOBAL)
        super().__init__()

    def run(self, loaded: Loaded, arguments: Sequence[Array]) -> tuple[list[Array], Spent]:
        """Results that the virtual GPU has computed, and cycles."""
        self._begin(dry=False)
        found = loaded.read(loaded.run(arguments))
        return found, self._spent()[0]

    def time(self, loaded: Loaded, arguments: Sequence[Array]) -> Spent:
        """Cycles of a run; nothing is computed unless the program's way depends on what is."""
        self._begin(dry=True)
        try:
            loaded.run(arguments)
        except Stopped:
            if not self._spent()[1]:
                raise
            self.config = (
                self._opened()
            )  # for a device of IREE's that has failed once fails for ever
        spent, read_back = self._spent()
        return self.run(loaded, arguments)[1] if read_back else spent

    def cost(self) -> dict[str, KernelCost]:
        """What each kernel cost in the run before."""
        path = Path(self._folder, "cost.json")
        self._call("gevolveCost", str(path).encode())
        return msgspec.json.decode(path.read_bytes(), type=dict[str, KernelCost])

    def _begin(self, *, dry: bool) -> None:
        self._call("gevolveBegin", int(dry))

    def _spent(self) -> tuple[Spent, bool]:
        cycles, launches, read_back = ctypes.c_double(), ctypes.c_uint64(), ctypes.c_int()
        self._call("gevolveSpent", *map(ctypes.byref, (cycles, launches, read_back)))
        return Spent(cycles.value, launches.value), bool(read_back.value)

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            raise Stopped("crash", f"the virtual GPU cannot go on ({name} returns {code})")


def _cause(error: Exception) -> str:
    """What the driver said against a module, without what IREE says around it."""
    return one_line(error).rpartition("error : ")[2][:300]
