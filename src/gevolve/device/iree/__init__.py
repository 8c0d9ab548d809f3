"""The device `iree`: StableHLO programs as GPU kernels, compiled by IREE.

IREE makes machine code for NVIDIA GPUs of a program, and launches it as it would on a card. On
``iree:a100`` the card is the virtual GPU: launches are timed one by one, each once, and not computed;
outputs are XLA's on the CPU. Of a sample of programs the virtual GPU computes them too, and where they do
not agree to rounding, its own count. Where kernels are edited (`evolve`), it computes them of every program, and
watches those kernels. ``iree:cuda:0`` is a real card, which computes and is timed by the clock.

IREE is a process of its own (`process`, `serve`), which lasts as long as the worker that uses it.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gevolve.device.base import Array, Device, Limits, Stopped
from gevolve.device.cost import Cost, KernelCode
from gevolve.device.iree.evolve import evolved, joined, parted
from gevolve.device.iree.executable import Heard, IreeExecutable, Listener
from gevolve.device.iree.library import installed
from gevolve.device.iree.messages import Compile, Compiled, Ran, Run, Tensor, Work
from gevolve.device.iree.process import IreeProcess
from gevolve.device.xla import Xla
from gevolve.device.xla.executable import checked
from gevolve.device.xla.outputs import Outputs, key_of
from gevolve.errors import DeviceError, MissingPackageError, SourceError, install
from gevolve.ir.levels import from_comments
from gevolve.system.confine import DRIVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gevolve.device.sim.timing import Gpu

__all__ = ["Iree", "IreeExecutable", "arch_of", "module_of"]

_SAMPLE = 32
"""One program of so many is computed by the virtual GPU too, in a search; and every one that is reported."""
_MOST = 20_000_000
"""Warp instructions of a program that is; what has more would take too long."""
_ROUNDING = 1e-3
"""How far apart results may be, by the largest of them."""
_OLDEST = "sm_75"
"""What a real card is given; its driver compiles PTX for what it is."""
_SAME = 1e-4
"""How far what edited kernels compute may be from what the graph does, by the largest of it, to count as the same."""
_MOST_OWN = 200_000_000
"""Warp instructions of a program whose edited kernels compute something else, over all its runs."""
_HAZARDS = ("divergent-barrier", "race", "stale")
"""What an edited kernel must not do unless the unedited one does."""
_TIMES = 64
"""Programs whose times are remembered."""
_AS_WHOLE = 0.01
"""How far the time of the unedited program's pieces may be from that of the whole, for variants to be timed in pieces."""


