"""A forked child in which code may do what it likes, and a parent that outlives it.

The child is a copy of a warm process, so it starts in a millisecond with everything loaded. It may
crash, hang, flood its pipes, fork or allocate without end: the parent waits for nothing longer than
the deadline, then kills the child's whole process group and whatever else descends from it.
"""

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn, Self, TypeVar

import numpy as np

from gevolve.evaluate.child import linux
from gevolve.evaluate.protocol import (
    LARGEST,
    LARGEST_FROM_CHILD,
    Failed,
    FromChild,
    GarbledError,
    Inbox,
    Turn,
    frame,
)
from gevolve.workload.base import Array

_Expected = TypeVar("_Expected")
_GO, _DROP = b"g", b"d"
_TAIL = 2048
_lasting: set[int] = set()
"""Children that are not to be taken for strays."""
_LAST_WORDS = 16 << 20
"""Bytes of address space kept back, so that a child out of memory can still say so."""


class LateError(Exception):
    """The child passed its deadline."""


class OrphanedError(Exception):
    """The main process is gone, so nobody wants the answer any more."""


class GoneError(Exception):
    """The child ended, or closed its channel, before it said what was expected of it."""

    def __init__(self, status: int | None, tail: str) -> None:
        super().__init__(tail)
        self.status = status
        """As from `os.waitstatus_to_exitcode`; None if it closed its channel and lives on."""
        self.tail = tail
        """The last line that it wrote to stderr."""


class GaveUpError(Exception):
    """The child said that it cannot go on, and how that came."""

    def __init__(self, message: Failed) -> None:
        super().__init__(message.detail)
        self.message = message


class Dropped(Exception):  # noqa: N818  (a child is told so, and no mistake)
    """The worker has seen enough of an artefact."""


class Channel:
    """The child's end: it says what it has done, and waits for leave to go on."""

    def __init__(self, end: socket.socket, forked: float) -> None:
        self._end = end
        self.forked = forked
        """Seconds that it took to bring the child to life."""

    def send(self, message: FromChild, arrays: Sequence[Array] = ()) -> None:
        self._end.sendall(frame(message))
        for array in arrays:
            self._end.sendall(array.reshape(-1).view(np.uint8).data)

    def wait(self) -> None:
        match self._end.recv(1):
            case b"g":
                return
            case b"d":
                raise Dropped
            case _:
                os._exit(0)

    def turn(self) -> Turn:
        """What to do next, in a child that lasts."""
        inbox: Inbox[Turn] = Inbox(Turn, LARGEST)
        while (turn := inbox.take()) is None:
            data = self._end.recv(inbox.missing)
            if not data:
                os._exit(0)
            inbox.feed(data)
        return turn


