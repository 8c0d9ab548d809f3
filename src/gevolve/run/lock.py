"""The right to write a run: one process at a time."""

import errno
import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from gevolve.errors import StoreError
from gevolve.run.trouble import explained

_FLOCK = "hhqqi4x"
"""Linux's struct flock: type, whence, start, length, process."""


class Lock:
    """The right to write in a folder, held by one process until it ends, however it ends.

    A record lock, because a forked child does not inherit it: when a run is killed, its workers,
    which may outlive it for a moment, do not keep it from being resumed at once.
    """

    _held: ClassVar[set[Path]] = set()  # a record lock lets its own process lock again

    def __init__(self, file: Path) -> None:
        self._path = file.resolve()
        self._owner = os.getpid()
        if self._path in self._held:
            raise self._taken(str(os.getpid()))
        with explained(file):
            self._handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                owner = os.read(self._handle, 20).decode(errors="replace").strip()
                os.close(self._handle)
                if error.errno in {errno.EACCES, errno.EAGAIN}:
                    raise self._taken(owner) from None
                raise
        self._held.add(self._path)
        with suppress(OSError):  # only for the message above
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"{self._owner}\n".encode(), 0)

    def _taken(self, owner: str) -> StoreError:
        return StoreError(
            f"{self._path.parent}: process {owner or 'unknown'} is writing this run; "
            "wait until it ends, or stop it"
        )

    @classmethod
    def held(cls, file: Path) -> bool:
        """Whether some process has the right to write now; asks, and takes nothing."""
        if file.resolve() in cls._held:  # to open and close the file would give the right away
            return True
        try:
            handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            question = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
            answer = fcntl.fcntl(handle, fcntl.F_GETLK, question)
            return struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK
        except OSError:  # a file system without locks
            return False
        finally:
            os.close(handle)

    def follow(self, folder: Path) -> None:
        """Know that the folder has moved; the lock itself is on the file, wherever that is."""
        self._held.discard(self._path)
        self._path = (folder / self._path.name).resolve()
        self._held.add(self._path)

    def release(self) -> None:
        if self._path in self._held and os.getpid() == self._owner:
            self._held.discard(self._path)
            os.close(self._handle)
