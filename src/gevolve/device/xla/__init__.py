"""The device `xla`: StableHLO programs on the CPU, or on a GPU or TPU that JAX finds.

The artefact is MLIR bytecode after `canonicalize` and `cse`; XLA compiles it where it runs. Everything
but `build` happens in a child process, since a JAX backend does not survive a fork. On the CPU, time
is the CPU time of the process, which other processes hardly influence; elsewhere it is wall time.
A search on the CPU goes by a modelled time (`gevolve.device.xla.roofline`), and the clock confirms.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from gevolve.device.base import Array, Device, Limits, Placement
from gevolve.device.cost import Cost
from gevolve.device.xla.executable import Uploads, XlaExecutable, checked
from gevolve.device.xla.levels import FULL, SKETCH, SOON
from gevolve.device.xla.listing import found_by_jax
from gevolve.device.xla.rates import Rates, machine_rates
from gevolve.device.xla.roofline import Roofline, UnknownTripsError
from gevolve.errors import (
    CompileError,
    DeviceError,
    MissingPackageError,
    SourceError,
    WorkloadError,
    install,
)
from gevolve.system.confine import DRIVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gevolve.device.xla.client import Client, CompiledProgram
    from gevolve.device.xla.pieces import PieceCompiler, PiecedProgram

__all__ = ["Xla", "XlaExecutable"]

_TPU = ("/dev/accel*", "/dev/vfio", "/tmp/libtpu_lockfile", "/tmp/tpu_logs")  # noqa: S108
_CACHE_SIZE = 4
"""The number of cached executables, not counting those marked by `keep`."""


class Xla(Device):
    """Compiles StableHLO with XLA and runs it on a device that JAX finds."""

    deterministic = False
    sees_empty = False
    calibrates = True

    def __init__(self, model: str = "") -> None:
        found = re.fullmatch(r"(cpu|gpu|tpu)(?::(\d{1,4}))?", model or "cpu")
        if not found or (found[1] == "cpu" and found[2]):
            raise DeviceError(f"no device 'xla:{model}'; give xla:cpu, xla:gpu:0 or xla:tpu:0")
        if importlib.util.find_spec("jax") is None:
            raise MissingPackageError("models need JAX", "ml")
        self._platform = found[1]
        if self._platform != "cpu":
            self.writes, self.sockets = (*DRIVER, *_TPU), "all" if found[1] == "tpu" else "local"
        self.sketches = found[1] == "cpu"
        self._index = int(found[2] or 0)
        self.name = "xla:cpu" if found[1] == "cpu" else f"xla:{found[1]}:{self._index}"
        self._client: Client | None = None
        self._compiled: dict[str, CompiledProgram] = {}
        self._sketches: dict[str, CompiledProgram] = {}
        self._kept: set[str] = set()
        self._uploads = Uploads()
        self._rates = Rates()
        self._times: WeakKeyDictionary[CompiledProgram, float | None] = WeakKeyDictionary()
        self._hasty = False
        self._pieces: PieceCompiler | None = None
        self._pieced: dict[str, PiecedProgram | None] = {}

    @classmethod
    def models(cls) -> list[tuple[str, str]]:
        """The devices that JAX finds, or that it is missing."""
        return found_by_jax() or [("", f"no StableHLO programs without JAX; {install('ml')}")]

    @classmethod
    def placement(cls, model: str) -> Placement:
        """A worker on ``gpu`` has a GPU of its own, and sees no other."""
        if not model.startswith("gpu"):
            return Placement(model)
        return Placement("gpu:0", gpus=1, most=None if model == "gpu" else 1)

    def check_fork(self) -> None:
        """Raise `WorkloadError` if JAX was used in this process: a fork of it would hang."""
        bridge = sys.modules.get("jax._src.xla_bridge")
        if bridge is not None and bridge.backends_are_initialized():
            raise WorkloadError(
                f"{self.name}: the workload's file or its data() computes with JAX, which does not"
                " survive a fork; make weights and data with NumPy, or load them from a file"
            )

    def build(self, text: str) -> bytes:
        """MLIR bytecode of a verified module, the same for modules that differ only in dead code."""
        # JAX loads when the first model does.
        from gevolve.ir.stablehlo import canonical  # noqa: PLC0415
        from gevolve.ir.stablehlo.mlir import complaint, ir  # noqa: PLC0415

        try:
            return canonical(text)
        except ir.MLIRError as error:
            raise CompileError(f"MLIR rejects it: {complaint(error)[0]}") from None

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:  # noqa: ARG002  (a program is one)
        """Compile; raises `SourceError` with XLA's message if it fails."""
        self._runnable(artefact)

    def prepare_sketch(self, artefact: bytes) -> None:
        """Compile without any optimization of machine code, in a tenth of the time."""
        if hashlib.sha256(artefact).hexdigest() not in self._compiled:
            self._sketch(artefact)

    def open_sketch(self, artefact: bytes, limits: Limits) -> XlaExecutable:
        """Open it as it was compiled in haste; or in pieces, which are there as soon and run faster."""
        program = self._in_pieces(artefact) or self._any(artefact)
        return XlaExecutable(program, self._uploads, limits)

    def keep(self, artefact: bytes) -> None:
        """Never evict this executable from the cache."""
        self._kept.add(hashlib.sha256(artefact).hexdigest())

    def fingerprint(self, artefact: bytes) -> str:
        """A hash of the program after XLA's optimizer."""
        return self._any(artefact).fingerprint()

    def cost(
        self,
        artefact: bytes,
        run: Callable[[Any], object],  # noqa: ARG002  (the compiler knows without a run)
        limits: Limits,  # noqa: ARG002
    ) -> Cost:
        """XLA's own estimate of one run: ``flops`` and ``bytes`` accessed."""
        return Cost(self._any(artefact).cost(), additive=False)

    def calibrate(self) -> dict[str, float]:
        """What this machine's CPU can do; of other devices nothing is known."""
        return machine_rates().flat() if self._platform == "cpu" else {}

    def use(self, machine: dict[str, float]) -> None:
        self._rates = Rates.of(machine)
        self._times.clear()

    def hasten(self) -> None:
        """Compile in less time: with less optimization of machine code, and in pieces; no modelled time sees either."""
        self._hasty = self._platform == "cpu"

    def modelled(self, artefact: bytes) -> float | None:
        """Seconds by a roofline of the CPU; None if a loop runs until something happens."""
        return self._time_of(self._any(artefact))

    def _time_of(self, program: CompiledProgram) -> float | None:
        if self._platform != "cpu":
            return None
        if program not in self._times:
            try:
                self._times[program] = Roofline(program.text(), self._rates).seconds
            except UnknownTripsError:
                self._times[program] = None
        return self._times[program]

    def open(
        self,
        artefact: bytes,
        limits: Limits | None = None,
        *,
        poison: int = 0,  # noqa: ARG002  (no program sees memory that it has not written)
        check: str | None = None,
    ) -> XlaExecutable:
        """Open a program; raises `SourceError` if XLA rejects it."""
        if check is not None:
            raise DeviceError(f"{self.name} has no check {check!r}")
        return XlaExecutable(self._runnable(artefact), self._uploads, limits or Limits())

    def checked(self, artefact: bytes, arguments: Sequence[Any]) -> list[Array]:
        """Arguments as arrays of the program's types; raises `LaunchError` if one is not."""
        return checked(self._runnable(artefact).signature, arguments)

    def _any(self, artefact: bytes) -> CompiledProgram:
        """The program, however it was compiled: what XLA's optimizer makes of it is the same."""
        key = hashlib.sha256(artefact).hexdigest()
        if key in self._sketches or self._in_pieces(artefact):
            return self._sketch(artefact)
        return self._get(artefact)

    def _sketch(self, artefact: bytes) -> CompiledProgram:
        key = hashlib.sha256(artefact).hexdigest()
        if key not in self._sketches:
            _make_room(self._sketches, set())
            self._sketches[key] = self._start().compile(artefact, SKETCH)
        return self._sketches[key]

    def _runnable(self, artefact: bytes) -> CompiledProgram | PiecedProgram:
        return self._in_pieces(artefact) or self._get(artefact)

    def _in_pieces(self, artefact: bytes) -> PiecedProgram | None:
        """The program in pieces, in haste, if it has several, and no clock has to time it."""
        if not self._hasty:
            return None
        key = hashlib.sha256(artefact).hexdigest()
        if key not in self._pieced:
            _make_room(self._pieced, self._kept)
            self._pieced[key] = self._cut(artefact)
        return self._pieced[key]

    def _cut(self, artefact: bytes) -> PiecedProgram | None:
        from gevolve.device.xla.pieces import PieceCompiler  # noqa: PLC0415  (JAX loads when it is needed)

        self._pieces = self._pieces or PieceCompiler(self._start())
        try:
            found = self._pieces.pieced(artefact, SOON)
        except SourceError:  # the whole may do, or tells why not
            return None
        return found if found and self._time_of(self._sketch(artefact)) is not None else None

    def _get(self, artefact: bytes) -> CompiledProgram:
        key = hashlib.sha256(artefact).hexdigest()
        if key not in self._compiled:
            _make_room(self._compiled, self._kept)
            program = self._start().compile(artefact, SOON if self._hasty else FULL)
            same = self._sketches.get(key, program)
            if self._hasty and self._time_of(same) is None:  # so a clock will time it
                program = self._start().compile(artefact)
            self._compiled[key] = program
        return self._compiled[key]

    def _start(self) -> Client:
        if self._client is None:
            from gevolve.device.xla.client import Client  # noqa: PLC0415  (JAX loads when it is needed)

            self._client = Client(self._platform, self._index)
        return self._client


def _make_room(cache: dict[str, Any], kept: set[str]) -> None:
    """Forget the oldest program if there are many."""
    evictable = [old for old in cache if old not in kept]
    for old in evictable[: max(0, len(evictable) - _CACHE_SIZE + 1)]:
        del cache[old]
