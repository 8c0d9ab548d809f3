"""Launches by PyCUDA: `module_from_buffer` takes PTX and cubin alike."""

from collections.abc import Sequence

from gevolve.export.scripts.launches import Launch
from gevolve.export.scripts.words import HINT, filled

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
    head = _HEAD.format(file=file, about=about, hint=HINT)
    return head + "".join(filled(_LAUNCH, one, "gpuarray.zeros", ".gpudata") for one in launches)
