"""Launches by the CUDA driver API, in NVIDIA's own Python bindings."""

from collections.abc import Sequence

from gevolve.export.scripts.launches import Argument, Launch
from gevolve.export.scripts.words import HINT, scalar, size

_HEAD = '''"""Launches kernels of {file} by the CUDA driver API (pip install cuda-bindings).

{about}
{hint}
"""

from pathlib import Path

import numpy as np
from cuda.bindings import driver


def check(result):
    """What a call of the driver gives, or an error in words."""
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(driver.cuGetErrorString(status)[1].decode())
    return values[0] if values else None


def upload(array):
    """A copy of an array in the GPU's memory."""
    address = check(driver.cuMemAlloc(array.nbytes))
    check(driver.cuMemcpyHtoD(address, array.ctypes.data, array.nbytes))
    return address


def download(address, array):
    """Wait for the GPU, and copy its memory back into an array."""
    check(driver.cuMemcpyDtoH(array.ctypes.data, address, array.nbytes))
    return array


def launch(kernel, grid, block, arguments, shared=0):
    """Start a kernel; every argument is a NumPy scalar."""
    values = [np.array(argument) for argument in arguments]
    pointers = np.array([value.ctypes.data for value in values], np.uint64)
    stream = driver.CUstream(0)
    check(driver.cuLaunchKernel(kernel, *grid, *block, shared, stream, pointers.ctypes.data, 0))


check(driver.cuInit(0))
device = check(driver.cuDeviceGet(0))
check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(device))))
image = Path(__file__).with_name("{file}").read_bytes() + b"\\0"
module = check(driver.cuModuleLoadData(image))
'''
_LAUNCH = """
{name} = check(driver.cuModuleGetFunction(module, b"{kernel}"))  # {title}
{arrays}
on_gpu = {{name: upload(array) for name, array in arrays.items()}}
arguments = [
{arguments}
]
launch({name}, {grid}, {block}, arguments, shared={shared})
results = {{name: download(on_gpu[name], array) for name, array in arrays.items()}}
for address in on_gpu.values():
    check(driver.cuMemFree(address))
"""


def script(file: str, about: str, launches: Sequence[Launch]) -> str:
    """The whole script."""
    return _HEAD.format(file=file, about=about, hint=HINT) + "".join(map(_launch, launches))


def _launch(launch: Launch) -> str:
    arrays = ",\n    ".join(
        f'"{one.name}": np.zeros({size(one)}, np.{one.dtype})' for one in launch.arrays
    )
    return _LAUNCH.format(
        name=launch.name,
        kernel=launch.kernel,
        title=launch.title,
        arrays=f"arrays = {{\n    {arrays},\n}}" if arrays else "arrays = {}",
        grid=launch.grid,
        block=launch.block,
        arguments="\n".join(f"    {_argument(one)}," for one in launch.arguments),
        shared=launch.shared,
    )


def _argument(argument: Argument) -> str:
    if argument.shape is not None:
        return f'np.uint64(int(on_gpu["{argument.name}"]))'
    return scalar(argument)
