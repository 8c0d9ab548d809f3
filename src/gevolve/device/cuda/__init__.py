"""The device `cuda`: PTX on an NVIDIA GPU, through the driver API.

The artefact is PTX; `image` assembles it for the GPU, or the driver does. Everything but
`build` happens in a child process, since the driver does not survive a fork. A kernel that faults
ends the driver's context: `Poisoned` then tells that the process must end.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from gevolve.device.base import Device, Limits, Placement
from gevolve.device.cuda import query
from gevolve.device.cuda.context import Context
from gevolve.device.cuda.driver import NotReadyError, initialized, installed
from gevolve.device.cuda.gpu import CudaGpu
from gevolve.device.cuda.memory import CudaBuffer
from gevolve.device.cuda.signature import read
from gevolve.device.ptxas import Resources, assemble
from gevolve.device.sim.memory import POISON
from gevolve.errors import CompileError, DeviceError, WorkloadError, install
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.system.confine import DRIVER

__all__ = ["Cuda", "CudaBuffer", "CudaGpu"]


class Cuda(Device):
    """Runs PTX on one NVIDIA GPU and times it by the driver's events; times are in seconds."""

    deterministic = False
    referee = "sim"
    poisons = len(POISON)
    """A GPU does not detect races and has no bounds checks; `sim` detects both."""
    writes = DRIVER
    sockets = "local"

    def __init__(self, model: str = "", functions: Any = None) -> None:
        if model == "all":
            raise DeviceError("cuda:all is for runs, a worker for each GPU; here, give one: cuda:0")
        if not re.fullmatch(r"\d{0,4}", model):
            raise DeviceError(
                f"no device 'cuda:{model}'; give cuda:0, cuda:1 and so on, or cuda:all"
            )
        self._index = int(model or 0)
        self.name = f"cuda:{self._index}"
        self._functions = functions
        """A test double of NVIDIA's bindings."""
        self._context: Context | None = None
        self._failure: NotReadyError | None = None

    @classmethod
    def models(cls) -> list[tuple[str, str]]:
        """The GPUs that the driver finds, or what is missing."""
        if not installed():
            return [("", f"no NVIDIA GPUs without cuda-bindings; {install('cuda')}")]
        try:
            return [(str(gpu.index), _line(gpu)) for gpu in query.gpus()]
        except DeviceError as error:
            return [("", str(error).removeprefix("cuda: "))]

    @classmethod
    def workers(cls, model: str) -> list[str]:
        """One worker for a GPU, since timings disturb each other; ``all`` is one for each."""
        return [str(gpu.index) for gpu in query.gpus()] if model == "all" else [model]

    @classmethod
    def placement(cls, model: str) -> Placement:
        """A worker has a GPU of its own, and sees no other."""
        return Placement("0", gpus=1, most=None if model == "all" else 1)

    def check_fork(self) -> None:
        """Raise `WorkloadError` if the driver is in use here: a fork could not use it."""
        if self._context is not None or initialized():
            raise WorkloadError(
                f"{self.name}: this process uses CUDA already; let the workload's file import"
                " nothing that does, or do so within run()"
            )

    def build(self, text: str) -> bytes:
        """PTX of a verified LLVM-IR module; raises `CompileError` if the back end rejects it."""
        return to_ptx(text).encode()

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:
        """Assemble and load the artefact; raises `SourceError` if the driver cannot."""
        context = self._ready()
        if not context.has(artefact):
            context.close_handles()  # those that failed runs of the last artefact left open
        module = context.load(artefact)
        for kernel in kernels:
            if kernel in module.signature.kernels:
                module.function(kernel)

    def keep(self, artefact: bytes) -> None:
        """Never unload this module."""
        self._ready().keep(artefact)

    def open(
        self,
        artefact: bytes,
        limits: Limits | None = None,
        *,
        poison: int = 0,
        check: str | None = None,
    ) -> CudaGpu:
        """Open PTX on the GPU."""
        if poison not in range(self.poisons):
            raise DeviceError(f"cuda has poison patterns 0 to {self.poisons - 1}, not {poison}")
        if check is not None:
            raise DeviceError(f"cuda has no check {check!r}; sim has checks")
        return CudaGpu(self._ready(), artefact, limits or Limits(), poison)

    def resources(self, artefact: bytes) -> dict[str, Resources]:
        """The resources of each kernel on this GPU; spills only if `ptxas` for it is installed."""
        context = self._ready()
        module = context.load(artefact)
        found = {name: module.function(name).resources for name in read(artefact).kernels}
        try:
            told = assemble(context.fitted(artefact).decode(), f"sm_{context.sm}").kernels
        except (CompileError, DeviceError):
            return found
        return {name: _with_spills(own, told.get(name)) for name, own in found.items()}

    def close(self) -> None:
        """Free everything; the end of the process does so as well."""
        if self._context is not None:
            self._context.close()
            self._context = None

    def _ready(self) -> Context:
        if self._failure is not None:
            raise self._failure
        if self._context is None:
            try:
                self._context = Context(self._index, self._functions)
            except NotReadyError as error:
                self._failure = error
                raise
        return self._context


def _with_spills(own: Resources, told: Resources | None) -> Resources:
    """The resources of a loaded kernel, with the spills that `ptxas` reports if it made the same code."""
    if told is None or told.registers != own.registers:
        return own
    return msgspec.structs.replace(
        own, spill_stores=told.spill_stores, spill_loads=told.spill_loads
    )


def _line(gpu: query.GpuInfo) -> str:
    memory = f"{gpu.memory / (1 << 30):.1f} GB"
    return f"PTX on {gpu.title}, {gpu.sm}, {memory}, driver for CUDA {gpu.driver}"
