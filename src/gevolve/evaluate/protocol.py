"""The messages between processes: typed structs in length-prefixed msgpack frames.

A frame is four bytes of length and a msgpack map. The receiver checks the length against a limit and
the content against the type that it expects, so that no garbage from a process with corrupted memory
is taken for a message.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Generic, Literal, TypeVar

import msgspec
import numpy as np

from gevolve.device.base import Limits, Usage
from gevolve.errors import GevolveError
from gevolve.evaluate.verdict import Evaluation
from gevolve.workload.base import Array, Split
from gevolve.workload.locate import Location

Message = TypeVar("Message")
LENGTH = struct.Struct("<I")
LARGEST = 64 << 20
"""The longest frame between the main process and its workers, in bytes."""
LARGEST_FROM_CHILD = 1 << 20
"""The longest frame that a worker reads from a child; outputs do not travel in frames."""

_NUMBER = re.compile(r"[<>|][biufc][0-9]{1,2}")
_encoder = msgspec.msgpack.Encoder()


class MalformedMessageError(GevolveError):
    """Received bytes are not a message. The receiver handles it; no user sees it."""


# --- from the main process to a worker -----------------------------------------------------------


class Start(msgspec.Struct, frozen=True, tag=True):
    """The first message to a worker: what it evaluates, where and how."""

    spec: Location
    device: str
    program: str
    """The program's text."""
    tolerance: float | None
    """The error up to which a variant is `ok`; None for the workload's own."""
    patience: float
    """The least number of seconds that a variant is given."""
    draw: int
    """The seed of the fresh cases."""
    path: list[str]
    """The main process's `sys.path`."""
    machine: dict[str, float] = {}
    """What the device measured of the machine that a run began on; see `Device.calibrate`."""


class Prepare(msgspec.Struct, frozen=True, tag=True):
    """Run the unedited program on a split, and report the baseline."""

    split: Split


