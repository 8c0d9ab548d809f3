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
from contextlib import closing, suppress
from typing import Any, ClassVar, Literal

from gevolve.device.base import Device, Limits
from gevolve.device.cost import Cost
from gevolve.device.nvrtc import OLDEST
from gevolve.device.parameters import chosen
from gevolve.device.sim import host
from gevolve.device.sim.arguments import MAX_SHARED
from gevolve.device.sim.buffer import SimBuffer
from gevolve.device.sim.gpu import SimGpu
from gevolve.device.sim.hazards import Watch
from gevolve.device.sim.machine.decode import decoder
from gevolve.device.sim.machine.program import MachineProgram
from gevolve.device.sim.machine.program import load_ptx as load_machine
from gevolve.device.sim.memory import POISON
from gevolve.device.sim.program import Program, load
from gevolve.device.sim.timing import Clock, Gpu, cost_of, gpus, load_gpu
from gevolve.device.sim.unset import has_unset_registers
from gevolve.device.sim.uses import Uses
from gevolve.errors import DeviceError, UnsupportedError
from gevolve.ir.llvm.codegen import to_ptx

__all__ = ["Order", "PtxModel", "Sim", "SimBuffer", "SimGpu"]

Order = Literal["together", "forward", "backward", "shuffled"]
"""How the threads of a block take turns.

``together`` moves the lanes of a warp in step, as GPUs do. The others run each thread alone until it
must wait: in order of its index, in reverse, or shuffled by a seed. A kernel without races does the
same in all of them.
"""
_ORDERS: tuple[Order, ...] = ("together", "forward", "backward", "shuffled")
_HAZARDS, _VALUES = "hazards", "values"
_MOST_ASKED = 1024
"""Words that are asked about for a child at once."""


