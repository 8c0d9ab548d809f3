"""What a StableHLO program takes and gives: shapes and element types, in NumPy's terms."""

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from gevolve.errors import SourceError, UnsupportedError


class ArraySpec(NamedTuple):
    """The shape and element type of one argument or result."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


class Signature(NamedTuple):
    """The arguments and results of a program's main function."""

    inputs: tuple[ArraySpec, ...]
    outputs: tuple[ArraySpec, ...]


_DTYPES: dict[str, np.dtype[Any]] = {
    "i1": np.dtype(np.bool_),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    **{f"i{bits}": np.dtype(getattr(ml_dtypes, f"int{bits}")) for bits in (2, 4)},
    **{f"ui{bits}": np.dtype(getattr(ml_dtypes, f"uint{bits}")) for bits in (2, 4)},
    **{
        name: np.dtype(getattr(ml_dtypes, f"float{name[1]}_{name[2:].lower()}"))
        for name in ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ")
    },
}
"""NumPy's element types by MLIR's names for them."""


def signature_of(module: Any) -> Signature:
    """Read the types of the `main` of a module, which is given as an operation."""
    for operation in module.regions[0].blocks[0].operations:
        if operation.attributes["sym_name"].value == "main":
            kind = operation.attributes["function_type"].value
            return Signature(
                tuple(array_spec(one) for one in kind.inputs),
                tuple(array_spec(one) for one in kind.results),
            )
    raise SourceError("the module has no function main")


def array_spec(kind: Any) -> ArraySpec:
    name = str(getattr(kind, "element_type", kind))
    dtype = _DTYPES.get(name)
    if dtype is None:
        raise UnsupportedError(f"arguments and results of type {kind} cannot be passed as arrays")
    return ArraySpec(tuple(int(size) for size in kind.shape), dtype)
