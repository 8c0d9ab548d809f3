"""A child process as its worker sees it: it is told what to do, heard, and killed if need be.

It may crash, hang, flood its pipes, fork or allocate without end: the worker never waits longer than
the deadline, then kills the child's process group and all other descendants.
"""

import contextlib
import os
import select
import signal
import socket
import time
from typing import NoReturn, Self, TypeVar

from gevolve.errors import MachineError
from gevolve.evaluate.child.main import GO, SKIP, STOP
from gevolve.evaluate.protocol import (
    LARGEST_FROM_CHILD,
    Assignment,
    Failed,
    FromChild,
    Inbox,
    MalformedMessageError,
    Ran,
    frame,
)
from gevolve.system import linux

_Message = TypeVar("_Message")
TAIL = 2048
"""Bytes of stderr that are kept."""
_LOOK = 0.25
"""How often, in seconds, it is looked whether someone has stopped the child."""
_WAKES = 40
"""A child that is stopped more often than this, by itself perhaps, is not woken any more."""
_alive: set[int] = set()
"""Children that were started and not ended; all other descendants are strays."""


class DeadlineError(Exception):
    """The child passed its deadline."""


class OrphanedError(Exception):
    """The main process is gone, so nobody waits for the answer."""


class ChildEndedError(Exception):
    """The child ended, or closed its channel, before it sent the expected message."""

    def __init__(self, status: int | None, tail: str) -> None:
        super().__init__(tail)
        self.status = status
        """As from `os.waitstatus_to_exitcode`; None if it closed its channel and lives on."""
        self.tail = tail
        """The last line that it wrote to stderr."""

    @property
    def killed(self) -> bool:
        """Whether it was killed from outside, as the kernel does when memory runs out."""
        return self.status == -signal.SIGKILL


class ChildFailedError(Exception):
    """The child reported that it failed, and how."""

    def __init__(self, message: Failed) -> None:
        super().__init__(message.detail)
        self.message = message


FAILURES = (DeadlineError, ChildEndedError, ChildFailedError, MalformedMessageError)
"""All that a child can do instead of sending the expected message."""


