"""The dispatcher as the main process sees it: a socket, a log, and a certain end."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time

from gevolve.evaluate.dispatcher.messages import FromDispatcher, ToDispatcher
from gevolve.evaluate.protocol import LARGEST, Inbox, frame
from gevolve.evaluate.verdict import signal_name
from gevolve.system import linux

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is told to anyone
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray would warn that it is going to change this
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # nodes have their own environments
}


class DispatcherProcess:
    """A dispatcher that was started."""

    def __init__(self, *, own: bool) -> None:
        """Start it; on a cluster of its own nobody else can join, or run anything."""
        mine = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_worker_niceness": "0",  # as workers without Ray; it would give them 15
        }
        ours, theirs = socket.socketpair()
        self._log = os.fdopen(os.memfd_create("log"), "r+b")  # Ray must not write to the terminal
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "gevolve.evaluate.dispatcher.main"),
                    *(str(theirs.fileno()), str(os.getpid())),
                ],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(theirs.fileno(),),
                env=_ENVIRONMENT | os.environ | (mine if own else {}),
                start_new_session=True,  # so that Ctrl-C in the terminal reaches only us
            )
        self._socket = ours
        self._inbox: Inbox[FromDispatcher] = Inbox(FromDispatcher, LARGEST)
        self.closed = False
        """Whether it has closed its end of the socket."""

    def send(self, *messages: ToDispatcher) -> None:
        """Send messages; the dispatcher always reads, so this never takes long."""
        try:
            self._socket.settimeout(None)
            self._socket.sendall(b"".join(map(frame, messages)))
        except OSError:
            self.closed = True

    def receive(self, seconds: float) -> list[FromDispatcher]:
        """The messages that have arrived; waits so long for the first."""
        until = time.monotonic() + seconds
        while not self.closed:
            messages = list(self._inbox.messages())
            if messages:
                return messages
            try:
                self._socket.settimeout(max(0.001, until - time.monotonic()))
                data = self._socket.recv(1 << 20)
            except TimeoutError:
                break
            except OSError:
                data = b""
            self.closed = not data
            self._inbox.feed(data)
        return list(self._inbox.messages())

    def end(self, seconds: float) -> str:
        """End it and all that it started on this machine, and return how it ended."""
        self._socket.close()
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        for pid in linux.session(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        self._log.close()
        how = signal_name(-status) if status < 0 else f"exit status {status}"
        return f"{how}: {lines[-1].strip()}" if lines else how
