"""What the device `iree` and the process that is IREE tell each other."""

import socket
import struct
from typing import Any

import msgspec
import numpy as np

from gevolve.device.base import Array
from gevolve.device.cost import KernelCost
from gevolve.device.virtual.session import Finding

_SIZE = struct.Struct("<Q")


class Tensor(msgspec.Struct, frozen=True):
    """An array; without data, one whose values do not matter."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | None = None

    @classmethod
    def of(cls, array: Array, *, whole: bool = True) -> "Tensor":
        return cls(array.dtype.name, array.shape, array.tobytes() if whole else None)

    def array(self) -> Array:
        if self.dtype not in np.sctypeDict:
            import ml_dtypes  # noqa: F401, PLC0415  # pyright: ignore[reportUnusedImport]  (it has types that NumPy does not)
        kind = np.dtype(self.dtype)
        if self.data is None:
            return np.zeros(self.shape, kind)
        return np.frombuffer(bytearray(self.data), kind).reshape(self.shape)


class Work(msgspec.Struct, frozen=True):
    """A program, and PTX in place of that of some of its kernels."""

    program: bytes
    """StableHLO, as text."""
    evolved: dict[str, bytes] = {}


class Ping(msgspec.Struct, frozen=True, tag=True):
    """Says that one is there."""


class Compile(msgspec.Struct, frozen=True, tag=True):
    """Make a module; the answer is `Compiled`."""

    work: Work


class Run(msgspec.Struct, frozen=True, tag=True):
    """Run a program, or with `dry` only find its time; the answer is `Ran`."""

    work: Work
    arguments: list[Tensor]
    dry: bool = False
    cost: bool = False
    """Whether to tell what each kernel costs."""
    watched: list[str] = []
    """Kernels of which it is told what they do and should not do."""


class Piece(msgspec.Struct, frozen=True):
    """A part of a program that is a program itself."""

    name: str
    """A digest of what it computes, which its function is called by."""
    function: str
    """StableHLO, as text."""
    arguments: list[Tensor]
    """Without data."""


class Time(msgspec.Struct, frozen=True, tag=True):
    """Find the time of pieces; the answer is `Timed`."""

    pieces: list[Piece]
    evolved: dict[str, bytes] = {}
    """PTX in place of that of kernels."""


class Kernel(msgspec.Struct, frozen=True):
    """Code of a kernel that IREE has made."""

    llvm: str
    """LLVM-IR after IREE's optimizer, as llvmlite reads it."""
    ptx: bytes


class Compiled(msgspec.Struct, frozen=True, tag=True):
    """A module of IREE's, and its kernels by name, in the order of the program."""

    module: bytes
    kernels: dict[str, Kernel]
    fresh: int = 0
    """Kernels that were not known before."""


class Ran(msgspec.Struct, frozen=True, tag=True):
    """What a run gave and took."""

    time: float = 0.0
    """Cycles of a virtual GPU, seconds of a real one."""
    launches: int = 1
    instructions: int = 0
    """Warp instructions, on a virtual GPU."""
    fresh: int = 0
    """Launches that nobody had timed before."""
    results: list[Tensor] = []
    kernels: dict[str, KernelCost] = {}
    findings: list[Finding] = []
    """What watched kernels did and should not do."""
    read_back: bool = False
    """Whether its way depends on what it computes, so that a dry run cannot tell its time."""


class Timed(msgspec.Struct, frozen=True, tag=True):
    """What each piece takes, in their order."""

    pieces: list[Ran]


class Failed(msgspec.Struct, frozen=True, tag=True):
    """It cannot be done, and why."""

    how: str
    """``compile``, ``unsupported`` or ``device``; else a verdict on what was run."""
    words: str


Request = Ping | Compile | Run | Time
Answer = Ping | Compiled | Ran | Timed | Failed


def send(connection: socket.socket, message: Request | Answer) -> None:
    data = msgspec.msgpack.encode(message)
    connection.sendall(_SIZE.pack(len(data)))
    connection.sendall(data)


def receive(connection: socket.socket, kind: Any) -> Any:
    """The next message of a kind; `EOFError` if there is none."""
    (size,) = _SIZE.unpack(_exactly(connection, _SIZE.size))
    return msgspec.msgpack.decode(_exactly(connection, size), type=kind)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
