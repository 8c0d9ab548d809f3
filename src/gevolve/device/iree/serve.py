"""The process that is IREE: its compiler and its runtime, and below them the virtual GPU as a process of its own.

IREE brings an LLVM and threads, as do JAX, llvmlite and NVIDIA's assembler: none of them is in this process,
and nothing forks once IREE is loaded. It lasts as long as the worker that starts it (`process.py`), serves
one request after another, and ends without running anybody's clean-up.

python -m gevolve.device.iree.serve FD FOLDER ARCH GPU LIBRARY
"""

import hashlib
import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gevolve.device.base import Stopped
from gevolve.device.iree.compiler import Compiler, Module
from gevolve.device.iree.host import Host, Loaded, VirtualHost
from gevolve.device.iree.messages import (
    Answer,
    Compile,
    Compiled,
    Failed,
    Piece,
    Ping,
    Ran,
    Request,
    Time,
    Timed,
    Work,
    receive,
    send,
)
from gevolve.errors import GevolveError, SourceError, UnsupportedError
from gevolve.system import linux
from gevolve.system.confine import DRIVER, confine

_LOADED = 6
"""Modules that stay loaded."""
_TIMES = 4096
"""Pieces whose times are remembered."""


class Service:
    """Answers requests."""

    def __init__(self, compiler: Compiler, open_host: Callable[[], Host]) -> None:
        self._compiler, self._open_host = compiler, open_host
        self._host: Host | None = None
        self._modules: dict[str, Module] = {}
        self._loaded: dict[str, Loaded] = {}
        self._times: dict[tuple[str, str], Ran] = {}

    def answer(self, request: Request) -> Answer:
        try:
            return self._answer(request)
        except Stopped as stopped:
            return Failed(stopped.verdict, str(stopped))
        except UnsupportedError as error:
            return Failed("unsupported", str(error))
        except SourceError as error:
            return Failed("compile", str(error))
        except GevolveError as error:
            return Failed("device", str(error))

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, Ping):
            if self._host is not None and self._host.worn:
                raise SystemExit  # whoever asks starts another
            return request
        if isinstance(request, Compile):
            module = self._module(request.work)
            codes = {name: one.code for name, one in module.kernels.items()}
            return Compiled(module.data, codes, module.fresh)
        self._host = host = self._host or self._open_host()
        if isinstance(request, Time):
            assert isinstance(host, VirtualHost)
            return self._timed(host, request)
        arrays = [one.array() for one in request.arguments]
        return host.run(self._load(host, request.work), arrays, request)

    def _timed(self, host: VirtualHost, request: Time) -> Timed:
        """The times of pieces; those that nobody has asked for before are compiled as one module."""
        kernels = _digest(request.evolved) if request.evolved else ""
        keys = [(one.name, kernels) for one in request.pieces]
        new = [one for one in request.pieces if (one.name, kernels) not in self._times]
        if new:
            module = self._compiler.compile(_program(new), request.evolved)
            loaded = host.load(module.data)
            for one in new:
                arrays = [tensor.array() for tensor in one.arguments]
                self._times[one.name, kernels] = host.time(loaded, one.name, arrays)
        for key in keys:  # what was used last goes last
            self._times[key] = self._times.pop(key)
        for old in list(self._times)[:-_TIMES]:
            del self._times[old]
        return Timed([self._times[key] for key in keys])

    def _load(self, host: Host, work: Work) -> Loaded:
        key = _key(work)
        if key not in self._loaded:
            self._loaded[key] = host.load(self._module(work).data)
            for old in list(self._loaded)[:-_LOADED]:
                del self._loaded[old]
        return self._loaded[key]

    def _module(self, work: Work) -> Module:
        key = _key(work)
        if key in self._modules:
            return self._modules[key]
        made = self._compiler.compile(work.program, work.evolved)
        self._modules[key] = made._replace(fresh=0)
        for old in list(self._modules)[:-_LOADED]:
            del self._modules[old]
        return made


def _program(pieces: Sequence[Piece]) -> bytes:
    """One program of several pieces."""
    return "\n".join(["module {", *(one.function for one in pieces), "}"]).encode()


def _key(work: Work) -> str:
    return _digest(work.evolved, work.program)


def _digest(evolved: Mapping[str, bytes], program: bytes = b"") -> str:
    parts = [program, *(part for one in sorted(evolved.items()) for part in (one[0].encode(), one[1]))]  # fmt: skip
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def serve(listener: socket.socket, service: Service) -> None:
    """Take what comes, from whoever connects."""
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for ready, _ in selector.select():
                if ready.fileobj is listener:
                    selector.register(listener.accept()[0], selectors.EVENT_READ)
                    continue
                connection = ready.fileobj
                assert isinstance(connection, socket.socket)
                try:
                    send(connection, service.answer(receive(connection, Request)))
                except (EOFError, OSError):  # whoever asked has gone
                    selector.unregister(connection)
                    connection.close()


def _start_gpu(model: str, folder: Path) -> str:
    """Start the virtual GPU, which ends with this process; returns the path of its socket."""
    path, parent = str(folder / "gpu"), os.getpid()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        if not os.fork():
            try:
                linux.die_with_parent(parent, signal.SIGKILL)
                _be_gpu(listener, model)
            except BaseException:  # noqa: BLE001  (nothing of the parent's may run here)
                traceback.print_exc()
            os._exit(0)
    return path


def _be_gpu(listener: socket.socket, model: str) -> None:
    # The simulator is loaded here and not in the process that IREE is loaded in.
    from gevolve.device.virtual.command import table_of  # noqa: PLC0415
    from gevolve.device.virtual.serve import serve as serve_gpu  # noqa: PLC0415
    from gevolve.device.virtual.timer import LaunchTimer  # noqa: PLC0415

    table = table_of(model)
    serve_gpu(listener.accept()[0], table, LaunchTimer(table))


def main(fd: int, folder: Path, arch: str, gpu: str, library: str) -> None:
    """Serve until this process is ended. With a `library`, that of the virtual GPU, `gpu` is a model of one."""
    if library:
        os.environ["GEVOLVE_GPU"] = _start_gpu(gpu, folder)
    confine(() if library else DRIVER, "local")

    def open_host() -> Host:
        return VirtualHost(library, folder) if library else Host(int(gpu))

    serve(socket.socket(fileno=fd), Service(Compiler(arch, folder), open_host))


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
    except BaseException:  # noqa: BLE001  (it is said, and then nothing more is run)
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(0)