class Job(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """Judge one patch. `known` holds what other workers found since the last job."""

    number: int
    patch: str
    split: Split
    known: list[tuple[Split, Evaluation]]
    careful: bool = False
    """Whether this patch has ended a worker before."""
    artefact: bytes | None = None
    """What to judge in place of the artefact that is built of the patch."""


# --- from a worker to the main process -----------------------------------------------------------


class Baseline(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """What the unedited program does on a split; every variant is compared with it."""

    split: Split
    evaluation: Evaluation
    profile: dict[str, float]
    """How often each block ran, by block id; of the search split only."""
    cases: tuple[str, ...]
    """One line about each case, smallest first."""
    tolerance: float
    """The error up to which a variant is `ok`."""
    rounding: float = 0.0
    """The error that counts as none: the workload's, or the unedited program's own rounding."""
    unchecked: dict[str, str] = {}
    """What variants are not checked for, since the unedited program fails it, and how; by check."""
    warnings: tuple[str, ...] = ()
    """What a user should know beside all results."""
    assumptions: tuple[str, ...] = ()
    """What is the same in all cases, so that nothing is known of a result where it differs."""
    deadline: float
    """Seconds that a variant is given."""
    device: str
    deterministic: bool
    """Whether times of this split are the same each time."""
    modelled: bool = False
    """Whether that is so because they are modelled; what is reported is then measured by a clock."""
    referee: str
    """Another device on which the front must pass too; "" if there is none."""
    program: str
    """The program's digest."""
    digest: str
    """SHA-256 of all expected outputs: workers that disagree on it see different workloads."""


class Judged(msgspec.Struct, frozen=True, tag=True):
    """The evaluation of one job."""

    number: int
    evaluation: Evaluation


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The worker cannot go on: the name of an error in `gevolve.errors`, and its message."""

    kind: str
    message: str


# --- from a cluster ------------------------------------------------------------------------------


class NodeStatus(msgspec.Struct, kw_only=True):
    """A machine of a cluster, as live views show it."""

    name: str
    state: Literal["starting", "working", "left out", "lost"] = "starting"
    why: str = ""
    """Why it is left out or lost, in one line."""
    workers: int = 0
    """How many of them are ready."""
    evaluations: int = 0
    """Verdicts that came from it."""
    rate: float = 0.0
    """Verdicts a second, lately."""
    lost: int = 0
    """Patches that it had when it, or one of its workers, was lost; others judged them."""
    repeated: int = 0
    """Patches that it was too slow with, which were given to another worker as well."""


# --- from a child to its worker ------------------------------------------------------------------


class Ran(msgspec.Struct, frozen=True, tag=True):
    """One case was run. The bytes of its outputs follow this frame, in order.

    The usage has no time: to compute it may cost more than the run, and most variants are wrong.
    """

    outputs: list["Header"]
    usage: Usage
    seconds: dict[str, float]


class Timed(msgspec.Struct, frozen=True, tag=True):
    """The time of the last run, as the device measured it.

    On a device whose times vary it is relative to the unedited program's, timed alternately.
    """

    time: float
    seconds: dict[str, float]
    spread: float = 0.0
    """The relative uncertainty of `time`."""
    unit: float = 1.0
    """The unedited program's time, where `time` is relative to that."""
    estimate: float = 0.0
    """The time by the device's formula, if it has one."""
    work: tuple[float, ...] = ()
    """What was executed, as in `Usage`."""
    modelled: bool = False
    """Whether no clock measured it, but the device worked it out from the compiled code."""
    lines: dict[str, float] = {}
    """The time by source line, if it was asked for and the device knows it."""


class Prepared(msgspec.Struct, frozen=True, tag=True):
    """The child has prepared an artefact, and this is its fingerprint."""

    fingerprint: str
    seconds: dict[str, float]
    asked: list[str] = []
    """What it had to ask a slow tool for that, and cannot keep; see `Device.learn`."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The child failed. It reports how; the worker decides what that means."""

    how: str
    detail: str
    seconds: dict[str, float]
    last: bool = False
    """Whether its process can run nothing more."""


# --- from a worker to its child ------------------------------------------------------------------


class CaseRun(msgspec.Struct, frozen=True):
    """One run of an artefact: on which case, within which limits, and how."""

    case: int
    limits: Limits
    poison: int = 0
    """The pattern that fills empty buffers."""
    check: str | None = None
    """One of the device's checks."""
    timed: bool = True
    """Whether the time is wanted too."""
    parts: tuple[int, ...] = ()
    """The parts of the case that are run, in this order; all of them if empty."""
    sketch: bool = False
    """Whether code that was compiled in haste will do (`Device.sketches`)."""
    itemized: bool = False
    """Whether the time by source line is wanted too."""


class Assignment(msgspec.Struct, frozen=True):
    """An artefact for the child to run."""

    artefact: bytes
    runs: list[CaseRun]
    kernels: list[str] = []
    """The kernels that will be launched."""


class Header(msgspec.Struct, frozen=True):
    """The name, type and shape of an output array."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def of(cls, name: str, array: Array) -> "Header":
        return cls(name, array.dtype.str, array.shape)

    @property
    def nbytes(self) -> int:
        if not _NUMBER.fullmatch(self.dtype) or min(self.shape, default=0) < 0:
            raise MalformedMessageError(f"not an array of numbers: {self.dtype} {self.shape}")
        size = np.dtype(self.dtype).itemsize
        for extent in self.shape:
            size *= extent
        return size

    def __str__(self) -> str:
        return f"{np.dtype(self.dtype)}{list(self.shape)}"


FromMain = Start | Prepare | Job
FromWorker = Baseline | Judged | Refused
FromChild = Prepared | Ran | Timed | Failed


def frame(message: Any) -> bytes:
    """The bytes of one message."""
    body = _encoder.encode(message)
    return LENGTH.pack(len(body)) + body


def named_arrays(outputs: Any) -> dict[str, Array]:
    """The outputs that a workload's `run` or `reference` returned, as arrays of numbers by name."""
    if isinstance(outputs, dict):
        items: Sequence[tuple[Any, Any]] = list(outputs.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    elif isinstance(outputs, tuple | list):
        items = list(enumerate(outputs))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    else:
        items = [(0, outputs)]
    named: dict[str, Array] = {}
    for name, value in items:
        array = np.asarray(value, order="C")
        if not _NUMBER.fullmatch(array.dtype.str):
            raise TypeError(
                f"output {name} must be an array of numbers, not {type(value).__name__}"
            )
        named[str(name)] = array
    if not named:
        raise TypeError("there is no output: return an array, or a tuple or dict of arrays")
    return named


class Inbox(Generic[Message]):
    """Decodes messages from a stream of bytes."""

    def __init__(self, of: Any, largest: int) -> None:
        self._decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(of)
        self._largest = largest
        self._bytes = bytearray()

    @property
    def missing(self) -> int:
        """The number of bytes that must still arrive before the next message can be decoded."""
        if len(self._bytes) < LENGTH.size:
            return LENGTH.size - len(self._bytes)
        (length,) = LENGTH.unpack_from(self._bytes)
        if length > self._largest:
            raise MalformedMessageError(f"a frame of {length} bytes")
        return max(0, LENGTH.size + length - len(self._bytes))

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def take(self) -> Message | None:
        """The next message, or None if it has not arrived completely."""
        if self.missing:
            return None
        (length,) = LENGTH.unpack_from(self._bytes)
        end = LENGTH.size + length
        body = bytes(self._bytes[LENGTH.size : end])
        del self._bytes[:end]
        try:
            return self._decoder.decode(body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise MalformedMessageError(str(error)) from None

    def messages(self) -> Iterator[Message]:
        """All messages that have arrived."""
        while (message := self.take()) is not None:
            yield message
