"""Linux system calls and /proc files that Python's standard library does not offer.

Imports nothing of gevolve: the guard of a worker, which is to stay small, uses it too.
"""

import contextlib
import ctypes
import errno
import os
import signal
import time
from collections.abc import Collection
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_PAGE = os.sysconf("SC_PAGESIZE")
_LIBC = ctypes.CDLL(None, use_errno=True)  # loaded before any fork
lasting: set[int] = set()
"""Processes that serve this one for as long as it lives: no strays."""


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


def die_with_parent(parent: int, how: signal.Signals) -> None:
    """Ask the kernel to signal this process when its parent ends; exits if that has ended already."""
    _prctl(_PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os._exit(1)


def disable_core_dumps() -> None:
    """Write no core file when this process or a fork of it crashes."""
    _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Make this process the parent of all its descendants whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def keep_freed_memory(most: int, largest: int) -> None:
    """Let this process and its forks keep up to `most` bytes that were freed, in pieces up to `largest`.

    A compiler that takes and frees the same pages for every module waits for the kernel to clear them each time.
    """
    if hasattr(_LIBC, "mallopt"):  # the C library of some systems has no such options
        _LIBC.mallopt(_TRIM_THRESHOLD, most)
        _LIBC.mallopt(_MMAP_THRESHOLD, largest)


def children(pid: int = 0) -> list[int]:
    """The processes whose parent is a (single-threaded) process, by default this one."""
    pid = pid or os.getpid()
    with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:  # noqa: PTH123  (after each variant)
        return [int(word) for word in file.read().split()]


def session(leader: int) -> list[int]:
    """All processes of a session, found in /proc; the leader itself may have ended."""
    found: list[int] = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            # pid (name) state ppid pgrp session …; the name may hold spaces and brackets.
            fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended in the meantime
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(entry.name))
    return found


def is_stopped(pid: int) -> bool:
    """Whether a signal such as SIGSTOP keeps a process from going on."""
    try:
        # pid (name) state …; the name may hold spaces and brackets.
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  (several times a second)
            return file.read().rpartition(b")")[2].split()[0] == b"T"
    except (OSError, IndexError):  # it has ended
        return False


def wake(pid: int) -> bool:
    """Let a stopped process go on; says whether it was stopped."""
    if not is_stopped(pid):
        return False
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGCONT)
    return True


def kill(pid: int) -> None:
    """Kill a process that has not been reaped, and its process group if it leads one."""
    try:
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_descendants(seconds: float, spare: Collection[int] = ()) -> None:
    """Kill all descendants of this process but some, and reap those that die within `seconds`."""
    until = time.monotonic() + seconds
    while left := [pid for pid in children() if pid not in spare]:
        for pid in left:
            kill(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() >= until:
            break
        time.sleep(0.0005)


def address_space() -> int:
    """The size of this process's address space in bytes."""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  (before each variant)
        return int(file.read().split()[0]) * _PAGE


def peak_address_space(pid: int) -> int:
    """The largest size of a process's address space so far, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmPeak:"):
            return int(line.split()[1]) << 10
    raise ProcessLookupError(errno.ESRCH, f"process {pid} has ended")
