"""Starts and asks the process that is IREE (`serve.py`): one for a worker, which all of its children ask."""

import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NoReturn

from gevolve.device.base import Poisoned, Stopped
from gevolve.device.iree.messages import (
    Answer,
    Compile,
    Compiled,
    Failed,
    Ping,
    Ran,
    Request,
    Run,
    Time,
    Timed,
    receive,
    send,
)
from gevolve.errors import DeviceError, SourceError, UnsupportedError, one_line
from gevolve.system import linux

_PATIENCE = 5.0
"""Seconds until it must answer when it has nothing to do; what works for someone who is gone is ended."""


class IreeProcess:
    """IREE, seen from outside. A fork of the process that has started it can ask it, too."""

    def __init__(self, arch: str, gpu: str = "0", library: str = "") -> None:
        """All three are what `serve.main` takes."""
        self._arguments = (arch, gpu, library)
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._folder = Path()
        self._connection: tuple[int, socket.socket] | None = None

    def start(self) -> None:
        """Make sure that it is there and has nothing else to do."""
        if self._process is not None:
            with contextlib.suppress(Stopped):
                self._hang_up()
                self._answer(Ping(), _PATIENCE)
                return
            self.end()
        self._owner = parent = os.getpid()
        self._folder = Path(tempfile.mkdtemp(prefix="gevolve-iree-"))
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener,
            (self._folder / "log").open("wb") as log,
            warnings.catch_warnings(),
        ):
            listener.bind(str(self._folder / "iree"))
            listener.listen()
            fd = listener.fileno()
            # JAX warns of forks where it has run; what runs here before the new program is one system call.
            warnings.simplefilter("ignore", RuntimeWarning)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gevolve.device.iree.serve", str(fd), str(self._folder), *self._arguments],
                pass_fds=(fd,),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                preexec_fn=lambda: linux.die_with_parent(parent, signal.SIGKILL),  # noqa: PLW1509  (one system call)
            )  # fmt: skip
        linux.lasting.add(self._process.pid)
        atexit.register(self.end)

    def end(self) -> None:
        """End it, if this process has started it."""
        if self._process is None or self._owner != os.getpid():
            return
        linux.kill(self._process.pid)
        self._process.wait()
        linux.lasting.discard(self._process.pid)
        self._hang_up()
        self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)
        atexit.unregister(self.end)

    def compile(self, request: Compile) -> Compiled:
        """Raises `SourceError` if IREE rejects the program."""
        answer = self._asked(request)
        assert isinstance(answer, Compiled)
        return answer

    def run(self, request: Run) -> Ran:
        """Raises `SourceError` as well, and `Stopped` if the program does not come to its end."""
        answer = self._asked(request)
        assert isinstance(answer, Ran)
        return answer

    def time(self, request: Time) -> Timed:
        """Raises `SourceError` as well, if IREE rejects a piece."""
        answer = self._asked(request)
        assert isinstance(answer, Timed)
        return answer

    def _asked(self, request: Request) -> Answer:
        if self._process is None:
            self.start()
        answer = self._answer(request)
        if isinstance(answer, Failed):
            _fail(answer)
        return answer

    def _answer(self, request: Request, seconds: float | None = None) -> Answer:
        try:
            connection = self._connected()
            connection.settimeout(seconds)
            send(connection, request)
            return receive(connection, Answer)
        except (OSError, EOFError):
            self._hang_up()
            raise Poisoned("crash", f"IREE's process has ended: {self._last_words()}") from None

    def _connected(self) -> socket.socket:
        if self._connection is None or self._connection[0] != os.getpid():
            self._hang_up()
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.connect(str(self._folder / "iree"))
            self._connection = os.getpid(), connection
        return self._connection[1]

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection[1].close()
            self._connection = None

    def _last_words(self) -> str:
        try:
            lines = (self._folder / "log").read_text(errors="replace").strip().splitlines()
        except OSError as error:
            return one_line(error)
        return lines[-1].strip()[:300] if lines else "it does not say why"


def _fail(answer: Failed) -> NoReturn:
    if answer.how == "compile":
        raise SourceError(answer.words)
    if answer.how == "unsupported":
        raise UnsupportedError(answer.words)
    if answer.how == "device":
        raise DeviceError(answer.words)
    raise Stopped(answer.how, answer.words)
