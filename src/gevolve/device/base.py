"""Devices run artefacts and measure them; this module is what all of them have in common.

A device turns IR text into an artefact (`build`) and opens it as a handle, the object that a
workload's `run` sees: a `Gpu` for kernels, an `Executable` for models. What the run used comes back
as `Usage`; whoever judges it is elsewhere.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gevolve.errors import DeviceError

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
    """A time that is beyond this need not be exact: a formula for it, times `scale`, will do."""
    scale: float = 1.0
    whole: bool = True
    """Whether all blocks of a launch must run; if not, `sim` runs those that it times, and outputs
    mean nothing."""


@dataclass(frozen=True, slots=True)
class Hazard:
    """Something that a run did and that a real GPU gives no promise about."""

    kind: str
    """The verdict's word for it: ``race``, ``divergent-barrier`` or ``uninitialised``."""
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
    """What a cheap formula says of the time, on devices that have one."""
    fuel: int = 0
    """The most that one thread burned in one launch."""
    launches: int = 0
    memory: int = 0
    """The most bytes of buffers alive at once."""
    kernels: tuple[str, ...] = ()
    """The kernels that were launched, each once."""
    changed: tuple[int, ...] = ()
    """Uploaded buffers (in order of upload) that the kernels wrote to and left different."""
    marks: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each mark of `Program.instrumented` was passed, over all threads."""
    hazards: tuple[Hazard, ...] = ()
    """Each hazard once, if the device was asked to look for them."""


class Stopped(Exception):  # noqa: N818  (an outcome of the run, not a mistake of the caller)
    """The device stopped a run that went over a limit; `verdict` is the word for it."""

    def __init__(self, verdict: str, detail: str) -> None:
        super().__init__(detail)
        self.verdict = verdict
        """``fuel``, ``memory``, ``crash``, ``timeout`` or ``divergent-barrier``."""


class Poisoned(Stopped):
    """The run broke the device for this whole process, which must end."""


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
    """An artefact made ready to run."""

    def usage(self, *, timed: bool = True) -> Usage:
        """What was used so far; without the time if that is not wanted, since it may be costly."""
        ...

    def close(self) -> None:
        """Give back all memory; the object cannot be used again."""
        ...


class Executable(Handle, Protocol):
    """What a model workload's `run` sees: a function of arrays."""

    def __call__(self, *arguments: npt.ArrayLike) -> list[Array]:
        """Run the program once on these flat arguments; gives its flat results."""
        ...


class Gpu(Handle, Protocol):
    """What a workload's `run` sees: memory and launches."""

    def array(self, data: npt.ArrayLike) -> Buffer:
        """A buffer with a copy of this data."""
        ...

    def empty(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> Buffer:
        """A buffer whose content must not be relied on: `sim` fills it with poison."""
        ...

    def zeros(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> Buffer: ...

    def symbol(self, name: str, dtype: npt.DTypeLike = np.uint8) -> Buffer:
        """A ``__constant__`` or ``__device__`` variable of the module, as a one-dimensional buffer."""
        ...

    def launch(
        self,
        kernel: str,
        grid: Shape,
        block: Shape,
        *args: "Buffer | npt.ArrayLike",
        shared: int = 0,
    ) -> None:
        """Run a kernel to its end. `grid` and `block` have one to three dimensions, x first."""
        ...


class Device(Protocol):
    """Builds artefacts from IR text, and runs them."""

    @property
    def name(self) -> str: ...

    @property
    def deterministic(self) -> bool:
        """Whether the same artefact and case always give the same time.

        If not, a variant is timed in turns with the unedited program: opened, run and asked for its
        `usage` again and again, each time on a new handle.
        """
        ...

    @property
    def lasting(self) -> bool:
        """Whether all variants run in one process that lasts, not each in a fork of its own.

        So it is where a device is slow to start or does not survive a fork. Nothing but `build` may
        then be called outside that process.
        """
        ...

    def check_fork(self) -> None:
        """Raise `WorkloadError` if this process can no longer start a lasting one."""
        ...

    @property
    def referee(self) -> str:
        """A device on which the front must pass as well, since this one is blind to some faults."""
        ...

    @property
    def checks(self) -> tuple[str, ...]:
        """Further ways to run an artefact, for `open`: a sound kernel gives the same in all of them.

        The one that finds most for its cost comes first.
        """
        ...

    def build(self, text: str) -> bytes:
        """The artefact for a verified module; raises `CompileError` if the back end rejects it."""
        ...

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:
        """Do ahead what `open` would have to do to launch these kernels, as far as a fork inherits it.

        Raises `SourceError` if the device cannot run the artefact.
        """
        ...

    def keep(self, artefact: bytes) -> None:
        """Hold on to what `prepare` makes of this artefact, in a process that lasts.

        Others are wanted once, this one again and again.
        """
        ...

    def fingerprint(self, artefact: bytes) -> str:
        """What tells a prepared artefact from others that run differently; "" if only its bytes do.

        A compiler that comes after `build` makes the same of many artefacts.
        """
        ...

    def open(
        self, artefact: bytes, limits: Limits, *, poison: int = 0, check: str | None = None
    ) -> Any:
        """Make an artefact ready to run: a `Handle` of the kind that the workload's `run` expects.

        `poison` picks the pattern that fills empty buffers; `check` is one of `checks`.
        """
        ...


def open_device(name: str) -> Device:
    """The device of this name, such as ``sim``."""
    family, _, model = name.partition(":")
    if family == "sim":
        from gevolve.device.sim import Sim  # noqa: PLC0415  (a device loads only when asked for)

        return Sim(model)
    if family == "xla":
        from gevolve.device.xla import Xla  # noqa: PLC0415  (a device loads only when asked for)

        return Xla(model)
    if family == "cuda":
        from gevolve.device.cuda import Cuda  # noqa: PLC0415  (a device loads only when asked for)

        return Cuda(model)
    raise DeviceError(f"no device {name!r}; `gevolve devices` lists what there is")


def expand(name: str) -> list[str]:
    """The device of each worker, where only so many can share it; [] if any number can.

    ``cuda:all`` is a worker for each GPU, ``cuda:0`` is one worker.
    """
    family, _, model = name.partition(":")
    if family != "cuda":
        return []
    if model != "all":
        return [name]
    from gevolve.device.cuda.query import gpus  # noqa: PLC0415  (a device loads only when asked for)

    return [gpu.device for gpu in gpus()]
