"""A worker process as the main process sees it: a socket, a log, and a certain end."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from gevolve.evaluate.child import linux
from gevolve.evaluate.protocol import LARGEST, FromMain, FromWorker, Inbox, Start, frame
from gevolve.evaluate.verdict import signal_name

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
}


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
        ours, theirs = socket.socketpair()
        self._log = os.fdopen(os.memfd_create("log"), "r+b")  # needs no disk, which may be full
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "gevolve.evaluate.worker.main",
                    str(theirs.fileno()),
                    str(os.getpid()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                pass_fds=(theirs.fileno(),),
                env=os.environ | _ENVIRONMENT,
                start_new_session=True,  # so that Ctrl-C in the terminal reaches only us
            )
        ours.setblocking(False)
        self._socket = ours
        self._outbox = bytearray()
        self._inbox: Inbox[FromWorker] = Inbox(FromWorker, LARGEST)
        self.send(start)

    @property
    def pid(self) -> int:
        return self._process.pid

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

    def end(self, seconds: float = 0.0) -> str:
        """End the worker and all that it started, and return how it ended."""
        self.hang_up()
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        for pid in linux.session(self.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        self._log.close()
        how = signal_name(-status) if status < 0 else f"exit status {status}"
        return f"{how}: {lines[-1]}" if lines else how
