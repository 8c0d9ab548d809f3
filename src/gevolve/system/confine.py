"""Takes from a process what a variant has no need of: the network, and files to write to.

Linux's own means, asked for directly: Landlock for files and signals, seccomp for sockets. What this
kernel does not offer is left out, and `enforced` tells so. A confined process stays so, as do all that
it starts; nothing that is open already is taken away.
"""

import ctypes
import errno
import glob
import os
import platform
import socket
import struct
import tempfile
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

OFF = "GEVOLVE_UNCONFINED"
"""Set this variable to any text, and children are not confined."""
SCRATCH = "GEVOLVE_SCRATCH"
"""Names the folder of a worker for temporary files, which ends with it; its children may write there."""
Sockets: TypeAlias = Literal["none", "local", "all"]
"""None; those by which a driver talks to its services on this machine; all."""
DRIVER = ("/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/shm", "/dev/zero", "/proc/self")  # noqa: S108
"""What the driver of a GPU writes to."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_NO_NEW_PRIVILEGES = 38
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on all machines
_FILE_WRITES = 1 << 1 | 1 << 14  # write, truncate
_FOLDER_WRITES = sum(1 << bit for bit in range(4, 14))  # remove, make, link
_TRUNCATE, _REFER = 1 << 14, 1 << 13
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets, signals
_SOCKET = {"x86_64": (0xC000003E, 41, 317), "aarch64": (0xC00000B7, 198, 277)}
"""By machine: its name in filters, the numbers of the system calls socket and seccomp."""
_IO_URING = 425
_X32 = 0x40000000
_LOCAL = (socket.AF_UNIX, socket.AF_NETLINK)
"""Sockets that stay on this machine, which drivers may use."""


def confine(writes: Sequence[str] = (), sockets: Sockets = "none") -> None:
    """Confine this process, as far as this kernel can; `writes` are the paths that stay writable."""
    if os.environ.get(OFF):
        return
    _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    places = ("/dev/null", *writes, os.environ.get(SCRATCH) or tempfile.gettempdir())
    _restrict_files(places, network=sockets == "all")
    if sockets != "all":
        _forbid_sockets(_LOCAL if sockets == "local" else ())


def enforced() -> list[str]:
    """What a confined process cannot do here, tried in one."""
    if os.environ.get(OFF):
        return []
    attempts: list[tuple[str, Callable[[], object]]] = [
        ("no network", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()),
        ("no file is written", lambda: os.close(os.open("/dev/zero", os.O_WRONLY))),
        ("no other process is signaled", lambda: os.kill(os.getppid(), 0)),
    ]
    return [what for what, attempt in attempts if _fails_confined(attempt)]


def _fails_confined(attempt: Callable[[], object]) -> bool:
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    try:
        os.environ[SCRATCH] = "/dev/null"
        confine()
        attempt()
        os._exit(0)
    except OSError as error:
        os._exit(1 if error.errno in {errno.EPERM, errno.EACCES} else 0)
    finally:
        os._exit(0)


def _restrict_files(writes: Sequence[str], *, network: bool) -> None:
    version = int(_LIBC.syscall(_CREATE, None, 0, 1))
    if version < 1:
        return
    files = _FILE_WRITES if version >= 3 else _FILE_WRITES & ~_TRUNCATE
    folders = _FOLDER_WRITES if version >= 2 else _FOLDER_WRITES & ~_REFER
    fields = [files | folders]
    fields += [0 if network else _TCP] if version >= 4 else []
    fields += [_SCOPES] if version >= 6 else []
    ruleset = struct.pack(f"{len(fields)}Q", *fields)
    rules = int(_LIBC.syscall(_CREATE, ruleset, len(ruleset), 0))
    if rules < 0:
        return
    for pattern in writes:
        for path in glob.glob(pattern):  # noqa: PTH207  (a path object would cost more than the rule)
            _allow(rules, path, files, folders)
    _LIBC.syscall(_RESTRICT, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, files: int, folders: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rights = files | (folders if os.path.isdir(path) else 0)  # noqa: PTH112
    _LIBC.syscall(_ADD, rules, 1, struct.pack("=Qi", rights, place), 0)
    os.close(place)


def _forbid_sockets(families: Sequence[int]) -> None:
    """Let every request for a socket fail, but for these families."""
    if platform.machine() not in _SOCKET:
        return
    machine, socket_, seccomp = _SOCKET[platform.machine()]
    load, equal, least, give = 0x20, 0x15, 0x35, 0x06  # of the language of packet filters
    refuse = 7 + len(families)
    allow = refuse + 1

    def jump(here: int, there: int) -> int:
        return there - here - 1

    code = [
        (load, 0, 0, 4),  # for which machine the number of the call is meant
        (equal, 0, jump(1, refuse), machine),
        (load, 0, 0, 0),  # the number
        *([(least, jump(3, refuse), 0, _X32)] if machine == 0xC000003E else [(load, 0, 0, 0)]),
        (equal, jump(4, refuse), 0, _IO_URING),
        (equal, 0, jump(5, allow), socket_),
        (load, 0, 0, 16),  # its first argument: the family
        *((equal, jump(n, allow), 0, int(family)) for n, family in enumerate(families, 7)),
        (give, 0, 0, 0x00050000 | errno.EPERM),
        (give, 0, 0, 0x7FFF0000),
    ]
    filters = b"".join(struct.pack("=HBBI", *line) for line in code)
    memory = ctypes.create_string_buffer(filters, len(filters))
    program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(memory))
    _LIBC.syscall(seccomp, 1, 1 << 2, program)  # without slowing the process down
