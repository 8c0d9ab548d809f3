"""The device `sim`: PTX on the CPU.

PTX is parsed (`parse`), cut into blocks (`flow`) and translated to host LLVM-IR (`translate`), which
LLVM compiles without optimising. The unit of execution is the warp: generated code runs one block for
all lanes that are there, thread after thread, and a small scheduler in C (`runtime/simt.c`) decides
which block comes next. So barriers, shuffles, votes and calls need nothing of the generated code but
to stop at them; lanes move together as they do on a GPU; and what a warp issued and which addresses
it touched together is known as it happens.

A thread's registers live in a frame of the runtime's, outside device memory; what a kernel can
address is confined to device memory (`memory`), so that no variant can harm the process.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Literal

from gevolve.device.base import Device, Limits
from gevolve.device.cost import Cost
from gevolve.device.sim.buffer import SimBuffer
from gevolve.device.sim.gpu import SimGpu
from gevolve.device.sim.hazards import Watch
from gevolve.device.sim.machine.program import MachineProgram
from gevolve.device.sim.machine.program import load_ptx as load_machine
from gevolve.device.sim.program import Program, load
from gevolve.device.sim.timing import Clock, cost_of, gpus, load_gpu
from gevolve.errors import DeviceError
from gevolve.ir.llvm.codegen import to_ptx

__all__ = ["Order", "Sim", "SimBuffer", "SimGpu"]

Order = Literal["together", "forward", "backward", "shuffled"]
"""How the threads of a block take turns.

``together`` moves the lanes of a warp in step, as GPUs do. The others run each thread alone until it
must wait: in order of its index, in reverse, or shuffled by a seed. A kernel without races does the
same in all of them.
"""
_ORDERS: tuple[Order, ...] = ("together", "forward", "backward", "shuffled")
_HAZARDS = "hazards"


class Sim(Device):
    """Runs PTX on the CPU and counts what a GPU would issue and move, or the cycles of a named GPU."""

    checks = (_HAZARDS, *_ORDERS[1:])
    """Looks for hazards, and runs the threads of a block in other orders."""

    def __init__(self, model: str = "", *, arch: str = "") -> None:
        """With an architecture such as ``sm_80``, what runs is the machine code of the PTX for it."""
        self.name = f"sim:{model}" if model else "sim"
        self._gpu = load_gpu(model) if model else None
        self._arch = arch

    def _load(self, artefact: bytes) -> Program | MachineProgram:
        return load_machine(artefact, self._arch) if self._arch else load(artefact)

    @classmethod
    def models(cls) -> list[tuple[str, str]]:
        """The GPUs that there are tables of."""
        named = [
            (name, f"the same, with the cycles of an {load_gpu(name).title}") for name in gpus()
        ]
        return [("", "PTX on the CPU; time is warp instructions and memory sectors"), *named]

    def build(self, text: str) -> bytes:
        """PTX of a verified LLVM-IR module; raises `CompileError` if the back end rejects it."""
        return to_ptx(text).encode()

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:
        """Translate and compile these kernels; raises `UnsupportedError` for what cannot be run."""
        program = self._load(artefact)
        for kernel in kernels:
            if kernel in program.kernels:
                program.compiled(kernel)
                if self._gpu:
                    program.code(kernel)

    def cost(self, artefact: bytes, run: Callable[[Any], object], limits: Limits) -> Cost | None:
        """The cycles of a run by kernel and line, if the device is a named GPU."""
        if self._gpu is None:
            return None
        with closing(self.open(artefact, limits)) as gpu:
            run(gpu)
            return cost_of(gpu.timings) if gpu.timings else None

    def open(
        self,
        artefact: bytes,
        limits: Limits | None = None,
        *,
        poison: int = 0,
        check: str | None = None,
        order: Order = "together",
        seed: int = 0,
    ) -> SimGpu:
        """Make PTX ready to run; raises `UnsupportedError` for what `sim` cannot run."""
        if poison not in {0, 1}:
            raise DeviceError(f"sim has poison patterns 0 and 1, not {poison}")
        if check not in {None, *self.checks}:
            raise DeviceError(f"sim has checks {', '.join(self.checks)}, not {check!r}")
        if check in _ORDERS:
            order = check
        if order not in _ORDERS:
            raise DeviceError(f"sim has thread orders {', '.join(_ORDERS)}, not {order!r}")
        # Only lanes that move together, as on a GPU, have a time.
        timed = order == "together" and check is None
        limits = limits or Limits()
        clock = (
            Clock(self._gpu, limits.enough, limits.scale, whole=limits.whole)
            if self._gpu and timed
            else None
        )
        watch = Watch() if check == _HAZARDS else None
        number = _ORDERS.index(order)
        return SimGpu(self._load(artefact), limits, poison, number, seed, clock, watch)