class Child:
    """The worker's end: a running child, until `end` or the end of a `with` block."""

    def __init__(
        self, pid: int, end: socket.socket, errors: int, seconds: float, main: int | None
    ) -> None:
        self.pid = pid
        self._end = end
        self._errors = errors
        self._pidfd = os.pidfd_open(pid)
        self._main = main
        _lasting.add(self.pid)
        self._deadline = time.monotonic() + seconds
        self._tail = b""
        self._status: int | None = None
        self._inbox: Inbox[FromChild] = Inbox(FromChild, LARGEST_FROM_CHILD)
        os.set_blocking(errors, False)
        end.setblocking(False)
        self._poll = select.poll()
        self._poll.register(end, select.POLLIN)
        self._poll.register(errors, select.POLLIN)
        self._poll.register(self._pidfd, select.POLLIN)
        if main is not None:
            self._poll.register(main, 0)  # a hang-up is always reported

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def go(self) -> None:
        """Give the child leave to take its next step."""
        try:
            self._end.send(_GO)
        except (BrokenPipeError, ConnectionResetError):
            self._hung_up()
        except BlockingIOError:
            raise GarbledError("it does not read its channel") from None

    def turn(self, turn: Turn, seconds: float) -> None:
        """Give a child that lasts something to do, for at most `seconds`."""
        self._deadline = time.monotonic() + seconds
        self._tail = b""
        self._end.settimeout(seconds)
        with contextlib.suppress(OSError):  # `expect` says how it ended, or that it is late
            self._end.sendall(frame(turn))
        self._end.setblocking(False)

    def drop(self) -> None:
        """Have a child that lasts, and now waits for leave, give up what it is at."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._end.send(_DROP)

    def expect(self, kind: type[_Expected]) -> _Expected:
        """The child's next message, which must be of this kind."""
        while (message := self._inbox.take()) is None:
            self._inbox.feed(self._receive(self._inbox.missing))
        if isinstance(message, Failed):
            raise GaveUpError(message)
        if not isinstance(message, kind):
            raise GarbledError(f"it sent {type(message).__name__} out of turn")
        return message

    def fill(self, buffer: memoryview) -> None:
        """Read exactly these bytes, which follow a message."""
        filled = 0
        while filled < len(buffer):
            self._wait()
            try:
                count = self._end.recv_into(buffer[filled:])
            except (BlockingIOError, ConnectionResetError):
                count = 0
            if count == 0:
                self._hung_up()
            filled += count

    def end(self) -> None:
        """Kill the child and all that it started, and see them gone.

        It is worth the wait: every page that is written to while a child still shares it is copied.
        """
        if self._end.fileno() < 0:
            return
        _lasting.discard(self.pid)
        if self._status is None:
            _kill(self.pid)
            self._reap(1.0)
        self._end.close()
        os.close(self._errors)
        os.close(self._pidfd)
        clear(seconds=1.0)

    def _receive(self, most: int) -> bytes:
        self._wait()
        try:
            data = self._end.recv(most)
        except (BlockingIOError, ConnectionResetError):
            data = b""
        return data or self._hung_up()

    def _wait(self) -> None:
        """Return when there is something to read from the channel; raise if there never will be."""
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise LateError
            ready = {fd for fd, _ in self._poll.poll(left * 1000)}
            if self._main in ready:
                raise OrphanedError
            if self._errors in ready:
                self._drain()
            if self._end.fileno() in ready:
                return
            if self._pidfd in ready:  # and nothing is left to read
                self._hung_up()

    def _hung_up(self) -> NoReturn:
        # The channel closes a moment before the status is there.
        self._reap(min(1.0, max(0.0, self._deadline - time.monotonic())))
        self._drain()
        lines = self._tail.decode(errors="replace").strip().splitlines()
        raise GoneError(self._status, lines[-1].strip() if lines else "")

    def _drain(self) -> None:
        """Keep the pipe of stderr from filling up; only its last bytes are kept."""
        for _ in range(16):  # a flood must not keep us from looking at the clock
            try:
                data = os.read(self._errors, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                if self._status is None:
                    self._poll.modify(self._errors, 0)
                return
            self._tail = (self._tail + data)[-_TAIL:]

    def _reap(self, seconds: float) -> None:
        if self._status is not None:
            return
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        if poll.poll(seconds * 1000):
            _, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status)


def start(
    task: Callable[[Channel], None],
    *,
    seconds: float,
    room: int | None = None,
    main: int | None = None,
) -> Child:
    """Run `task` in a child of this process, for at most `seconds`.

    `room` is how many bytes its address space may grow by. `main` is a file descriptor that hangs up
    when nobody wants the answer any more; the child does not inherit it.
    """
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    worker = os.getpid()
    most = None if room is None else linux.address_space() + room
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        try:
            for fd in (ours.fileno(), read, *(() if main is None else (main,))):
                os.close(fd)
            os.dup2(write, 2)
            _confine(worker, most)
            task(Channel(theirs, time.perf_counter() - began))
        except BaseException:  # noqa: BLE001  (nothing may climb out into the worker's own loop)
            os.write(2, traceback.format_exc(limit=-1).encode()[-_TAIL:])
        finally:
            os._exit(0)
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpgid(pid, pid)  # the child does so too: whoever comes first
    theirs.close()
    os.close(write)
    return Child(pid, ours, read, seconds, main)


def _confine(worker: int, most: int | None) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    linux.die_with_parent(worker, signal.SIGKILL)
    gc.disable()  # a collection would touch, and so copy, every page of the warm process
    if most is not None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most + _LAST_WORDS))


def last_words() -> None:
    """Let a child that ran out of memory have a little more, to say that it did."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def clear(seconds: float, *, everything: bool = False) -> None:
    """Kill every process that descends from this one, but for children that are to last.

    Those that die within `seconds` are reaped. With `everything`, no child lasts.
    """
    if everything:
        _lasting.clear()
    until = time.monotonic() + seconds
    while left := [pid for pid in linux.children() if pid not in _lasting]:
        for pid in left:
            _kill(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() >= until:
            break
        time.sleep(0.0005)


def _kill(pid: int) -> None:
    """Kill a process that has not been reaped, and its group if it leads one."""
    try:
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
