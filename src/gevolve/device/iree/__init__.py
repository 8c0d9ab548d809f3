"""The device `iree`: StableHLO programs as GPU kernels, compiled by IREE.

IREE makes machine code for NVIDIA GPUs of a program, and launches it as it would on a card. On
``iree:a100`` the card is the virtual GPU: launches are timed one by one, each once, and not computed;
outputs are XLA's on the CPU. Of a sample of programs the virtual GPU computes them too, and where they do
not agree to rounding, its own count. ``iree:cuda:0`` is a real card, which computes and is timed by the clock.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.device.base import Array, Device, Limits
from gevolve.device.cost import Cost
from gevolve.device.iree import compiler
from gevolve.device.iree.executable import IreeExecutable
from gevolve.device.xla import Xla
from gevolve.errors import DeviceError, MissingPackageError, install
from gevolve.system.confine import DRIVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gevolve.device.iree.host import Host, Loaded, Spent
    from gevolve.device.sim.timing import Gpu

__all__ = ["Iree", "IreeExecutable"]

_CACHE_SIZE = 4
"""The number of cached modules, not counting those marked by `keep`."""
_SAMPLE = 8
"""One program of so many is computed by the virtual GPU too, and every one that is kept."""
_MOST = 2000
"""Launches of a program that is; what launches more would take too long."""
_ROUNDING = 1e-3
"""How far apart results may be, by the largest of them."""


class Iree(Device):
    """Compiles StableHLO to GPU kernels with IREE, and times or runs them."""

    sockets = "local"

    def __init__(self, model: str = "") -> None:
        if not compiler.installed():
            raise MissingPackageError("iree needs IREE's compiler and runtime", "iree")
        self._xla = Xla("cpu")
        real = re.fullmatch(r"cuda(?::(\d{1,4}))?", model)
        self._table: Gpu | None = None
        self._index = int(real[1] or 0) if real else 0
        if real:
            self.name = f"iree:cuda:{self._index}"
            self.deterministic, self.writes = False, DRIVER
        else:
            self._table = _table(model or "a100")
            self.name = f"iree:{model or 'a100'}"
        self._arch = ""
        self._host: Host | None = None
        self._modules: dict[str, tuple[bytes, Loaded]] = {}
        self._times: dict[str, Spent] = {}
        self._kept: set[str] = set()
        self._agree: set[str] = set()
        """Programs of which XLA and the virtual GPU find the same."""

    @classmethod
    def models(cls) -> list[tuple[str, str]]:
        """The virtual GPUs, or what is missing."""
        if not compiler.installed():
            return [("", f"no StableHLO programs as GPU kernels without IREE; {install('iree')}")]
        from gevolve.device.sim import Sim  # noqa: PLC0415

        found = [
            (name, f"StableHLO programs as GPU kernels, with the cycles of an {line[line.index('NVIDIA') :]}")
            for name, line in Sim.models()
            if name and "NVIDIA" in line
        ]  # fmt: skip
        return [*found, ("cuda:0", "the same on an NVIDIA GPU, in seconds")]

    @classmethod
    def workers(cls, model: str) -> list[str]:
        """One worker for a real GPU."""
        return [model] if model.startswith("cuda") else []

    def check_fork(self) -> None:
        """JAX must not have run here; what a child has no place to keep is built."""
        self._xla.check_fork()
        if self._table is not None:
            from gevolve.device.sim.host import runtime_object  # noqa: PLC0415
            from gevolve.device.virtual.library import library_folder  # noqa: PLC0415

            runtime_object()
            library_folder()

    def build(self, text: str) -> bytes:
        """MLIR bytecode of a verified module, the same for modules that differ only in dead code."""
        return self._xla.build(text)

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:  # noqa: ARG002  (a program is one)
        """Compile; raises `SourceError` with IREE's message if it fails."""
        self._get(artefact)

    def keep(self, artefact: bytes) -> None:
        """Never evict this module from the cache."""
        self._kept.add(_key(artefact))
        self._xla.keep(artefact)

    def fingerprint(self, artefact: bytes) -> str:
        """A hash of IREE's module: its kernels, constants and how they are launched."""
        return hashlib.sha256(self._get(artefact)[0]).hexdigest()

    def cost(self, artefact: bytes, run: Callable[[Any], object], limits: Limits) -> Cost | None:
        """The cycles of a run by kernel, on a virtual GPU."""
        from gevolve.device.iree.host import VirtualHost  # noqa: PLC0415

        host = self._start()
        if not isinstance(host, VirtualHost):
            return None
        opened = self.open(artefact, limits)
        run(opened)
        self._times.pop(_key(artefact), None)
        opened.usage()
        kernels = host.cost()
        terms: dict[str, float] = {}
        for kernel in kernels.values():
            for kind, spent in kernel.kinds.items():
                terms[kind] = terms.get(kind, 0.0) + spent
        return Cost(terms, additive=True, kernels=kernels)

    def open(
        self,
        artefact: bytes,
        limits: Limits | None = None,
        *,
        poison: int = 0,  # noqa: ARG002  (no program sees memory that it has not written)
        check: str | None = None,
    ) -> IreeExecutable:
        """Open a program; raises `SourceError` if IREE or XLA rejects it."""
        if check is not None:
            raise DeviceError(f"{self.name} has no check {check!r}")
        limits = limits or Limits()
        outputs = None if self._table is None else self._xla.open(artefact, limits)
        return IreeExecutable(self, artefact, limits, outputs)

    # --- for its handles -------------------------------------------------------------------------

    def arrays(self, artefact: bytes, arguments: Sequence[Any]) -> list[Array]:
        """Arguments with the types of the program."""
        return [np.asarray(one, order="C") for one in self._xla.checked(artefact, arguments)]

    def run(self, artefact: bytes, arguments: Sequence[Array]) -> tuple[list[Array], Spent]:
        """Results that the GPU computes, and what that took."""
        return self._start().run(self._get(artefact)[1], arguments)

    def agreed(
        self, artefact: bytes, arguments: Sequence[Array], found: list[Array]
    ) -> list[Array]:
        """What XLA found, unless the virtual GPU was asked as well and finds something else."""
        key = _key(artefact)
        sampled = key in self._kept or int(key, 16) % _SAMPLE == 0
        if key in self._agree or not sampled or self.time(artefact, arguments).launches > _MOST:
            return found
        own, _ = self.run(artefact, arguments)
        if not all(map(_close, found, own)):
            return own
        self._agree.add(key)
        return found

    def time(self, artefact: bytes, arguments: Sequence[Array]) -> Spent:
        """The time on a virtual GPU, which the values of the arguments have no part in."""
        from gevolve.device.iree.host import VirtualHost  # noqa: PLC0415

        key, host = _key(artefact), self._start()
        assert isinstance(host, VirtualHost)
        if key not in self._times:
            self._times[key] = host.time(self._get(artefact)[1], arguments)
        return self._times[key]

    def _get(self, artefact: bytes) -> tuple[bytes, Loaded]:
        key = _key(artefact)
        if key not in self._modules:
            host = self._start()
            evictable = [old for old in self._modules if old not in self._kept]
            for old in evictable[: max(0, len(evictable) - _CACHE_SIZE + 1)]:
                del self._modules[old]
            module = compiler.compile_module(artefact, self._arch)
            self._modules[key] = module, host.load(module)
        return self._modules[key]

    def _start(self) -> Host:
        if self._host is None:
            from gevolve.device.iree.host import Host, VirtualHost  # noqa: PLC0415

            if self._table is not None:
                assert self._table.machine is not None
                self._arch = self._table.machine.arch
                self._host = VirtualHost(self._table)
            else:
                self._arch = "sm_75"
                self._host = Host(self._index)
        return self._host


def _key(artefact: bytes) -> str:
    return hashlib.sha256(artefact).hexdigest()


def _close(one: Array, other: Array) -> bool:
    """Whether two results are the same but for rounding; what is no number is so in both."""
    if one.shape != other.shape:
        return False
    a, b = one.astype(float), other.astype(float)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)):
        return False
    largest = max(np.abs(a[finite]).max(initial=0.0), 1e-30)
    return bool((np.abs(a - b)[finite] <= _ROUNDING * largest).all())


def _table(model: str) -> Gpu:
    from gevolve.device.virtual.command import table_of  # noqa: PLC0415  (the simulator loads when it is needed)

    return table_of(model)
