"""The guard of a worker: it starts the worker, and leaves nothing behind when either of the two ends.

    python -E -s -S guard.py FD MAIN

The worker dies with its guard by SIGKILL, which works on stopped processes too. What the worker's own
children have started, wherever it has gone, becomes the guard's child when its parent ends, and is
killed. The guard ends when the worker does (with its status), when MAIN does, or at SIGTERM. If it is
stopped, or about to be, when MAIN ends, the kernel wakes it.

Only the standard library is imported: there is one such process for each worker.
"""

import contextlib
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from gevolve.system import linux
else:
    import linux  # it lies beside this script; to import gevolve itself would take a second

WORKER = "gevolve.evaluate.worker.main"
PATIENCE = 5.0
"""Seconds within which all that was started must be gone."""


class _EndError(Exception):
    """Someone wants this process to end."""


def _end(*_: object) -> NoReturn:
    raise _EndError


def _scratch() -> str:
    """A folder for temporary files of the worker; "" if there is no room for one."""
    parent = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108
    folder = f"{parent}/gevolve-{os.getpid()}-{time.monotonic_ns():x}"
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102  (all that can be is left out of this process)
    except OSError:
        return ""
    os.environ["TMPDIR"] = os.environ["GEVOLVE_SCRATCH"] = folder
    return folder


def _remove(folder: str) -> None:
    """Remove a folder and all that is in it."""
    with contextlib.suppress(OSError):
        for path, folders, files in os.walk(folder, topdown=False):
            for name in files:
                os.unlink(f"{path}/{name}")  # noqa: PTH108
            for name in folders:
                os.rmdir(f"{path}/{name}")  # noqa: PTH106
        os.rmdir(folder)  # noqa: PTH106


def _start(fd: str, main: str) -> int:
    """Start the worker, which reads from this file descriptor."""
    guard = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        linux.die_with_parent(guard, signal.SIGKILL)
        os.execv(sys.executable, [sys.executable, "-m", WORKER, fd, main])  # noqa: S606
    finally:
        os._exit(1)


def _watch(worker: int, main: int) -> None:
    """Return when the worker or the main process has ended."""
    poll = select.poll()
    poll.register(os.pidfd_open(worker), select.POLLIN)
    with contextlib.suppress(ProcessLookupError):
        poll.register(os.pidfd_open(main), select.POLLIN)
        if os.getppid() == main:
            poll.poll()


def _sweep(worker: int) -> int:
    """Kill all descendants; returns how the worker ended, as `os.waitpid` does."""
    status = 0
    until = time.monotonic() + PATIENCE
    while (left := linux.children()) and time.monotonic() < until:
        for pid in left:
            linux.kill(pid)
            with contextlib.suppress(ChildProcessError):
                done, how = os.waitpid(pid, os.WNOHANG)
                status = how if done == worker else status
        time.sleep(0.0005)
    return status


def main(fd: str, parent: str) -> None:
    """The life of a guard."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    linux.die_with_parent(
        int(parent), signal.SIGCONT
    )  # which also takes back a stop that is under way
    linux.adopt_orphans()
    linux.disable_core_dumps()
    scratch = _scratch()
    worker = _start(fd, parent)
    os.close(int(fd))  # the worker's end alone tells the main process whether it is there
    with contextlib.suppress(_EndError):
        _watch(worker, int(parent))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    status = os.waitstatus_to_exitcode(_sweep(worker))
    if scratch:
        _remove(scratch)
    if status < 0:  # end in the same way
        with contextlib.suppress(OSError):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
