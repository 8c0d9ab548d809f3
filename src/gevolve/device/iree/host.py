"""IREE's runtime in the process that serves it, on a real GPU or on the virtual one.

All calls to the runtime are here, since it has no types.
"""

import ctypes
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gevolve.device.base import Array, Stopped
from gevolve.device.cost import KernelCost
from gevolve.device.iree.messages import Ran, Run, Tensor
from gevolve.device.virtual.session import Finding
from gevolve.errors import DeviceError, UnsupportedError, one_line

_MOST_FAILED = 32
"""Each is some seven threads that never end."""


class Loaded:
    """A module of IREE's that is ready to run."""

    def __init__(self, host: "Host", module: bytes) -> None:
        self._host = host
        self._module = module
        self._config: Any = None
        self.load()

    def load(self) -> None:
        """Load it, unless it is; what it computes once, when it is loaded, is computed."""
        runtime, config = self._host.runtime, self._host.config
        if self._config is config:
            return
        self._config = config
        self._host.begin(dry=False)
        try:
            vm = runtime.VmModule.copy_buffer(config.vm_instance, self._module)
            context = runtime.SystemContext(config=config)
            context.add_vm_module(vm)
            self._functions: Any = context.modules[vm.name]
        except (RuntimeError, ValueError) as error:
            raise UnsupportedError(
                f"the GPU does not take what IREE makes of it: {_cause(error)}"
            ) from None

    def run(self, function: str, arguments: Sequence[Array]) -> list[Any]:
        """Run a function of it; the results stay on the GPU."""
        runtime, device = self._host.runtime, self._host.config.device
        try:
            given = [runtime.asdevicearray(device, array) for array in arguments]
            found = self._functions[function](*given)
        except (RuntimeError, ValueError) as error:
            raise Stopped("crash", f"IREE: {one_line(error)}") from None
        return list(found) if isinstance(found, tuple) else [found]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    @staticmethod
    def read(results: Sequence[Any]) -> list[Tensor]:
        """Results of a run, on the host."""
        return [Tensor.of(np.asarray(one.to_host())) for one in results]


class Host:
    """IREE's runtime on a real GPU."""

    def __init__(self, index: int = 0) -> None:
        self.runtime: Any = import_module("iree.runtime")
        self._index = index
        self._failed: list[Any] = []
        self.config = self._opened()

    @property
    def worn(self) -> bool:
        """Whether so many devices have failed that a process with none is better."""
        return len(self._failed) >= _MOST_FAILED

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

    def begin(self, *, dry: bool) -> None:
        """Count from here; a `dry` run computes nothing."""

    def run(self, loaded: Loaded, arguments: Sequence[Array], how: Run) -> Ran:  # noqa: ARG002  (a card does what it does)
        """Results, and the seconds that it took until they were there."""
        began = time.perf_counter()
        found = loaded.read(loaded.run("main", arguments))
        return Ran(time.perf_counter() - began, results=found)


class VirtualHost(Host):
    """IREE's runtime on the virtual GPU; there is one in a process."""

    def __init__(self, library: str, folder: Path) -> None:
        self._folder = folder
        self._library = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
        super().__init__()

    def run(self, loaded: Loaded, arguments: Sequence[Array], how: Run) -> Ran:
        """Results and cycles; a dry run computes nothing, and may end where its way depends on that."""
        loaded.load()
        self.begin(dry=how.dry)
        if how.watched:
            self._call("gevolveWatch", ",".join(how.watched).encode())
        results = self._results(loaded, "main", arguments, dry=how.dry)
        return msgspec.structs.replace(
            self._spent(),
            results=results,
            kernels=self._kernels() if how.cost else {},
            findings=self._findings() if how.watched else [],
        )

    def time(self, loaded: Loaded, function: str, arguments: Sequence[Array]) -> Ran:
        """The cycles of one function, in a dry run."""
        loaded.load()
        self.begin(dry=True)
        self._results(loaded, function, arguments, dry=True)
        return self._spent()

    def _results(
        self, loaded: Loaded, function: str, arguments: Sequence[Array], *, dry: bool
    ) -> list[Tensor]:
        try:
            found = loaded.run(function, arguments)
            return [] if dry else loaded.read(found)
        except Stopped as stopped:
            faults = self._findings()
            read_back = not faults and self._spent().read_back
            # A device of IREE's that has failed once fails for ever, and waits for ever when it is freed.
            self._failed.append(self.config)
            self.begin(dry=dry) if faults else None
            self.config = self._opened()
            if not read_back:
                words = f"{faults[0].kernel}: {faults[0].detail}" if faults else str(stopped)
                raise Stopped("crash", words) from None
            return []

    def begin(self, *, dry: bool) -> None:
        self._call("gevolveBegin", int(dry))

    def _kernels(self) -> dict[str, KernelCost]:
        path = self._folder / "cost.json"
        self._call("gevolveCost", str(path).encode())
        return msgspec.json.decode(path.read_bytes(), type=dict[str, KernelCost])

    def _findings(self) -> list[Finding]:
        path = self._folder / "hazards.json"
        self._call("gevolveHazards", str(path).encode())
        return msgspec.json.decode(path.read_bytes(), type=list[Finding])

    def _spent(self) -> Ran:
        cycles = ctypes.c_double()
        launches, fresh, instructions = (ctypes.c_uint64() for _ in range(3))
        read_back = ctypes.c_int()
        places = (cycles, launches, fresh, instructions, read_back)
        self._call("gevolveSpent", *map(ctypes.byref, places))
        return Ran(
            cycles.value,
            launches.value,
            instructions.value,
            fresh=fresh.value,
            read_back=bool(read_back.value),
        )

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            raise Stopped("crash", f"the virtual GPU cannot go on ({name} returns {code})")


def _cause(error: Exception) -> str:
    """What the driver said against a module, without what IREE says around it."""
    return one_line(error).rpartition("error : ")[2][:300]
