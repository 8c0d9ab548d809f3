"""The wire between a program and its virtual GPU, seen from the GPU.

A program's call comes as a `Request`. While it is worked on, the GPU has the program read, write and copy
its own memory, and call its functions; `libcuda.c` is the other end.
"""

import socket
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from gevolve.device.sim.memory import SLOT

ARGUMENTS = 12
VERSION = 3
_REQUEST = struct.Struct(f"<II{ARGUMENTS}QII")
_STEP = struct.Struct("<5Q")
_HELLO = struct.Struct("<3Q")
_NUMBER = struct.Struct("<Q")
_WHOLE = (1 << 64) - 1


class Step(IntEnum):
    """What a program is asked for; the order is that of `enum step_kind`."""

    DONE = 0
    READ = 1
    TEXT = 2
    WRITE = 3
    COPY = 4
    GATHER = 5
    SYMBOL = 6
    CALL = 7
    MAP = 8
    UNMAP = 9
    ADOPT = 10
    ABANDON = 11
    PRINT = 12


class Request(NamedTuple):
    """One call: the number of the function, the thread that calls, and raw arguments."""

    function: int
    thread: int
    arguments: tuple[int, ...]
    later: bool = False
    """Whether the program does not wait for it."""


class HostCall(NamedTuple):
    """A function of the program, to be called with `first`, a success, and `last`."""

    function: int
    first: int
    last: int = 0


class GoneError(Exception):
    """The program has ended."""


class Program:
    """A program that uses the GPU."""

    def __init__(self, connection: socket.socket, memory: int, base: int) -> None:
        """`memory` is the file that holds device memory, which begins at address `base`."""
        self._socket = connection
        self._read = bytearray()
        """What has come and was not asked for yet."""
        self._given = b""
        """The parameters of a launch, where they come with the call."""
        hello = _HELLO.pack(base, SLOT, VERSION)
        socket.send_fds(connection, [hello], [memory])

    def request(self) -> Request:
        """The next call; `GoneError` if there is none."""
        function, thread, *arguments, later, size = _REQUEST.unpack(self._get(_REQUEST.size))
        self._given = self._get(size)
        return Request(function, thread, tuple(arguments), bool(later))

    def done(self, code: int, then: "HostCall | None" = None) -> None:
        """Return from the call, when the program has called a function of its own, if there is one."""
        self._ask(Step.DONE, code, *(then or ()))

    def read(self, address: int, size: int) -> bytes:
        """Memory of the program."""
        if not size:
            return b""
        self._ask(Step.READ, address, size)
        return self._get(size)

    def text(self, address: int) -> bytes:
        """A string, up to its NUL."""
        self._ask(Step.TEXT, address)
        return self._get(self._number())

    def write(self, address: int, data: bytes) -> None:
        if data:
            self._ask(Step.WRITE, address, len(data))
            self._send(data)

    def gather(self, address: int, sizes: Sequence[int]) -> list[bytes]:
        """What the addresses in an array point to, so many bytes of each."""
        if not sizes:
            return []
        whole, found, at = self._given, list[bytes](), 0
        if not whole:
            self._ask(Step.GATHER, address, len(sizes))
            self._send(struct.pack(f"<{len(sizes)}Q", *sizes))
            whole = self._get(sum(sizes))
        for size in sizes:
            found.append(whole[at : at + size])
            at += size
        return found

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy bytes; each end may be device memory, or the program's own."""
        if size:
            self._step(Step.COPY, to, source, size)

    def symbol(self, address: int, number: int) -> None:
        """Write the address of a function of the library."""
        self._step(Step.SYMBOL, address, number)

    def call(self, call: "HostCall") -> int:
        """What the function returns, if it returns anything."""
        self._ask(Step.CALL, *call)
        return self._number()

    def map(self, address: int, size: int) -> bool:
        """Let the program use device memory by its address; False if that is taken."""
        return self._step(Step.MAP, address, size)

    def unmap(self, address: int, size: int) -> None:
        self._step(Step.UNMAP, address, size)

    def adopt(self, address: int, device: int, size: int) -> bool:
        """Make whole pages of the program pages of device memory."""
        return self._step(Step.ADOPT, address, device, size)

    def abandon(self, address: int, size: int) -> None:
        """Make them its own again."""
        self._step(Step.ABANDON, address, 0, size)

    def print(self, stream: int, text: bytes) -> None:
        """Write text to a stream of the program: 1 is its output, 2 is for errors."""
        self._ask(Step.PRINT, stream, len(text))
        self._send(text)
        self._number()

    def _step(self, kind: Step, a: int, b: int = 0, c: int = 0) -> bool:
        self._ask(kind, a, b, c)
        return bool(self._number())

    def _ask(self, kind: Step, a: int, b: int = 0, c: int = 0, d: int = 0) -> None:
        self._send(_STEP.pack(kind, *(value & _WHOLE for value in (a, b, c, d))))

    def _send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError:
            raise GoneError from None

    def _number(self) -> int:
        return _NUMBER.unpack(self._get(_NUMBER.size))[0]

    def _get(self, size: int) -> bytes:
        while len(self._read) < size:
            try:
                part = self._socket.recv(max(size - len(self._read), 1 << 16))
            except OSError:
                part = b""
            if not part:
                raise GoneError
            self._read += part
        found = bytes(self._read[:size])
        del self._read[:size]
        return found
