"""Memory for outputs that forked children do not inherit: no variant can read what is expected."""

import mmap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gevolve.evaluate.protocol import Header

if TYPE_CHECKING:
    from gevolve.workload.base import Array


def sealed(array: "Array") -> "Array":
    """A copy of an array in memory that forked children do not inherit."""
    copy = Outputs([Header("", array.dtype.str, array.shape)]).arrays[""]
    copy[...] = array
    return copy


class Outputs:
    """The output arrays of one run, in memory that is unmapped in every forked child."""

    def __init__(self, headers: Sequence[Header]) -> None:
        self.headers = tuple(headers)
        self._map = mmap.mmap(
            -1,
            max(1, sum(header.nbytes for header in headers)),
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
        )
        self._map.madvise(mmap.MADV_DONTFORK)
        self.arrays: dict[str, Array] = {}
        """The outputs by name, as `fill` left them."""
        offset = 0
        for header in headers:
            array: Array = np.ndarray(header.shape, header.dtype, self._map, offset)
            self.arrays[header.name] = array
            offset += header.nbytes

    def fill(self, read: Callable[[memoryview], None]) -> None:
        """Let `read` write the bytes of all arrays here, in order."""
        with memoryview(self._map) as view, view[: sum(h.nbytes for h in self.headers)] as part:
            read(part)
