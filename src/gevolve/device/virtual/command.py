"""Runs a program on the virtual GPU, and gathers what it did there."""

import os
import selectors
import signal
import socket
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gevolve.device.sim.host import runtime_object
from gevolve.device.sim.timing import Gpu, load_gpu
from gevolve.device.virtual.library import library_folder
from gevolve.device.virtual.serve import serve_apart
from gevolve.device.virtual.session import Session
from gevolve.errors import DeviceError

_PATHS = "LD_LIBRARY_PATH"


def table_of(device: str) -> Gpu:
    """The table of a GPU, such as ``a100`` or ``sim:a100``."""
    table = load_gpu(device.removeprefix("sim:"))
    if table.machine is None:
        raise DeviceError(
            f"machine code of {table.title} cannot be run; choose a newer GPU: a100, t4"
        )
    return table


def run(command: Sequence[str], device: str = "a100") -> tuple[int, list[Session]]:
    """Run a command to its end: its exit status, and what each of its processes did on the GPU."""
    if not command:
        raise DeviceError("say what to run: gevolve gpu -- PROGRAM ARGUMENTS")
    table = table_of(device)
    runtime_object()  # built once, here, not in each child
    with tempfile.TemporaryDirectory(prefix="gevolve-gpu-") as name:
        folder = Path(name)
        with _listening(folder / "gpu") as listener:
            environment = os.environ | {
                "GEVOLVE_GPU": str(folder / "gpu"),
                _PATHS: os.pathsep.join(
                    filter(None, (str(library_folder()), os.environ.get(_PATHS)))
                ),
            }
            try:
                process = subprocess.Popen(command, env=environment)
            except OSError as error:
                raise DeviceError(f"{command[0]} cannot be run: {error.strerror}") from None
            servers = _serve_until_end(process, listener, table, folder)
        for server in servers:
            os.waitpid(server, 0)
        reports = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        return process.returncode, [
            msgspec.json.decode(path.read_bytes(), type=Session) for path in reports
        ]


@contextmanager
def _listening(path: Path) -> Generator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        yield listener


def _serve_until_end(
    process: subprocess.Popen[bytes], listener: socket.socket, table: Gpu, folder: Path
) -> list[int]:
    """Start a GPU for each program that asks for one, until the command has ended."""
    servers: list[int] = []
    ended = os.pidfd_open(process.pid)
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        while True:
            try:
                ready = {key.fileobj for key, _ in selector.select()}
            except KeyboardInterrupt:  # the program has got it as well
                process.send_signal(signal.SIGINT)
                continue
            if listener in ready:
                servers.append(serve_apart(listener, table, folder))
            if ended in ready:
                break
    os.close(ended)
    process.wait()
    return servers
