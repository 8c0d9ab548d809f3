"""The interface of devices: they build artefacts, run them, and measure what a run used.

A device turns IR text into an artefact (`build`) and opens it as a handle, the object that a
workload's `run` sees: a `Gpu` for kernels, an `Executable` for models. The handle reports what the
run used (`Usage`). A device never judges: the evaluator compares outputs and decides.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from gevolve.device.cost import Cost, KernelCode
from gevolve.errors import DeviceError
from gevolve.system.confine import Sockets

Array = npt.NDArray[Any]
Shape = int | Sequence[int]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run of a workload may use before the device stops it."""

    fuel: int = 1 << 62
    """Loop iterations (and calls) of one thread in one launch."""
    launches: int = 1 << 31
    memory: int = 8 << 30
    """Bytes of device buffers alive at once."""
    enough: float = math.inf
    """A time above this may be an estimate: the device's own formula, times `scale`."""
    scale: float = 1.0
    whole: bool = True
    """Whether all blocks of a launch must run; if not, `sim` runs those that it times, and outputs
    mean nothing."""

    @classmethod
    def like(cls, usage: "Usage") -> Self:
        """What a variant may use, given what the unedited program used."""
        return cls(
            fuel=4 * usage.fuel + 1000,
            launches=4 * usage.launches + 100,
            memory=2 * usage.memory + (64 << 20),
        )


UNSURE = "unsure"
"""The kind of what makes a time unsure, and is no fault."""


@dataclass(frozen=True, slots=True)
class Hazard:
    """Something that a run did and whose outcome is undefined on a real GPU, such as a race."""

    kind: str
    """The verdict's word for it: ``race``, ``divergent-barrier``, ``stale`` or ``uninitialised``; or `UNSURE`."""
    kernel: str
    where: tuple[str, ...]
    """What met where, such as ``writes hotspot.cu:44``; ``writes ?`` if the line is not known."""
    detail: str
    """One line for people."""


@dataclass(slots=True)
class Usage:
    """What one run of a workload used, as the device measured it."""

    time: float = 0.0
    """In the device's own unit; only ratios mean anything across devices."""
    estimate: float = 0.0
    """The time by a cheap formula, on devices that have one."""
    fuel: int = 0
    """The most loop iterations and calls of one thread in one launch."""
    launches: int = 0
    gaps: float = 0.0
    """The time between launches, where the device knows it; `time` is without it."""
    work: tuple[float, ...] = ()
    """What was executed, where the device counts it: instructions, memory operations, barriers, and the
    cycles that the compiler has instructions wait. Who does no less of anything is not called faster."""
    memory: int = 0
    """The peak size of all buffers, in bytes."""
    kernels: tuple[str, ...] = ()
    """The kernels that were launched, each once."""
    changed: tuple[int, ...] = ()
    """Uploaded buffers (in order of upload) that the kernels wrote to and left different."""
    marks: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each mark of `Program.instrumented` was executed, over all threads."""
    hazards: tuple[Hazard, ...] = ()
    """Each hazard once, if the check that looks for them was asked for."""
    remark: str = ""
    """A sentence that must stand beside results, if the run was of the unedited program."""
    doubts: tuple[str, ...] = ()
    """Checks that what was seen calls for (`Device.on_doubt`)."""


class Stopped(Exception):  # noqa: N818  (an outcome of the run, not a mistake of the caller)
    """The device stopped a run that went over a limit; `verdict` is the word for it."""

    def __init__(self, verdict: str, detail: str) -> None:
        super().__init__(detail)
        self.verdict = verdict
        """``fuel``, ``memory``, ``crash``, ``timeout``, ``divergent-barrier``, ``race`` or ``stale``."""


class Poisoned(Stopped):
    """The run left the device unusable for the rest of this process, which must end."""


class Buffer(Protocol):
    """An array in the device's memory."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def ptr(self) -> int:
        """The device address, for pointer arithmetic in launch arguments."""
        ...

    def get(self) -> Array:
        """Copy to the host."""
        ...

    def set(self, data: npt.ArrayLike) -> None:
        """Copy from the host; `data` must have this buffer's shape."""
        ...

    def fill(self, value: float) -> None: ...

    def free(self) -> None: ...


class Handle(Protocol):
    """An open artefact: what a workload's `run` is given."""

    def usage(self, *, timed: bool = True) -> Usage:
        """What was used so far. Without `timed` the time may be left out, since it can be costly."""
        ...

    def close(self) -> None:
        """Free all memory. The handle cannot be used again."""
        ...


class Executable(Handle, Protocol):
    """What a model workload's `run` sees: a function of arrays."""

    def __call__(self, *arguments: npt.ArrayLike) -> list[Array]:
        """Run the program once on these flat arguments; returns its flat results."""
        ...


