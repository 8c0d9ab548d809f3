"""Starts children: forks of a worker, limited in time and memory.

A child is a fork of a warm process, so it starts in a millisecond with everything loaded.
"""

import contextlib
import gc
import os
import resource
import signal
import socket
import time
import traceback
from collections.abc import Callable

from gevolve.device.base import Device
from gevolve.evaluate.child.main import Channel
from gevolve.evaluate.child.process import TAIL, Child
from gevolve.system import linux
from gevolve.system.confine import confine

_RESERVE = 16 << 20
"""Bytes of address space that are held back, so that a child out of memory can still report it."""


def start(
    task: Callable[[Channel], None],
    *,
    seconds: float,
    memory: int | None = None,
    main: int | None = None,
    device: Device | None = None,
) -> Child:
    """Run `task` in a child of this process, for at most `seconds`.

    Given the device of a variant that it runs, it has no network and writes no file but the driver's.

    `memory` is how many bytes its address space may grow by. `main` is a file descriptor that hangs
    up when nobody waits for the answer any more; the child does not inherit it.
    """
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    worker = os.getpid()
    most = None if memory is None else linux.address_space() + memory
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        try:
            for fd in (ours.fileno(), read, *(() if main is None else (main,))):
                os.close(fd)
            os.dup2(write, 2)
            _limit(worker, most)
            if device is not None:
                confine(device.writes, device.sockets)
            task(Channel(theirs, time.perf_counter() - began))
        except BaseException:  # noqa: BLE001  (nothing may climb out into the worker's own loop)
            os.write(2, traceback.format_exc(limit=-1).encode()[-TAIL:])
        finally:
            os._exit(0)
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpgid(pid, pid)  # the child does so too: whoever comes first
    theirs.close()
    os.close(write)
    return Child(pid, ours, read, seconds, main)


def _limit(worker: int, most: int | None) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    linux.die_with_parent(worker, signal.SIGKILL)
    gc.disable()  # a collection would touch, and so copy, every page of the warm process
    if most is not None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most + _RESERVE))
