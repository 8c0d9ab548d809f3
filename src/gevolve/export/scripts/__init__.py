"""Scripts that load what was exported: by CuPy, PyCUDA, the CUDA driver API, JAX, IREE or gevolve itself."""

from collections.abc import Sequence
from typing import Literal, get_args

from gevolve.export.scripts import cupy, driver, pycuda
from gevolve.export.scripts.launches import Launch

Loader = Literal["cupy", "pycuda", "cuda", "none"]
LOADERS: tuple[Loader, ...] = get_args(Loader)

_KERNELS = {"cupy": cupy.script, "pycuda": pycuda.script, "cuda": driver.script}
_JAX = '''"""Runs {file} by JAX.

{about}
The arrays are placeholders of the right types: put your own in.
"""

from pathlib import Path

import jax
import jax.export
import numpy as np

exported = jax.export.deserialize(bytearray(Path(__file__).with_name("{file}").read_bytes()))
function = jax.jit(exported.call)

flat = [np.zeros(array.shape, array.dtype) for array in exported.in_avals]
arguments, named = jax.tree.unflatten(exported.in_tree, flat)
print(jax.tree.map(np.shape, function(*arguments, **named)))
'''
_MODEL = '''"""Runs {file} by gevolve, which compiles it with XLA.

{about}
"""

from pathlib import Path

import gevolve

function = gevolve.load(Path(__file__).with_name("{file}"))

# Call it with NumPy or JAX arrays, in the order of the program's parameters:
# outputs = function(weights, images)
print(function)
'''
_IREE = '''"""Runs {file} by IREE's runtime, on an NVIDIA GPU; on gevolve's virtual one by ``gevolve gpu -- python``.

{about}
"""

from pathlib import Path

import iree.runtime

module = iree.runtime.load_vm_flatbuffer_file(
    str(Path(__file__).with_name("{file}")), driver="cuda"
)

# Call it with NumPy arrays, in the order of the program's parameters:
# outputs = module.main(weights, images)
print(module)
'''
_MODELS = {"vmfb": _IREE, "jax": _JAX, "mlir": _MODEL, "bytecode": _MODEL}


def script(form: str, loader: Loader, file: str, about: str, launches: Sequence[Launch]) -> str:
    """A script that uses an exported file; empty if nothing loads this format, or nobody wants it.

    Kernels are launched as the workload launches them.
    """
    if form in ("ptx", "cubin") and loader in _KERNELS:
        return _KERNELS[loader](file, about, launches)
    if form in _MODELS and loader != "none":
        return _MODELS[form].format(file=file, about=about)
    return ""
