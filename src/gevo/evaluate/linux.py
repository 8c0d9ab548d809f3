"""The few things of Linux that Python's standard library does not offer."""

import ctypes
import os
import signal
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_LIBC = ctypes.CDLL(None, use_errno=True)  # loaded before any fork


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


def die_with_parent(parent: int, how: signal.Signals) -> None:
    """Ask the kernel to signal this process when its parent ends; exits if it already has."""
    _prctl(_PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os._exit(1)


def dump_no_core() -> None:
    """Leave no core file when this process crashes, whatever the machine does with cores."""
    _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Make this process the parent of all its descendants whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children() -> list[int]:
    """The processes whose parent is this (single-threaded) process."""
    pid = os.getpid()
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def session(leader: int) -> list[int]:
    """All processes of a session, by a look through /proc; the leader itself may be gone."""
    found: list[int] = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            # pid (name) state ppid pgrp session …; the name may hold spaces and brackets.
            fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended while we looked
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(entry.name))
    return found


def address_space(pid: int, field: str = "VmSize") -> int:
    """Bytes of address space that a process has now (`VmSize`) or had at most (`VmPeak`)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) << 10
    return 0
