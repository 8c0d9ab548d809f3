"""What goes wrong with a run's files, in one line that says what to do: the errors of SQLite and of the operating system."""

import errno
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gevolve.errors import StoreError


def damaged(file: Path, detail: str) -> StoreError:
    return StoreError(f"{file}: the file is damaged ({detail}); restore a copy, or start a new run")


@contextmanager
def explained(file: Path) -> Generator[None]:
    """Turn the errors of SQLite and of the operating system into one line that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the kind of error; the rest tells where in SQLite it arose.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise _explain(file, code, str(error)) from error
    except OSError as error:
        code = {
            errno.ENOSPC: sqlite3.SQLITE_FULL,
            errno.EDQUOT: sqlite3.SQLITE_FULL,
            errno.EACCES: sqlite3.SQLITE_READONLY,
            errno.EPERM: sqlite3.SQLITE_READONLY,
            errno.EROFS: sqlite3.SQLITE_READONLY,
        }.get(error.errno or 0, sqlite3.SQLITE_IOERR)
        raise _explain(file, code, error.strerror or str(error)) from error
    except (MemoryError, OverflowError, UnicodeError) as error:  # absurd lengths in a damaged file
        raise damaged(file, type(error).__name__) from error


def _explain(file: Path, code: int, detail: str) -> StoreError:
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(file.parent)):
        return StoreError(
            f"{file}: the disk is full; free some space, then `gevolve resume {file.parent}`"
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return StoreError(
            f"{file}: cannot be written ({detail}); make the folder writable, or choose another"
        )
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreError(f"{file}: another process keeps it locked; wait until it ends")
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(f"{file}: cannot be read or written ({detail}); check the disk")
    return damaged(file, detail)


def _is_full(folder: Path) -> bool:
    """Whether no more than a few pages fit; SQLite does not always say so itself."""
    try:
        return shutil.disk_usage(folder).free < 1 << 16
    except OSError:
        return False
