"""Arrays by name as the bytes of an npz file; nothing that such a file holds is ever run."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def to_npz(arrays: Mapping[str, Array]) -> bytes:
    """The arrays as a file, compressed."""
    file = io.BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(file, **named)
    return file.getvalue()


def from_npz(data: bytes) -> dict[str, Array]:
    """The arrays of such a file; raises `ValueError` if it is none, or has objects in it."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"no npz file: {error}") from error