class Gpu(Handle, Protocol):
    """What a kernel workload's `run` sees: memory and launches."""

    def array(self, data: npt.ArrayLike) -> Buffer:
        """A buffer with a copy of this data."""
        ...

    def empty(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> Buffer:
        """A buffer with undefined content: `sim` and `cuda` fill it with a poison pattern."""
        ...

    def zeros(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> Buffer: ...

    def symbol(self, name: str, dtype: npt.DTypeLike = np.uint8) -> Buffer:
        """A ``__constant__`` or ``__device__`` variable of the module, as a 1-D buffer."""
        ...

    def parameter(self, name: str, *values: int) -> int:
        """A number that the search may choose among these, such as a block's size; the first if it does not."""
        ...

    def launch(
        self,
        kernel: str,
        grid: Shape,
        block: Shape,
        *args: "Buffer | npt.ArrayLike",
        shared: int = 0,
    ) -> None:
        """Run a kernel. `grid` and `block` have one to three dimensions, x first."""
        ...


class Placement(NamedTuple):
    """What a worker on a cluster needs, and the model that it opens there."""

    model: str
    gpus: int = 0
    """GPUs of its own; without one it needs a core."""
    most: int | None = None
    """How many workers there may be; None for as many as there is room for."""


class Device(ABC):
    """Builds artefacts from IR text, and runs them. Subclass it to bring a device of your own.

    A subclass sets `name` and defines `build` and `open`. The other members have defaults that suit
    a deterministic device on which no kernel can harm the process. The registry creates a device
    with what follows the colon in its name: ``sim:a100`` is ``Sim("a100")``.

    The worker process calls only `build`, `check_fork` and `warm`. All other methods are called in a
    child process that is forked from it, so a device must not start threads or drivers in these three.
    """

    name: str
    arch: str = ""
    """What nvcc builds for it, to compare with, such as ``sm_80``; empty if it runs no CUDA."""
    deterministic: bool = True
    """Whether the same artefact and case always give the same time.

    If not, a variant is timed alternately with the unedited program: opened, run and asked for its
    `usage` again and again, each time on a new handle.
    """
    isolated: bool = False
    """Whether each artefact needs a process of its own.

    Set it if a faulty kernel can corrupt the process that runs it. Otherwise one child process runs
    many artefacts, one after another.
    """
    referee: str = ""
    """A device on which the front must pass too, because this one cannot detect some faults."""
    checks: tuple[str, ...] = ()
    """Further ways to run an artefact, for `open`: a sound kernel gives the same outputs in each.

    The check that finds most for its cost comes first.
    """
    on_doubt: frozenset[str] = frozenset()
    """Those of the checks that are made only if the first one gives cause to (`Usage.doubts`)."""
    rough: frozenset[str] = frozenset()
    """Those of the checks that run other code than a plain run does, which may round otherwise."""
    poisons: int = 2
    """How many patterns `open` knows that fill empty memory."""
    sees_empty: bool = True
    """Whether a program can see memory that nothing has written; if not, a search tries one pattern."""

    setup: float = 60.0
    """Seconds that the unedited program may take at first, over all search cases; compilation is part of it."""

    sketches: bool = False
    """Whether it can compile in haste what then runs slowly, for a first look at outputs (`open_sketch`)."""

    calibrates: bool = False
    """Whether `calibrate` measures anything; if so, the main process opens the device too."""

    writes: tuple[str, ...] = ()
    """Files and folders that its driver writes to; a child that runs variants can write to no other."""
    sockets: Sockets = "none"
    """The sockets that its driver needs."""

    def __init__(self, model: str = "") -> None:
        if model:
            raise DeviceError(f"{type(self).__name__} has no model {model!r}; leave out ':{model}'")

    @classmethod
    def models(cls) -> list[tuple[str, str]]:
        """What may follow the colon, and one line about each; "" stands for nothing.

        `gevolve devices` prints it. It must import nothing that may be missing, and must not hang.
        """
        return [("", (cls.__doc__ or "").partition("\n")[0])]

    @classmethod
    def workers(cls, model: str) -> list[str]:  # noqa: ARG003  (for subclasses)
        """The model for each worker, if the device limits their number; [] if it does not."""
        return []

    @classmethod
    def placement(cls, model: str) -> Placement:
        """What each worker on a cluster needs; by default a core."""
        limited = cls.workers(model)
        return Placement(limited[0] if limited else model, most=len(limited) or None)

    @classmethod
    def itemizes(cls, model: str) -> bool:  # noqa: ARG003  (for subclasses)
        """Whether `cost` knows kernels and lines, so that a run keeps those of its best variant."""
        return False

    @classmethod
    def shows_kernels(cls, model: str) -> bool:  # noqa: ARG003  (for subclasses)
        """Whether `kernels` has those that it makes of a model, to be edited."""
        return False

    @abstractmethod
    def build(self, text: str) -> bytes:
        """The artefact of a verified module; raises `CompileError` if the back end rejects it."""

    @abstractmethod
    def open(
        self, artefact: bytes, limits: Limits, *, poison: int = 0, check: str | None = None
    ) -> Any:
        """Open an artefact as a `Handle` of the kind that the workload's `run` expects.

        `poison` picks the pattern that fills empty buffers; `check` is one of `checks`.
        """

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:  # noqa: B027  (optional)
        """Load an artefact, and compile these of its kernels, ahead of `open`.

        It is called without kernels first: `fingerprint` may tell that the code was judged before.
        Raises `SourceError` if the device cannot run the artefact.
        """

    def warm(  # noqa: B027  (optional)
        self, artefact: bytes, kernels: Sequence[str], checks: Sequence[str] = ()
    ) -> None:
        """Do in the worker what children would each do again with an artefact that many of them run.

        A child has run these kernels of it before, plainly and in these checks, without harm.
        """

    def keep(self, artefact: bytes) -> None:  # noqa: B027  (optional)
        """Never evict this artefact from the cache of prepared ones: it will be run many times."""

    def fingerprint(self, artefact: bytes) -> str:  # noqa: ARG002  (for subclasses)
        """A hash of what the device runs for a prepared artefact; "" if that is the artefact itself.

        A device with a compiler of its own makes the same code of many artefacts: those with one
        fingerprint are judged once.
        """
        return ""

    def asked(self) -> list[str]:
        """What this process had to ask a slow tool since the last call, in the device's own words.

        A child that runs variants may write no file, so it cannot keep the answers: see `learn`.
        """
        return []

    def learn(self, asked: Sequence[str]) -> None:  # noqa: B027  (optional)
        """Ask once more what a child had to ask, and keep the answers for all processes to come.

        The child is not believed: it has only said what there is to ask.
        """

    def cost(
        self,
        artefact: bytes,  # noqa: ARG002
        run: Callable[[Any], object],  # noqa: ARG002  (for subclasses)
        limits: Limits,  # noqa: ARG002
    ) -> Cost | None:
        """What one run of an artefact costs, by kernel and line; None if the device cannot tell.

        `run` runs the workload on a handle. A device that reads the cost from compiled code need not
        call it.
        """
        return None

    def layers(self, text: str) -> dict[str, dict[str, float]]:  # noqa: ARG002  (for subclasses)
        """Of each kernel of a model, the share that each operation of its program has in it; none by default."""
        return {}

    def kernels(
        self,
        artefact: bytes,  # noqa: ARG002
        run: Callable[[Any], object],  # noqa: ARG002  (for subclasses)
        limits: Limits,  # noqa: ARG002
    ) -> dict[str, KernelCode]:
        """The kernels that its compiler makes of a model, whose LLVM-IR may be edited; none by default.

        Their names are the same in all models that have them. `run` runs the workload on a handle.
        """
        return {}

    def check_cost(self) -> None:
        """Raise `WorkloadError` if a fork of this process could tell neither `cost` nor `kernels`."""
        self.check_fork()

    def lines(self, handle: Any) -> dict[str, float]:  # noqa: ARG002  (for subclasses)
        """The time of what a handle ran by source line, such as ``hotspot.cu:44``; empty if unknown."""
        return {}

    def calibrate(self) -> dict[str, float]:
        """What modelled times go by on this machine, measured at first use; a run keeps it.

        The main process calls it, which must be able to start other processes afterwards.
        """
        return {}

    def use(self, machine: dict[str, float]) -> None:  # noqa: B027  (optional)
        """Go by what `calibrate` gave where the run began; without anything by defaults."""

    def prepare_sketch(self, artefact: bytes) -> None:
        """As `prepare`, in haste: `open_sketch`, `fingerprint` and `modelled` need no more."""
        self.prepare(artefact, ())

    def open_sketch(self, artefact: bytes, limits: Limits) -> Any:
        """As `open`, for code that was compiled in haste; outputs are the same up to rounding."""
        return self.open(artefact, limits)

    def hasten(self) -> None:  # noqa: B027  (optional)
        """A search begins: compile what has a modelled time sooner, if only its outputs are wanted of the code.

        Modelled times and outputs must stay what they are. Other times may from now on be told from parts of a program, by all
        variants and the unedited program alike; what is reported is never told by a device that hastens.
        """

    def modelled(self, artefact: bytes) -> float | None:  # noqa: ARG002  (for subclasses)
        """The time of one run, worked out from the code of a prepared artefact.

        It is the same each time. A search on a device whose clock is not goes by it, and the clock then
        measures what is reported. None if there is no such time for this artefact.
        """
        return None

    def check_fork(self) -> None:  # noqa: B027  (optional)
        """Raise `WorkloadError` if a fork of this process could not use the device.

        What a child cannot do, such as writing to a cache, is done here.
        """