class Iree(Device):
    """Compiles StableHLO to GPU kernels with IREE, and times or runs them."""

    sockets = "local"
    setup = 900.0  # where others use the machine, too: it takes some 40 s of the processor for a model of 90 launches

    def __init__(self, model: str = "") -> None:
        if not installed():
            raise MissingPackageError("iree needs IREE's compiler and runtime", "iree")
        self._xla, self._outputs = Xla("cpu"), Outputs()
        real = re.fullmatch(r"cuda(?::(\d{1,4}))?", model)
        self.virtual = real is None
        if real:
            index = int(real[1] or 0)
            self.name = f"iree:cuda:{index}"
            self.deterministic, self.writes = False, DRIVER
            self._arch = _OLDEST
            self._process = IreeProcess(_OLDEST, str(index))
        else:
            self._model = model or "a100"
            self.name = f"iree:{self._model}"
            self._process: IreeProcess | None = None
            self._arch = _arch(self._model)
            self._gap = _table(self._model).launch
        self._evolved: dict[str, dict[str, bytes]] = {}
        self._same: dict[str, bool] = {}
        """Whether edited kernels compute what the graph does, by program."""
        self._computed: dict[str, int] = {}
        """How many instructions it took to compute what edited kernels do, by program."""
        self._own_hazards: dict[str, frozenset[tuple[str, str]]] = {}
        """What kernels of a graph do and should not do, as kinds and kernels."""
        self._sample = 1
        self._hasty = False
        self._divisible: bool | None = None
        """Whether pieces take the time of the whole; None until it is known of the unedited program."""
        self._times: dict[str, Ran] = {}
        self._kept: dict[str, bytes] = {}
        self._agree: dict[str, bool | None] = {}
        """Whether XLA finds what the virtual GPU does, by program; None if it would take too long to tell."""

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
        self._sample, self._hasty = _SAMPLE, True

    def keep(self, artefact: bytes) -> None:
        """Never evict this program from the cache."""
        self._kept[key_of(artefact)] = artefact

    def fingerprint(self, artefact: bytes) -> str:
        """On a card, a hash of IREE's module: its kernels, constants and how they are launched."""
        if self.virtual:
            return ""
        return hashlib.sha256(self.compiled(artefact).module).hexdigest()

    def compiled(self, artefact: bytes) -> Compiled:
        """What IREE makes of a program; raises `SourceError` with its message if that is nothing."""
        return self._iree().compile(Compile(self._work(artefact)))

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
        kernels = self._timed(artefact, self._arguments(artefact, run), cost=True).kernels
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
        request = Run(self._work(artefact), given, watched=list(watched))
        ran = self._iree().run(request)
        return [one.array() for one in ran.results], ran

    def agreed(
        self, artefact: bytes, arguments: Sequence[Array], found: list[Array]
    ) -> list[Array]:
        """What XLA found, unless the virtual GPU is asked as well and finds something else.

        It is asked about a sample in a search, and about every program that is reported; and about all variants of a program that the two do not agree on. Kernels that
        are edited XLA does not know: the virtual GPU is asked until it has found the same once.
        """
        graph, edits = parted(artefact)
        if edits and (edited := self._work(artefact).evolved):
            return self._of_kernels(artefact, sorted(edited), arguments, found)
        artefact = graph
        sampled = int(key_of(artefact), 16) % self._sample == 0
        if not sampled and all(
            self._agrees(one, arguments) is not False for one in self._kept.values()
        ):
            return found
        if self._agrees(artefact, arguments) is not False:
            return found
        return self.run(artefact, arguments)[0]

    def _arguments(self, artefact: bytes, run: Callable[[Any], object]) -> list[Array]:
        """What a workload calls the program with; nothing is computed."""
        from gevolve.ir.stablehlo.mlir import parse  # noqa: PLC0415  (JAX loads when it is needed)
        from gevolve.ir.stablehlo.signature import signature_of  # noqa: PLC0415

        listener = Listener()
        with suppress(Heard):
            run(listener)
        given = checked(signature_of(parse(parted(artefact)[0])), listener.arguments)
        return [np.asarray(one, order="C") for one in given]

    def _of_kernels(
        self, artefact: bytes, edited: list[str], arguments: Sequence[Array], found: list[Array]
    ) -> list[Array]:
        """What a program with edited kernels computes, where its graph computes `found`."""
        key = key_of(artefact)
        if self._same.get(key):
            return found
        own, ran = self.run(artefact, arguments, edited)
        self._computed[key] = self._computed.get(key, 0) + ran.instructions
        if self._computed[key] > _MOST_OWN:
            raise Stopped("fuel", "its kernels do not compute what the graph does, and to judge what they do takes too long")  # fmt: skip
        hazards = [one for one in ran.findings if one.kind in _HAZARDS]
        if hazards:
            known = self._hazards_of(parted(artefact)[0], edited, arguments)
            for one in hazards:
                if (one.kind, one.kernel) not in known:
                    raise Stopped(one.kind, f"{one.kernel}: {one.detail}")
        self._same[key] = all(_close(a, b, _SAME) for a, b in zip(found, own, strict=True))
        return found if self._same[key] else own

    def _hazards_of(
        self, graph: bytes, kernels: list[str], arguments: Sequence[Array]
    ) -> frozenset[tuple[str, str]]:
        key = key_of(graph + ",".join(kernels).encode())
        if key not in self._own_hazards:
            found = self.run(graph, arguments, kernels)[1].findings
            self._own_hazards[key] = frozenset((one.kind, one.kernel) for one in found)
        return self._own_hazards[key]

    def _agrees(self, artefact: bytes, arguments: Sequence[Array]) -> bool | None:
        key = key_of(artefact)
        if key not in self._agree:
            self._agree[key] = None
            if self.time(artefact, arguments).instructions <= _MOST:
                found = self._outputs.open(artefact, Limits())(*arguments)
                self._agree[key] = all(map(_close, found, self.run(artefact, arguments)[0]))
        return self._agree[key]

    def remark(self, artefact: bytes) -> str:
        """Who computes the outputs."""
        agrees = self._agree.get(key_of(artefact))
        if agrees is None:
            return f"Outputs are XLA's on the CPU; to compute them {self.name} would take too long."
        if agrees:
            return f"Outputs are XLA's on the CPU; {self.name} computes the same of the unedited program."
        return f"Outputs are those of {self.name}: XLA computes others of the unedited program."

    def time(self, artefact: bytes, arguments: Sequence[Array]) -> Ran:
        """The time on a virtual GPU, which the values of the arguments have no part in."""
        key = key_of(artefact)
        if key in self._times:
            return self._times[key]
        ran = self._in_pieces(artefact) if self._hasty and self._divides(arguments) else None
        ran = ran or self._timed(artefact, arguments)
        self._times[key] = msgspec.structs.replace(ran, fresh=0)  # nothing of it is timed again
        for old in list(self._times)[:-_TIMES]:
            del self._times[old]
        return ran

    def _divides(self, arguments: Sequence[Array]) -> bool:
        """Whether the pieces of the unedited program take its time, so that variants can be timed by theirs."""
        if self._divisible is None:
            whole = [self._timed(one, arguments).time for one in self._kept.values()]
            parts = [self._in_pieces(one) for one in self._kept.values()]
            self._divisible = all(
                part is not None and abs(part.time / time - 1) <= _AS_WHOLE
                for time, part in zip(whole, parts, strict=True)
            )
        return self._divisible

    def _in_pieces(self, artefact: bytes) -> Ran | None:
        """The time of a program as that of its pieces; None if that is not known."""
        from gevolve.device.iree.pieces import time_of_pieces  # noqa: PLC0415  (JAX loads when it is needed)

        graph, edits = parted(artefact)
        evolved = self._work(artefact).evolved if edits else {}
        with suppress(SourceError):  # the whole may be compiled all the same
            return time_of_pieces(self._iree(), graph, evolved, self._gap)
        return None

    def _timed(self, artefact: bytes, arguments: Sequence[Array], *, cost: bool = False) -> Ran:
        work = self._work(artefact)
        shapes = [Tensor.of(one, whole=False) for one in arguments]
        ran = self._iree().run(Run(work, shapes, dry=True, cost=cost))
        if not ran.read_back:
            return ran
        return self._iree().run(Run(work, [Tensor.of(one) for one in arguments], cost=cost))

    def _work(self, artefact: bytes) -> Work:
        """What IREE is to compile: a graph, and PTX in place of that of kernels that are edited."""
        graph, edits = parted(artefact)
        work = _work(graph)
        if not edits:
            return work
        key = key_of(artefact)
        if key not in self._evolved:
            kernels = self._iree().compile(Compile(work)).kernels
            self._evolved[key] = evolved(kernels, edits, self._arch)
            for old in list(self._evolved)[:-_TIMES]:
                del self._evolved[old]
        return Work(work.program, self._evolved[key])

    def _iree(self) -> IreeProcess:
        if self._process is None:
            # The simulator loads when it is needed; what it has no place to keep in a child is built.
            from gevolve.device.sim.host import runtime_object  # noqa: PLC0415
            from gevolve.device.virtual.library import NAME, library_folder  # noqa: PLC0415

            runtime_object()
            library = str(library_folder() / NAME)
            self._process = IreeProcess(self._arch, self._model, library)
        return self._process


