"""Launches by PyCUDA: `module_from_buffer` takes PTX and cubin alike."""

from collections.abc import Sequence

from gevo.snippets.launches import Argument, Launch
from gevo.snippets.words import HINT, scalar, size

_HEAD = '''"""Launches kernels of {file} by PyCUDA.

{about}
{hint}
"""

from pathlib import Path

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import gpuarray

module = cuda.module_from_buffer(Path(__file__).with_name("{file}").read_bytes() + b"\\0")
'''
_LAUNCH = """
{name} = module.get_function("{kernel}")  # {title}
{arrays}
{name}(
{arguments}
    grid={grid},
    block={block},
    shared={shared},
)
cuda.Context.synchronize()
"""


def script(file: str, about: str, launches: Sequence[Launch]) -> str:
    """The whole script."""
    return _HEAD.format(file=file, about=about, hint=HINT) + "".join(map(_launch, launches))


def _launch(launch: Launch) -> str:
    return _LAUNCH.format(
        name=launch.name,
        kernel=launch.kernel,
        title=launch.title,
        arrays="\n".join(
            f"{one.name} = gpuarray.zeros({size(one)}, np.{one.dtype})" for one in launch.arrays
        ),
        grid=launch.grid,
        block=launch.block,
        arguments="\n".join(f"    {_argument(one)}," for one in launch.arguments),
        shared=launch.shared,
    )


def _argument(argument: Argument) -> str:
    return f"{argument.name}.gpudata" if argument.shape is not None else scalar(argument)
