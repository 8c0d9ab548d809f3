"""A worker process as the main process sees it: a socket, a log, and a certain end."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from gevolve.evaluate.protocol import LARGEST, FromMain, FromWorker, Inbox, Start, frame
from gevolve.evaluate.verdict import signal_name
from gevolve.system import environment, linux

if TYPE_CHECKING:
    from gevolve.workload.base import Split

Task = TypeVar("Task")
MARKER = "GEVOLVE_WORKER"
"""Set in the environment of workers, to detect workload files that start a search when imported."""
_ENVIRONMENT = {
    MARKER: "1",
    "OPENBLAS_NUM_THREADS": "1",  # a process with threads cannot be forked safely
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",  # a workload that iterates over a set does so alike in all workers
}
_GUARD = str(Path(linux.__file__).with_name("guard.py"))
"""The script that starts a worker."""
_PLAIN = ("-E", "-s", "-S")
"""Options of Python for a guard, which needs the standard library only."""
_SWEEP = 6.0
"""Seconds within which a guard must have ended all that its worker started."""


class WorkerProcess(Generic[Task]):
    """A worker, and the tasks that it was given."""

    def __init__(self, start: Start) -> None:
        self.device = start.device
        self.tasks: deque[Task] = deque()
        """Tasks that it has not answered yet, in order."""
        self.asked: set[Split] = set()
        """Splits that it was asked to prepare."""
        self.ready: set[Split] = set()
        """Splits that it has prepared."""
        self.since = 0.0
        """When it began with its present task."""
        self.told = 0
        """How many known evaluations it was told of."""
        self.closed = False
        """Whether it has closed its end of the socket."""
        self._status: int | None = None
        """How it ended by itself, as `subprocess` tells it."""
        ours, theirs = socket.socketpair()
        self._log = os.fdopen(os.memfd_create("log"), "r+b")  # needs no disk, which may be full
        with theirs:
            self._guard = subprocess.Popen(
                [sys.executable, *_PLAIN, _GUARD, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                pass_fds=(theirs.fileno(),),
                env=environment.named(os.environ) | _ENVIRONMENT,
                process_group=0,  # so that Ctrl-C in the terminal reaches only us
            )
        ours.setblocking(False)
        self._socket = ours
        self._outbox = bytearray()
        self._inbox: Inbox[FromWorker] = Inbox(FromWorker, LARGEST)
        self.send(start)

    def wake(self) -> bool:
        """Let it go on if someone has stopped it, or its guard; says whether that was so."""
        pids = [self._guard.pid]
        with contextlib.suppress(OSError):
            pids += linux.children(self._guard.pid)
        return sum(map(linux.wake, pids)) > 0

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: FromMain) -> None:
        """Send without blocking; `flush` sends what the socket does not take now."""
        self._outbox += frame(message)
        self.flush()

    def flush(self) -> None:
        try:
            while self._outbox:
                del self._outbox[: self._socket.send(self._outbox)]
        except BlockingIOError:
            pass
        except ConnectionError:
            self.closed = True

    @property
    def unsent(self) -> bool:
        return bool(self._outbox)

    def read(self) -> list[FromWorker]:
        """All messages that have arrived; sets `closed` at the end of the stream."""
        try:
            while data := self._socket.recv(1 << 16):
                self._inbox.feed(data)
            self.closed = True
        except BlockingIOError:
            pass
        except ConnectionError:
            self.closed = True
        return list(self._inbox.messages())

    def hang_up(self) -> None:
        """Close the socket, which tells the worker to end."""
        self._socket.close()

    @property
    def killed(self) -> bool:
        """Whether it has ended by a SIGKILL that gevolve did not send: who else does is not known."""
        return self._status == -signal.SIGKILL

    def end(self, seconds: float = 0.0) -> str:
        """End the worker and all that it started, and return how it ended."""
        self.hang_up()
        try:
            self._status = self._guard.wait(seconds)
        except subprocess.TimeoutExpired:
            self._guard.send_signal(signal.SIGTERM)
            self._guard.send_signal(signal.SIGCONT)
            try:
                self._guard.wait(_SWEEP)
            except subprocess.TimeoutExpired:
                self._guard.kill()
                self._guard.wait()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        self._log.close()
        status = self._guard.returncode
        how = signal_name(-status) if status < 0 else f"exit status {status}"
        return f"{how}: {lines[-1]}" if lines else how
