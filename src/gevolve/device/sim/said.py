"""What kernels print: `runtime/print.c` writes pieces of [stream, length, text] into a buffer."""

import struct
from collections.abc import Iterator

from gevolve.device.base import Array

ROOM = 1 << 20
"""Bytes that one launch may print, as on a card; what comes after is lost."""
_HEAD = struct.Struct("<II")


def pieces(said: Array, size: int) -> Iterator[tuple[int, bytes]]:
    """The text, and the number of the stream that it is for, in order."""
    at = 0
    while at < size:
        stream, length = _HEAD.unpack(said[at : at + _HEAD.size].tobytes())
        at += _HEAD.size
        yield stream, said[at : at + length].tobytes()
        at += length