def module_of(text: str, arch: str) -> Compiled:
    """What IREE makes of a program for an architecture such as ``sm_80``; `SourceError` if that is nothing."""
    if not installed():
        raise MissingPackageError("a vmfb is made by IREE", "iree")
    process, edits = IreeProcess(arch), from_comments(text)
    try:
        work = _work(Xla("cpu").build(text))
        made = process.compile(Compile(work))
        if not edits:
            return made
        changed = evolved(made.kernels, edits, arch)
        code = {
            name: msgspec.structs.replace(made.kernels[name], ptx=ptx)
            for name, ptx in changed.items()
        }
        module = process.compile(Compile(Work(work.program, changed))).module
        return Compiled(module, {**made.kernels, **code})
    finally:
        process.end()


def _work(artefact: bytes) -> Work:
    # JAX loads when it is needed.
    from gevolve.device.iree.rewrite import rewritten  # noqa: PLC0415
    from gevolve.ir.stablehlo.mlir import parse  # noqa: PLC0415

    return Work(rewritten(parse(artefact)).encode())


def _close(one: Array, other: Array, rounding: float = _ROUNDING) -> bool:
    """Whether two results are the same but for rounding; what is no number is so in both."""
    if one.shape != other.shape:
        return False
    a, b = one.astype(float), other.astype(float)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)):
        return False
    largest = max(np.abs(a[finite]).max(initial=0.0), 1e-30)
    return bool((np.abs(a - b)[finite] <= rounding * largest).all())


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
