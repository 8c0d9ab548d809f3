"""Launches by CuPy: `cupy.RawModule` takes PTX and cubin alike."""

from collections.abc import Sequence

from gevolve.export.scripts.launches import Launch
from gevolve.export.scripts.words import HINT, filled

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
    head = _HEAD.format(file=file, about=about, hint=HINT)
    return head + "".join(filled(_LAUNCH, one, "cupy.zeros") for one in launches)
