"""Does something in a fork of this process that may crash, hang or take all memory.

Parsers of LLVM and MLIR are recursive, and what they read may come from anybody: a file that nests
100,000 deep overflows the stack, and with it goes the process. Here only a fork goes. What it has done
within less stack than this process has, this process can then do, too.
"""

import faulthandler
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress

import msgspec

from gevolve import errors
from gevolve.errors import GevolveError, SourceError, one_line
from gevolve.system import linux
from gevolve.system.text import printable

SECONDS = 60.0
"""Of processor time."""
_PATIENCE = 8
"""So many times as long by the clock: on a busy machine most of that is the time of others."""
_GO_ON = 1.0
"""A fork that has been silent for so many seconds is told to go on, should it have been stopped."""
MEMORY = 4 << 30
"""Bytes by which the address space may grow."""
_STACK = 8 << 20
"""What is taken for the size of a stack that has no limit."""


class _Answer(msgspec.Struct):
    """What a fork sends: a result, or the kind and the message of an error."""

    result: bytes = b""
    kind: str = ""
    message: str = ""


def limited(
    work: Callable[[], bytes],
    what: str,
    *,
    seconds: float = SECONDS,
    ended: str = "nests too deep, or is damaged: its reader ended",
    late: str = "too large or too tangled: not read",
) -> bytes:
    """The result of `work`, done in a fork; raises what it raises, and `SourceError` if it fails.

    `what` is what is being read, as an error names it; `ended` and `late` say what it means if the fork
    ends with a signal, or not in time.
    """
    with os.fdopen(os.memfd_create("said"), "r+b") as said:
        result = _in_a_fork(work, seconds, said.fileno(), f"{what}: {ended}", f"{what}: {late}")
        said.seek(0)
        sys.stderr.write(printable(said.read().decode(errors="replace")))
    return result


def _in_a_fork(
    work: Callable[[], bytes], seconds: float, said: int, ended: str, late: str
) -> bytes:
    """As `limited`; what the fork, or a library that crashes in it, writes to stderr goes to `said`."""
    read, write = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():  # the fork neither starts threads nor waits for any
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        os.dup2(said, 2)
        _be_the_fork(work, parent, read, write, seconds)
    os.close(write)
    data, overdue = b"", True
    try:
        data, overdue = _receive(read, time.monotonic() + _PATIENCE * seconds, pid)
    finally:
        os.close(read)
        if not _has_ended(pid, 1.0 if data else 0.1):
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if overdue or status == -signal.SIGXCPU:
        raise SourceError(f"{late} after {seconds:g} s")
    try:
        answer = msgspec.msgpack.decode(data, type=_Answer)
    except msgspec.DecodeError:
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        raise SourceError(f"{ended} with {how}") from None
    if answer.kind:
        raise getattr(errors, answer.kind)(answer.message)
    return answer.result


def _has_ended(pid: int, seconds: float) -> bool:
    """Whether a child ends by itself within so many seconds."""
    handle = os.pidfd_open(pid)
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def _receive(read: int, until: float, pid: int) -> tuple[bytes, bool]:
    """All that a child sends through a pipe, and whether it took too long; one that somebody stopped goes on."""
    parts: list[bytes] = []
    poll = select.poll()
    poll.register(read, select.POLLIN)
    while (left := until - time.monotonic()) > 0:
        if not poll.poll(min(left, _GO_ON) * 1000):
            os.kill(pid, signal.SIGCONT)
            continue
        data = os.read(read, 1 << 20)
        if not data:
            return b"".join(parts), False
        parts.append(data)
    return b"", True


def _be_the_fork(
    work: Callable[[], bytes], parent: int, read: int, write: int, seconds: float
) -> None:
    try:
        os.close(read)
        _limit(parent, seconds)
        answer = _Answer(work())
    except GevolveError as error:
        kind = next(k.__name__ for k in type(error).__mro__ if k.__module__ == errors.__name__)
        answer = _Answer(kind=kind, message=str(error))
    except RecursionError:
        answer = _Answer(kind=SourceError.__name__, message="it nests too deep")
    except MemoryError:
        answer = _Answer(kind=SourceError.__name__, message=f"it takes more than {MEMORY >> 30} GB")
    except BaseException as error:  # noqa: BLE001  (whatever it is, it is told)
        answer = _Answer(kind=SourceError.__name__, message=f"it cannot be read: {one_line(error)}")
    try:
        sys.stderr.flush()
        with os.fdopen(write, "wb") as pipe:
            pipe.write(msgspec.msgpack.encode(answer))
    finally:
        os._exit(0)


def _limit(parent: int, seconds: float) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    linux.die_with_parent(parent, signal.SIGKILL)
    linux.disable_core_dumps()
    faulthandler.disable()  # who reads a damaged file is told so in one line
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    stack = _STACK if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_STACK, (stack * 3 // 4, hard))
    most = linux.address_space() + MEMORY
    with suppress(ValueError):  # it is lower already
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    cpu = int(seconds)
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
