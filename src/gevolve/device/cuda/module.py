"""An artefact that the driver has loaded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gevolve.device.cuda.driver import Driver
from gevolve.device.cuda.signature import PtxSignature
from gevolve.device.ptxas import Resources
from gevolve.errors import LaunchError

_LOG = 8192
"""The size of the buffer for the assembler's error log, in bytes."""
_USUAL_SHARED = 48 << 10
"""Bytes of shared memory that a kernel may use without setting an attribute."""


@dataclass(slots=True)
class LoadedKernel:
    """A kernel of a loaded module."""

    handle: Any
    most_threads: int
    """The largest block that its registers allow."""
    resources: Resources
    allowed: int
    """The dynamic shared memory that it may be launched with so far, in bytes."""


class LoadedModule:
    """A loaded artefact: its kernels and variables."""

    def __init__(self, driver: Driver, image: bytes, signature: PtxSignature) -> None:
        """Load machine code or PTX; `signature` is that of the PTX in both cases."""
        self._driver = driver
        self.signature = signature
        self._functions: dict[str, LoadedKernel] = {}
        self._initial: list[tuple[int, npt.NDArray[np.uint8]]] | None = None
        """The address of each variable, and what it held after loading."""
        self._hidden = False
        log = bytearray(_LOG)
        option = driver.api.CUjit_option
        options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        self._handle = driver.call(
            "cuModuleLoadDataEx", image + b"\0", len(options), options, [log, _LOG], log=log
        )

    def reset(self) -> bool:
        """Give all variables their initial values; False if the host cannot see some of them.

        Call it before the first launch too: it then learns those values.
        """
        call, pointer = self._driver.call, self._driver.api.CUdeviceptr
        if self._initial is not None:
            for address, data in self._initial:
                call("cuMemcpyHtoD", pointer(address), data.ctypes.data, data.size)
            return not self._hidden
        self._initial = []
        for name in self.signature.variables:
            try:
                address, size = self.variable(name)
            except LaunchError:
                self._hidden = True
                break
            data = np.empty(size, np.uint8)
            call("cuMemcpyDtoH", data.ctypes.data, pointer(address), size)
            self._initial.append((address, data))
        return not self._hidden

    def function(self, name: str) -> LoadedKernel:
        """A kernel by its name in the PTX."""
        found = self._functions.get(name)
        if found is None:
            handle = self._driver.call("cuModuleGetFunction", self._handle, name.encode())
            shared = self._attribute(handle, "SHARED_SIZE_BYTES")
            found = self._functions[name] = LoadedKernel(
                handle,
                self._attribute(handle, "MAX_THREADS_PER_BLOCK"),
                Resources(
                    registers=self._attribute(handle, "NUM_REGS"),
                    shared=shared,
                    stack=self._attribute(handle, "LOCAL_SIZE_BYTES"),
                    constant=self._attribute(handle, "CONST_SIZE_BYTES"),
                ),
                max(_USUAL_SHARED - shared, 0),
            )
        return found

    def allow(self, name: str, shared: int, most: int) -> None:
        """Permit this much dynamic shared memory for a kernel, on a GPU that has `most` bytes."""
        function = self.function(name)
        total = function.resources.shared + shared
        if shared < 0 or total > most:
            raise LaunchError(f"{name} asks for {total} bytes of shared memory; the most is {most}")
        if shared > function.allowed:
            key = self._driver.api.CUfunction_attribute
            attribute = key.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._driver.call("cuFuncSetAttribute", function.handle, attribute, shared)
            function.allowed = shared

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size of a module variable."""
        address, size = self._driver.call("cuModuleGetGlobal", self._handle, name.encode())
        return int(address), int(size)

    def unload(self) -> None:
        self._driver.give_back("cuModuleUnload", self._handle)

    def _attribute(self, function: Any, name: str) -> int:
        key = getattr(self._driver.api.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(self._driver.call("cuFuncGetAttribute", key, function))
