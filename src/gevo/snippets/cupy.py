"""Launches by CuPy: `cupy.RawModule` takes PTX and cubin alike."""

from collections.abc import Sequence

from gevo.snippets.launches import Argument, Launch
from gevo.snippets.words import HINT, scalar, size

_HEAD = '''"""Launches kernels of {file} by CuPy.

{about}
{hint}
"""

from pathlib import Path

import cupy
import numpy as np

module = cupy.RawModule(path=str(Path(__file__).with_name("{file}")))
'''
_LAUNCH = """
{name} = module.get_function("{kernel}")  # {title}
{arrays}
arguments = (
{arguments}
)
{name}({grid}, {block}, arguments, shared_mem={shared})
cupy.cuda.Device().synchronize()
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
            f"{one.name} = cupy.zeros({size(one)}, np.{one.dtype})" for one in launch.arrays
        ),
        grid=launch.grid,
        block=launch.block,
        arguments="\n".join(f"    {_argument(one)}," for one in launch.arguments),
        shared=launch.shared,
    )


def _argument(argument: Argument) -> str:
    return argument.name if argument.shape is not None else scalar(argument)
