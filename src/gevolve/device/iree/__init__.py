"""The device `iree`: StableHLO programs as GPU kernels, compiled by IREE.

IREE makes machine code for NVIDIA GPUs of a program, and launches it as it would on a card. On
``iree:a100`` the card is the virtual GPU: launches are timed one by one, each once, and not computed (`times`);
outputs are XLA's on the CPU, unless the virtual GPU computes others (`agreement`). ``iree:cuda:0`` is a real card, which
computes and is timed by the clock.

IREE is a process of its own (`process`, `serve`), which lasts as long as the worker that uses it.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.device.base import Array, Device, Limits
from gevolve.device.cost import Cost, KernelCode
from gevolve.device.iree.agreement import SAMPLE, Agreement
from gevolve.device.iree.evolve import joined, parted
from gevolve.device.iree.executable import Heard, IreeExecutable, Listener
from gevolve.device.iree.library import installed
from gevolve.device.iree.messages import Compiled, Ran, Run, Tensor
from gevolve.device.iree.process import IreeProcess
from gevolve.device.iree.times import Times
from gevolve.device.iree.work import Works, module_of
from gevolve.device.xla import Xla
from gevolve.device.xla.executable import checked
from gevolve.device.xla.outputs import Outputs, key_of
from gevolve.errors import DeviceError, MissingPackageError, install
from gevolve.ir.levels import from_comments
from gevolve.system.confine import DRIVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gevolve.device.sim.timing import Gpu

__all__ = ["Iree", "IreeExecutable", "arch_of", "module_of"]

_OLDEST = "sm_75"
"""What a real card is given; its driver compiles PTX for what it is."""


class Iree(Device):
    """Compiles StableHLO to GPU kernels with IREE, and times or runs them."""

    sockets = "local"
    setup = 900.0  # where others use the machine, too: it takes some 40 s of the processor for a model of 90 launches

    def __init__(self, model: str = "") -> None:
        if not installed():
            raise MissingPackageError("iree needs IREE's compiler and runtime", "iree")
        self._xla, self._outputs = Xla("cpu"), Outputs()
        self._process: IreeProcess | None = None
        self._unedited: dict[str, bytes] = {}
        real = re.fullmatch(r"cuda(?::(\d{1,4}))?", model)
        self.virtual = real is None
        # Outputs are XLA's, and what the virtual GPU computes is the same each time.
        self.sees_empty = not self.virtual
        if real:
            index = int(real[1] or 0)
            self.name = f"iree:cuda:{index}"
            self.deterministic, self.writes = False, DRIVER
            self._arch, gap = _OLDEST, 0.0
            self._process = IreeProcess(_OLDEST, str(index))
        else:
            self._model = model or "a100"
            self.name = f"iree:{self._model}"
            self._arch, gap = _arch(self._model), _table(self._model).launch
        self._works = Works(self._iree, self._arch)
        self._times = Times(self._iree, self._works, self._unedited, gap)
        self._agreement = Agreement(
            self.run, self._outputs, self._works, self._times, self._unedited
        )

    @classmethod
    def models(cls) -> list[tuple[str, str]]:
        """The virtual GPUs, or what is missing."""
        if not installed():
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

    @classmethod
    def itemizes(cls, model: str) -> bool:
        """A virtual GPU does."""
        return not model.startswith("cuda")

    @classmethod
    def shows_kernels(cls, model: str) -> bool:
        """A virtual GPU does."""
        return cls.itemizes(model)

    def check_fork(self) -> None:
        """JAX must not have run here; IREE's process, and what it loads, is there for children to use."""
        self._xla.check_fork()
        self._iree().start()

    def check_cost(self) -> None:
        """To time kernels IREE is enough, so JAX may have run here."""
        self._iree().start()

    def build(self, text: str) -> bytes:
        """MLIR bytecode of a verified module, the same for modules that differ only in dead code."""
        return joined(self._xla.build(text), from_comments(text))

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:  # noqa: ARG002  (a program is one)
        """Compile what computes the outputs; raises `SourceError` if it is rejected.

        On a virtual GPU that is XLA. IREE compiles what gives the right outputs, when its time is asked for.
        """
        if self.virtual:
            self._outputs.prepare(parted(artefact)[0])
        else:
            self.compiled(artefact)

    def hasten(self) -> None:
        """Let the virtual GPU compute few of the programs that a search tries, and time them in pieces."""
        self._agreement.sample, self._times.in_pieces = SAMPLE, True

    def keep(self, artefact: bytes) -> None:
        """Never evict this program from the cache."""
        self._unedited[key_of(artefact)] = artefact

    def fingerprint(self, artefact: bytes) -> str:
        """On a card, a hash of IREE's module: its kernels, constants and how they are launched."""
        if self.virtual:
            return ""
        return hashlib.sha256(self.compiled(artefact).module).hexdigest()

    def compiled(self, artefact: bytes) -> Compiled:
        """What IREE makes of a program; raises `SourceError` with its message if that is nothing."""
        return self._works.compiled(artefact)

    def kernels(
        self, artefact: bytes, run: Callable[[Any], object], limits: Limits
    ) -> dict[str, KernelCode]:
        """The kernels of a program on a virtual GPU, with the cycles of each."""
        spent = self.cost(artefact, run, limits)
        if spent is None:
            return {}
        code = self.compiled(artefact).kernels
        return {
            name: KernelCode(code[name].llvm, one.cycles)
            for name, one in spent.kernels.items()
            if name in code
        }

    def layers(self, text: str) -> dict[str, dict[str, float]]:
        """Of each kernel, the share of its launches that each operation of a program has."""
        if not self.virtual:
            return {}
        from gevolve.device.iree.layers import layers_of  # noqa: PLC0415  (JAX loads when it is needed)

        return layers_of(text, self._arch)

    def cost(self, artefact: bytes, run: Callable[[Any], object], limits: Limits) -> Cost | None:  # noqa: ARG002  (it is not run)
        """The cycles of a run by kernel, on a virtual GPU."""
        if not self.virtual:
            return None
        kernels = self._times.whole(artefact, self._arguments(artefact, run), cost=True).kernels
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
        outputs = self._outputs.open(parted(artefact)[0], limits) if self.virtual else None
        return IreeExecutable(self, artefact, limits, outputs)

    # --- for its handles -------------------------------------------------------------------------

    def arrays(self, artefact: bytes, arguments: Sequence[Any]) -> list[Array]:
        """Arguments with the types of the program."""
        given = self._outputs.checked(parted(artefact)[0], arguments)
        return [np.asarray(one, order="C") for one in given]

    def run(
        self, artefact: bytes, arguments: Sequence[Array], watched: Sequence[str] = ()
    ) -> tuple[list[Array], Ran]:
        """Results that the GPU computes, and what that took; and what `watched` kernels did."""
        given = [Tensor.of(one) for one in arguments]
        request = Run(self._works.of(artefact), given, watched=list(watched))
        ran = self._iree().run(request)
        return [one.array() for one in ran.results], ran

    def agreed(
        self, artefact: bytes, arguments: Sequence[Array], found: list[Array]
    ) -> list[Array]:
        """What XLA found, unless the virtual GPU is asked as well and finds something else."""
        return self._agreement.outputs(artefact, arguments, found)

    def remark(self, artefact: bytes) -> str:
        """Who computes the outputs."""
        return self._agreement.remark(artefact, self.name)

    def time(self, artefact: bytes, arguments: Sequence[Array]) -> Ran:
        """The time on a virtual GPU, which the values of the arguments have no part in."""
        return self._times.of(artefact, arguments)

    def _arguments(self, artefact: bytes, run: Callable[[Any], object]) -> list[Array]:
        """What a workload calls the program with; nothing is computed."""
        from gevolve.ir.stablehlo.mlir import parse  # noqa: PLC0415  (JAX loads when it is needed)
        from gevolve.ir.stablehlo.signature import signature_of  # noqa: PLC0415

        listener = Listener()
        with suppress(Heard):
            run(listener)
        given = checked(signature_of(parse(parted(artefact)[0])), listener.arguments)
        return [np.asarray(one, order="C") for one in given]

    def _iree(self) -> IreeProcess:
        if self._process is None:
            # The simulator loads when it is needed; what it has no place to keep in a child is built.
            from gevolve.device.sim.host import runtime_object  # noqa: PLC0415
            from gevolve.device.virtual.library import NAME, library_folder  # noqa: PLC0415

            runtime_object()
            library = str(library_folder() / NAME)
            self._process = IreeProcess(self._arch, self._model, library)
        return self._process


def arch_of(device: str) -> str:
    """The architecture that a device such as ``iree:t4`` compiles for; that of an A100 for others."""
    model = device.removeprefix("iree:")
    if model.startswith("cuda"):
        return _OLDEST
    return _arch(model if model != device else "a100")


def _arch(model: str) -> str:
    machine = _table(model).machine
    assert machine is not None
    return machine.arch


def _table(model: str) -> Gpu:
    from gevolve.device.virtual.command import table_of  # noqa: PLC0415  (the simulator loads when it is needed)

    return table_of(model)
