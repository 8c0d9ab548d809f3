"""Lists the NVIDIA GPUs, in a subprocess.

The driver must not be initialized in a process that forks, and it may hang. So
``python -m gevolve.device.cuda.query`` lists them as JSON, and is killed if it takes too long.
"""

import sys
from typing import Any

import msgspec

from gevolve.device.cuda import driver as cuda_driver
from gevolve.errors import DeviceError, GevolveError
from gevolve.system import tools

_SECONDS = 30.0
"""The time limit of the subprocess."""


class GpuInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU that the driver lists."""

    index: int
    """Its number: 0 for ``cuda:0``."""
    title: str
    sm: str
    memory: int
    """Bytes."""
    driver: str
    """The CUDA version that the driver supports."""


class _Answer(msgspec.Struct):
    found: list[GpuInfo] = []
    error: str = ""


def gpus() -> list[GpuInfo]:
    """All GPUs; raises `DeviceError`, with what to do, if there is no driver."""
    command = [sys.executable, "-m", "gevolve.device.cuda.query"]
    try:
        done = tools.run(command, seconds=_SECONDS)
    except tools.ToolTimeoutError:
        raise DeviceError(
            f"the NVIDIA driver did not answer in {_SECONDS:g} s; see `nvidia-smi` and `dmesg`"
        ) from None
    try:
        answer = msgspec.json.decode(done.out, type=_Answer)
    except msgspec.DecodeError:
        why = done.said.splitlines()[-1]
        raise DeviceError(
            f"the NVIDIA driver could not be asked: {why}; see `nvidia-smi` and `dmesg`"
        ) from None
    if answer.error:
        raise DeviceError(answer.error)
    return answer.found


def ask(functions: Any = None) -> list[GpuInfo]:
    """All GPUs, listed by the driver in this process."""
    driver = cuda_driver.start(functions)
    with driver.setting_up("cuda"):
        supported = cuda_driver.version(int(driver.call("cuDriverGetVersion")))
        return [
            _describe(driver, index, supported)
            for index in range(int(driver.call("cuDeviceGetCount")))
        ]


def _describe(driver: cuda_driver.Driver, index: int, supported: str) -> GpuInfo:
    device = driver.call("cuDeviceGet", index)
    return GpuInfo(
        index=index,
        title=cuda_driver.title(driver, device),
        sm=f"sm_{cuda_driver.sm(driver, device)}",
        memory=int(driver.call("cuDeviceTotalMem", device)),
        driver=supported,
    )


def main() -> None:
    """Print the GPUs, or the error."""
    try:
        answer = _Answer(found=ask())
    except GevolveError as error:
        answer = _Answer(error=str(error))
    sys.stdout.buffer.write(msgspec.json.encode(answer))


if __name__ == "__main__":
    main()
