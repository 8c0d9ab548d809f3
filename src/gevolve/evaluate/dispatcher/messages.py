"""The messages between the main process, the dispatcher and its actors, beside those of workers."""

from typing import Any, TypeVar

import msgspec

from gevolve.errors import GevolveError
from gevolve.evaluate.protocol import Baseline, Job, Judged, NodeStatus, Prepare, Refused, Start
from gevolve.evaluate.verdict import Evaluation
from gevolve.workload.base import Split

Message = TypeVar("Message")
_encoder = msgspec.msgpack.Encoder()


# --- from the main process to the dispatcher -----------------------------------------------------


class Connect(msgspec.Struct, frozen=True, tag=True):
    """The first message: which cluster, and what is wanted of it."""

    address: str
    """``ray`` for one of its own, ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``."""
    workers: int | None
    """The most actors; None for as many as there is room for."""
    gpus: int
    """GPUs that each actor needs; without any it needs a core."""
    packages: list[str]
    """Packages that a result depends on, which must be alike on all nodes."""
    patience: float
    """Seconds without a single actor after which there is no hope."""


class Begin(msgspec.Struct, frozen=True, tag=True):
    """What is evaluated from now on; ends what was evaluated before."""

    start: Start
    files: dict[str, bytes]
    """The files of the workload's folder by relative name; none if it is no file."""
    workers: int | None
    """The most actors that work on it."""
    news: int
    """How many `News` follow."""


class News(msgspec.Struct, frozen=True, tag=True):
    """Evaluations of an earlier session, whose artefacts need not be run again."""

    known: list[tuple[Split, Evaluation]]


class End(msgspec.Struct, frozen=True, tag=True):
    """Drop what is outstanding; answered with the same."""


# --- from the dispatcher to the main process -----------------------------------------------------


class Connected(msgspec.Struct, frozen=True, tag=True):
    """There is a cluster."""


class Status(msgspec.Struct, frozen=True, tag=True):
    """Sent once a second: the nodes, and how many patches should be outstanding."""

    nodes: list[NodeStatus]
    ahead: int


# --- between the dispatcher and an actor ---------------------------------------------------------


class Batch(msgspec.Struct, frozen=True, tag=True):
    """Judge these patches; `known` holds what others found since the last batch."""

    jobs: list[Job]
    known: list[msgspec.Raw]
    """Pairs of a split and an evaluation."""


class Answers(msgspec.Struct, frozen=True, tag=True):
    """The evaluations of a batch."""

    judged: list[Judged]
    seconds: float
    """How long it took."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The actor has begun."""


ToDispatcher = Connect | Begin | News | Prepare | Job | End
FromDispatcher = Connected | Baseline | Judged | Refused | Status | End
FromActor = Ready | Baseline | Answers | Refused
_answers: msgspec.msgpack.Decoder[FromActor] = msgspec.msgpack.Decoder(FromActor)


def encode(message: Any) -> bytes:
    return _encoder.encode(message)


def decode(body: bytes, kind: type[Message]) -> Message:
    return msgspec.msgpack.decode(body, type=kind)


def decode_answer(body: bytes) -> FromActor:
    return _answers.decode(body)


def refusal(error: GevolveError) -> Refused:
    """The message that makes the main process raise this error."""
    kinds = (kind for kind in type(error).__mro__ if kind.__module__ == GevolveError.__module__)
    return Refused(next(kinds).__name__, str(error))