class Child:
    """A running child, until `end` or the end of a `with` block."""

    def __init__(
        self, pid: int, end: socket.socket, errors: int, seconds: float, main: int | None
    ) -> None:
        self.pid = pid
        self._end = end
        self._errors = errors
        self._pidfd = os.pidfd_open(pid)
        self._main = main
        _alive.add(self.pid)
        self._begin(seconds)
        self._status: int | None = None
        self._inbox: Inbox[FromChild] = Inbox(FromChild, LARGEST_FROM_CHILD)
        self._waiting = True
        """Whether the child waits for leave to go on, or for its next assignment."""
        self._assigned = False
        """Whether it has an artefact that it has not given up."""
        self._unread = 0
        """Bytes of outputs that it has announced and that were not read."""
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

    def assign(self, assignment: Assignment, seconds: float) -> None:
        """Give a serving child an artefact to run, for at most `seconds`."""
        self._begin(seconds)
        self._assigned, self._waiting = True, False
        self._end.settimeout(seconds)
        with contextlib.suppress(OSError):  # `expect` reports how it ended, or that it is late
            self._end.sendall(frame(assignment))
        self._end.setblocking(False)

    def _begin(self, seconds: float) -> None:
        """Give it so much time from now on."""
        self._deadline = time.monotonic() + seconds
        self._tail = b""
        self._wakes = 0
        self._left = (time.monotonic(), time.process_time())

    def go(self) -> None:
        """Let the child take its next step."""
        self._waiting = False
        try:
            self._end.send(GO)
        except (BrokenPipeError, ConnectionResetError):
            self._hung_up()
        except BlockingIOError:
            raise MalformedMessageError("it does not read its channel") from None

    def skip(self) -> None:
        """Let the child leave out its next run; it waits before the one after that."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, BlockingIOError):
            self._end.send(SKIP)

    def expect(self, kind: type[_Message]) -> _Message:
        """The child's next message, which must be of this kind."""
        self._waiting = False
        while (message := self._inbox.take()) is None:
            self._inbox.feed(self._receive(self._inbox.missing))
        if isinstance(message, Failed) and message.how == "machine":
            raise MachineError(message.detail)
        if isinstance(message, Failed):
            self._assigned, self._waiting = False, not message.last
            raise ChildFailedError(message)
        if not isinstance(message, kind):
            raise MalformedMessageError(f"it sent {type(message).__name__} out of turn")
        if isinstance(message, Ran):
            self._unread += sum(header.nbytes for header in message.outputs)
        self._waiting = True
        return message

    def fill(self, buffer: memoryview) -> None:
        """Receive exactly as many bytes as the buffer holds."""
        done = 0
        while done < len(buffer):
            data = self._receive(len(buffer) - done)
            buffer[done : done + len(data)] = data
            done += len(data)
        self._unread -= len(buffer)

    def peak_address_space(self) -> int:
        """The largest size of its address space so far, in bytes."""
        try:
            return linux.peak_address_space(self.pid)
        except OSError:
            self._hung_up()

    def stop(self) -> bool:
        """Make a serving child give up its artefact; False if it is in no state to be told."""
        if not self._waiting or self._unread:
            return False
        if self._assigned:
            self._assigned = False
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._end.send(STOP)
        return True

    def end(self) -> None:
        """Kill the child and all other descendants of this process, and wait until they are gone.

        It is worth the wait: every page that is written to while a child still shares it is copied.
        """
        if self._end.fileno() < 0:
            return
        _alive.discard(self.pid)
        if self._status is None:
            linux.kill(self.pid)
            self._reap(1.0)
        self._end.close()
        os.close(self._errors)
        os.close(self._pidfd)
        linux.kill_descendants(seconds=1.0, spare=_alive | linux.lasting)

    def _receive(self, most: int) -> bytes:
        self._wait()
        try:
            data = self._end.recv(most)
        except (BlockingIOError, ConnectionResetError):
            data = b""
        return data or self._hung_up()

    def _wait(self) -> None:
        """Return when there is something to read from the channel; raise if there never will be."""
        self._excuse_self()
        try:
            while True:
                left = self._deadline - time.monotonic()
                began, step = time.monotonic(), max(0.0, min(left, _LOOK))
                ready = {fd for fd, _ in self._poll.poll(step * 1000)}
                if self._main in ready:
                    raise OrphanedError
                if self._errors in ready:
                    self._drain()
                if self._end.fileno() in ready:
                    return
                if self._pidfd in ready:  # and nothing is left to read
                    self._hung_up()
                if not ready:
                    self._excuse(began, step)
                if self._deadline <= time.monotonic():
                    raise DeadlineError
        finally:
            self._left = (time.monotonic(), time.process_time())

    def _excuse(self, began: float, step: float) -> None:
        """Wake a child that was stopped; no time counts in which it, or this process, was."""
        passed = time.monotonic() - began
        if passed > step + 2 * _LOOK:
            self._deadline += passed - step
        if self._wakes < _WAKES and linux.wake(self.pid):
            self._wakes += 1
            self._deadline += passed

    def _excuse_self(self) -> None:
        """Do not count time in which this process was kept from computing."""
        then, used = self._left
        kept = (time.monotonic() - then) - (time.process_time() - used)
        if kept > 4 * _LOOK:
            self._deadline += kept

    def _hung_up(self) -> NoReturn:
        # The channel closes a moment before the status is there.
        self._reap(min(1.0, max(0.0, self._deadline - time.monotonic())))
        self._drain()
        lines = self._tail.decode(errors="replace").strip().splitlines()
        raise ChildEndedError(self._status, lines[-1].strip() if lines else "")

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
            self._tail = (self._tail + data)[-TAIL:]

    def _reap(self, seconds: float) -> None:
        if self._status is not None:
            return
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        if poll.poll(seconds * 1000):
            _, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status)
