"""Calls to NVIDIA's driver: all of them go through here, and every return code is checked.

Only documented functions of `cuda.bindings.driver` are called, in a form that its releases 12 and 13
share. Nothing is imported before the first GPU is opened.
"""

import importlib.util
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from gevolve.device.base import Poisoned, Stopped
from gevolve.device.cuda.faults import fault
from gevolve.errors import DeviceError, SourceError, install, one_line


class NotReadyError(DeviceError, Poisoned):
    """The GPU could not be initialized; the process must not try again."""

    def __init__(self, detail: str) -> None:
        Poisoned.__init__(self, "crash", detail)


def bindings() -> Any:
    """NVIDIA's own bindings of the driver."""
    try:
        from cuda.bindings import driver  # noqa: PLC0415  # pyright: ignore[reportMissingImports, reportMissingTypeStubs, reportAttributeAccessIssue, reportUnknownVariableType]
    except ImportError:
        raise NotReadyError(f"cuda needs NVIDIA's cuda-bindings; {install('cuda')}") from None
    return cast("Any", driver)


def installed() -> bool:
    """Whether the bindings are installed; imports nothing of them."""
    return all(importlib.util.find_spec(name) is not None for name in ("cuda", "cuda.bindings"))


class Driver:
    """The functions of the driver, called by name; it belongs to the process that made it."""

    def __init__(self, functions: Any) -> None:
        self.api = functions
        """The module of the bindings, with its types and constants."""
        self.broken = False
        """Whether the driver can no longer be used in this process."""
        self._process = os.getpid()

    def call(self, name: str, *args: Any, log: bytearray | None = None) -> Any:
        """Call a function and return its results without the return code; raises what `fault` returns."""
        if self._process != os.getpid():
            raise DeviceError("a CUDA device does not survive a fork; open it in the new process")
        if self.broken:
            raise Poisoned("crash", f"{name}: an earlier fault left the driver unusable")
        try:
            code, *values = getattr(self.api, name)(*args)
        except (AttributeError, RuntimeError, ValueError) as error:
            # The bindings raise if a function is not in the driver, or a code not in their list.
            self.broken = True
            raise Poisoned("crash", _missing(name, error)) from error
        if int(code):
            error = fault(name, code, _first_complaint(log))
            self.broken = isinstance(error, Poisoned)
            raise error
        return values[0] if len(values) == 1 else tuple(values)

    def give_back(self, name: str, *args: Any) -> None:
        """Free something. If that fails, the driver is unusable: only the end of the process frees it."""
        if self.broken:
            return  # with the context, all that was in it is gone
        try:
            self.call(name, *args)
        except (Stopped, SourceError) as error:
            self.broken = True
            raise Poisoned("crash", f"memory cannot be given back: {error}") from error

    @contextmanager
    def setting_up(self, what: str) -> Generator[None]:
        """Turn every fault into a `DeviceError`: there is no variant yet to blame."""
        try:
            yield
        except (Stopped, SourceError) as error:
            raise NotReadyError(f"{what}: {error}") from error

    def attribute(self, device: Any, name: str) -> int:
        """A number that the driver knows of a GPU, such as ``L2_CACHE_SIZE``."""
        key = getattr(self.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self.call("cuDeviceGetAttribute", key, device))


def initialized() -> bool:
    """Whether anything in this process has opened a GPU, gevolve or not."""
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if str(entry.readlink()).startswith(("/dev/nvidia", "/dev/dxg")):
                return True
    return False


def start(functions: Any = None) -> Driver:
    """Initialize the driver in this process; the error says what to do if that is not possible."""
    # A variant is loaded once; in the driver's cache it would only displace what others keep there.
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
    driver = Driver(functions or bindings())
    with driver.setting_up("cuda"):
        driver.call("cuInit", 0)
        supported = int(driver.call("cuDriverGetVersion"))
    needed = int(getattr(driver.api, "CUDA_VERSION", 0))
    if supported // 1000 < needed // 1000:
        raise NotReadyError(
            f"the NVIDIA driver supports CUDA {version(supported)}, cuda-bindings is for "
            f"{version(needed)}; update the driver, or pip install 'cuda-bindings<{needed // 1000}'"
        )
    return driver


def title(driver: Driver, device: Any) -> str:
    """A GPU's name, such as Tesla P100-PCIE-16GB."""
    name = bytes(driver.call("cuDeviceGetName", 256, device))
    return name.partition(b"\0")[0].decode(errors="replace")


def sm(driver: Driver, device: Any) -> int:
    """A GPU's compute capability in one number: 70 for sm_70."""
    major, minor = (
        driver.attribute(device, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR")
    )
    return 10 * major + minor


def version(number: int) -> str:
    """A CUDA version as people write it: 12080 is 12.8."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _missing(name: str, error: Exception) -> str:
    """What it means that the bindings cannot call a function."""
    if name == "cuInit":
        return "there is no NVIDIA driver (libcuda.so.1); install it, or use --device sim:a100"
    return f"{name}: the driver is too old for cuda-bindings; update it ({one_line(error)})"


def _first_complaint(log: bytearray | None) -> str:
    """The first error in the log of the driver's assembler."""
    lines = bytes(log or b"").partition(b"\0")[0].decode(errors="replace").splitlines()
    said = [line.strip() for line in lines if line.strip()]
    return next((line for line in said if "error" in line or "fatal" in line), "")[:300]