class Sim(Device):
    """Runs machine code of a named GPU on the CPU and counts its cycles; or PTX, of no GPU in particular."""

    family: ClassVar[str] = "sim"
    checks = (_HAZARDS, _VALUES, *_ORDERS[1:])
    """Looks for hazards; follows values that nothing has written; runs threads in other orders."""
    on_doubt = frozenset({_VALUES})
    poisons = len(POISON)

    def __init__(self, model: str = "", *, arch: str = "") -> None:
        """With an architecture such as ``sm_80``, what runs is the machine code of the PTX for it.

        A named GPU has one.
        """
        self.name = f"{self.family}:{model}" if model else self.family
        self._gpu = self._table(model) if model else None
        machine = self._gpu.machine if self._gpu else None
        self._arch = machine.arch if machine else arch
        self.arch = self._arch or f"sm_{OLDEST}"
        # Values are followed through the PTX, which leaves open what the assembler fuses and how it approximates.
        self.rough = frozenset({_VALUES} if self._arch else ())

    @classmethod
    def itemizes(cls, model: str) -> bool:
        """A named GPU does."""
        return bool(model)

    @classmethod
    def _table(cls, model: str) -> Gpu:
        gpu = load_gpu(model)
        if gpu.machine is None:
            raise DeviceError(
                f"machine code of {gpu.title} cannot be read; ptx:{model} is a model of its PTX"
            )
        return gpu

    def _load(self, artefact: bytes) -> Program | MachineProgram:
        """The program that runs: machine code if the device has any.

        Marks, which count how often blocks run, are no instructions of a GPU: what has them runs as PTX.
        """
        if self._arch and not _has_marks(artefact):
            return load_machine(artefact, self._arch)
        return load(artefact)

    @classmethod
    def models(cls) -> list[tuple[str, str]]:
        """The GPUs whose machine code can be read."""
        return [("", "PTX on the CPU; time is warp instructions and memory sectors"), *_named(True)]

    def check_fork(self) -> None:
        """Load the C runtime, which children inherit, and have no place to keep if it must be built."""
        host.runtime()

    def build(self, text: str) -> bytes:
        """PTX of a verified LLVM-IR module; raises `CompileError` if the back end rejects it."""
        return to_ptx(text).encode()

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:
        """Translate and compile these kernels; raises `UnsupportedError` for what cannot be run."""
        program = self._load(artefact)
        for kernel in kernels:
            if kernel in program.kernels:
                program.compiled(kernel)
                if self._gpu and not _has_marks(artefact):
                    program.code(kernel)

    def warm(self, artefact: bytes, kernels: Sequence[str], checks: Sequence[str] = ()) -> None:
        """Compile these kernels as plain runs and these checks run them."""
        self.prepare(artefact, kernels)
        if _VALUES in checks:
            following = load(artefact, following=True)
            for kernel in kernels:
                following.compiled(kernel)

    def fingerprint(self, artefact: bytes) -> str:
        """A hash of the machine code, which many PTX modules share; "" for PTX, which runs as it is."""
        program = self._load(artefact)
        if not isinstance(program, MachineProgram):
            return ""
        choice = "".join(f" {name}={value}" for name, value in sorted(chosen(artefact).items()))
        return f"{program.fingerprint}{choice}"

    def asked(self) -> list[str]:
        """Machine words that no table had."""
        return [f"{word:x}" for word in decoder(self._arch).asked()] if self._arch else []

    def learn(self, asked: Sequence[str]) -> None:
        """Ask the disassembler about machine words."""
        with suppress(ValueError, UnsupportedError, DeviceError):
            words = [int(word, 16) for word in asked[:_MOST_ASKED]]
            decoder(self._arch).learn(word for word in words if 0 <= word < 1 << 128)

    def cost(self, artefact: bytes, run: Callable[[Any], object], limits: Limits) -> Cost | None:
        """The cycles of a run by kernel and line, if the device is a named GPU."""
        if self._gpu is None:
            return None
        with closing(self.open(artefact, limits)) as gpu:
            run(gpu)
            return cost_of(gpu.timings) if gpu.timings else None

    def lines(self, handle: SimGpu) -> dict[str, float]:
        """Cycles by source line, if the device is a named GPU."""
        spent: dict[str, float] = {}
        for timing in handle.timings:
            for line, kinds in timing.lines.items():
                spent[line] = spent.get(line, 0.0) + sum(kinds.values())
        return spent

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
        if poison not in range(self.poisons):
            raise DeviceError(f"sim has poison patterns 0 to {self.poisons - 1}, not {poison}")
        if check not in {None, *self.checks}:
            raise DeviceError(f"sim has checks {', '.join(self.checks)}, not {check!r}")
        if check in _ORDERS:
            order = check
        if order not in _ORDERS:
            raise DeviceError(f"sim has thread orders {', '.join(_ORDERS)}, not {order!r}")
        # Only lanes that move together, as on a GPU, have a time.
        timed = order == "together" and check is None and not _has_marks(artefact)
        limits = limits or Limits()
        clock = (
            Clock(self._gpu, limits.enough, limits.scale, whole=limits.whole)
            if self._gpu and timed
            else None
        )
        number = _ORDERS.index(order)
        most = self._gpu.limits.most_shared if self._gpu else MAX_SHARED
        if check == _VALUES:
            # Whether a value is written is a question for the PTX, whatever the assembler makes of it.
            program = load(artefact, following=True)
            uses, choice = Uses(), chosen(artefact)
            return SimGpu(
                program, limits, poison, number, seed, uses=uses, most_shared=most, choice=choice
            )
        watch = Watch(unwritten=has_unset_registers(artefact)) if check == _HAZARDS else None
        program = self._load(artefact)
        return SimGpu(
            *(program, limits, poison, number, seed, clock, watch),
            most_shared=most,
            choice=chosen(artefact),
        )


class PtxModel(Sim):
    """Runs PTX on the CPU and counts the cycles of a GPU whose machine code cannot be read.

    What the machine's own compiler makes of the PTX is not known: nothing that is found here alone is
    called a gain.
    """

    family = "ptx"

    @classmethod
    def _table(cls, model: str) -> Gpu:
        gpu = load_gpu(model)
        if gpu.machine is not None:
            raise DeviceError(f"machine code of {gpu.title} can be read; use sim:{model}")
        return gpu

    @classmethod
    def models(cls) -> list[tuple[str, str]]:
        """The GPUs whose machine code cannot be read."""
        return _named(False)


def _has_marks(artefact: bytes) -> bool:
    return b"gevolve.mark" in artefact


def _named(machine: bool) -> list[tuple[str, str]]:
    what = "machine code" if machine else "PTX"
    tables = ((name, load_gpu(name)) for name in gpus())
    return [
        (name, f"{what} on the CPU, with the cycles of an {gpu.title}")
        for name, gpu in tables
        if (gpu.machine is not None) is machine
    ]
