"""A connection to a Ray cluster, as the main process sees it; Ray itself is in another process."""

import importlib.util
import os
import re
import socket
import time
from collections.abc import Sequence
from typing import Self

from gevolve import errors
from gevolve.device.base import Placement
from gevolve.errors import EvaluationError, GevolveError, MissingPackageError, OptionError
from gevolve.evaluate.dispatcher.messages import Connect, Connected, FromDispatcher, ToDispatcher
from gevolve.evaluate.dispatcher.process import DispatcherProcess
from gevolve.evaluate.protocol import Refused

PACKAGES = {
    "llvm": ("llvmlite", "ziglang", "nvidia-nvjitlink", "nvidia-cuda-nvdisasm"),
    "stablehlo": ("jax", "jaxlib"),
}
"""What a verdict depends on besides gevolve and NumPy, by IR."""
_REACH = 5.0
"""Seconds within which a cluster's port must take a connection."""
_CONNECT = 90.0
"""Seconds within which Ray must connect; twice as many to start a cluster."""
_ADDRESS = re.compile(r"(?:ray://)?(\[[0-9a-fA-F:]+\]|[\w.-]+):(\d{1,5})")


class Cluster:
    """A connection to Ray, for one evaluator after another; close it, or use a ``with`` statement.

    `address` is ``ray`` for a cluster of its own on this machine, ``auto`` for the one that runs here,
    ``HOST:PORT`` or ``ray://HOST:PORT``. `needs` says what each actor needs, `workers` how many of them
    there may be, and `patience` for how many seconds there may be none.
    """

    def __init__(
        self,
        address: str = "ray",
        *,
        workers: int | None = None,
        needs: Placement | None = None,
        packages: Sequence[str] = PACKAGES["llvm"],
        patience: float = 60.0,
    ) -> None:
        check_address(address)
        if importlib.util.find_spec("ray") is None:
            raise MissingPackageError("--cluster needs Ray", "ray")
        needs = needs or Placement("")
        most = [count for count in (workers, needs.most) if count is not None]
        self._wanted = Connect(
            address=address,
            workers=min(most, default=None),
            gpus=needs.gpus,
            packages=["gevolve", "numpy", "msgspec", *packages],
            patience=patience,
        )
        self._process = self._start()

    def _start(self, tries: int = 3) -> DispatcherProcess:
        """A dispatcher that is connected."""
        address = self._wanted.address
        _reach(address)
        process = DispatcherProcess(own=address == "ray")
        process.send(self._wanted)
        seconds = 2 * _CONNECT if address == "ray" else _CONNECT
        late = time.monotonic() + seconds
        answers = process.receive(seconds)
        if answers and isinstance(answers[0], Connected):
            return process
        how = process.end(0.0)
        if answers and isinstance(answers[0], Refused):
            refused = getattr(errors, answers[0].kind, EvaluationError)(answers[0].message)
            if isinstance(refused, EvaluationError) and tries > 1:
                return self._start(tries - 1)  # a busy head may have no time for a client
            raise refused
        if time.monotonic() < late and address == "ray" and tries > 1:
            return self._start(tries - 1)  # a machine with much else to do starts it too slowly
        if time.monotonic() < late:
            raise EvaluationError(f"--cluster is {address}, and Ray ends ({how})")
        raise OptionError(
            f"--cluster is {address}, which does not answer as Ray does; give the port of the"
            " cluster's head, 6379 by default, or ray://HOST:10001 from outside the cluster"
        )

    def restart(self) -> str:
        """Connect again, waiting for the cluster to come back; returns how the dispatcher ended."""
        how = self._process.end(0.0)
        until = time.monotonic() + 2 * self._wanted.patience
        while True:
            try:
                self._process = self._start()
            except GevolveError as error:
                if time.monotonic() > until:
                    raise EvaluationError(
                        f"the cluster is gone ({error}); `gevolve resume` goes on with another or none"
                    ) from None
                time.sleep(1.0)
            else:
                return how

    def send(self, *messages: ToDispatcher) -> None:
        self._process.send(*messages)

    def receive(self, seconds: float) -> list[FromDispatcher]:
        return self._process.receive(seconds)

    @property
    def closed(self) -> bool:
        """Whether the dispatcher has ended."""
        return self._process.closed

    def close(self) -> None:
        """End all actors, and a cluster of its own."""
        self._process.end(8.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_address(address: str) -> None:
    """Refuse what is no address of a cluster."""
    if address in {"ray", "auto"}:
        return
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[2]) < 1 << 16:
        raise OptionError(
            f"--cluster is {address!r}; it must be ray, auto, HOST:PORT or ray://HOST:PORT"
        )


def _reach(address: str) -> None:
    """Refuse an address at which nobody listens: Ray would try for minutes."""
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", "")
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return
    host, port = found[1].strip("[]"), int(found[2])
    try:
        socket.create_connection((host, port), _REACH).close()
    except socket.gaierror:
        raise OptionError(f"--cluster is {address}, and there is no host {host}") from None
    except OSError as error:
        raise OptionError(
            f"--cluster is {address}, where nobody listens ({error.strerror or 'no answer'});"
            " start Ray there with `ray start --head`, or correct the address"
        ) from None
