"""A SQLite file that survives: one writer, durable writes, every row with a checksum.

Here is all that touches SQLite; what the tables mean is the business of `store`.
"""

import ctypes
import os
import sqlite3
import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from gevolve.errors import StoreError
from gevolve.run.lock import Lock
from gevolve.run.trouble import damaged, explained

APPLICATION = 0x67764C56  # "gvLV": gevolve, in the file's header
_FORMER = 0x6765766F  # "gevo"
"""What the file's header had while gevolve was called gevo."""
VERSION = 2
BUSY_SECONDS = 30

Schema = Mapping[str, Sequence[str]]
"""Tables by name, each with its columns; every one has `body` and `sum` besides."""

T = TypeVar("T")


def statement(table: str, columns: Sequence[str]) -> str:
    """The SQL that makes a table."""
    return f"CREATE TABLE {table} ({', '.join([*columns, 'body TEXT', 'sum INTEGER'])})"


def encode(value: object) -> str:
    """JSON text of anything that JSON can hold, msgspec structs and dataclasses included."""
    return msgspec.json.encode(value).decode()


def checksum(*parts: object) -> int:
    """Differs if any part was damaged: CRC-32 finds every burst of up to four bytes."""
    return zlib.crc32("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"))


class Database:
    """An open file. All reads are checked, all writes are on the disk when they return."""

    def __init__(self, file: Path, connection: sqlite3.Connection, lock: Lock | None) -> None:
        self.file = file
        self._connection = connection
        self._lock = lock
        self._place = _Place(file) if lock else None

    @classmethod
    def create(
        cls, file: Path, schema: Schema, rows: Mapping[str, Iterable[Sequence[Any]]]
    ) -> None:
        """Make a file with these first rows. It gets its name only when it is complete."""
        part = file.with_name(f"{file.name}.part")
        journal = file.with_name(f"{file.name}.part-journal")
        with explained(file):
            try:
                part.unlink(missing_ok=True)
                journal.unlink(missing_ok=True)  # else SQLite would play it back into the new file
                part.touch(mode=0o600)  # and so is what SQLite keeps beside it
                connection = sqlite3.connect(part, isolation_level=None)
                try:
                    connection.execute(f"PRAGMA application_id = {APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {VERSION}")
                    connection.execute("PRAGMA synchronous = FULL")
                    connection.execute("BEGIN IMMEDIATE")
                    for table, columns in schema.items():
                        connection.execute(statement(table, columns))
                    database = cls(file, connection, None)
                    for table, values in rows.items():
                        for row in values:
                            database.put(table, *row)
                    connection.execute("COMMIT")
                finally:
                    connection.close()
                part.rename(file)
                _sync(file.parent)
            finally:
                with suppress(OSError):
                    part.unlink(missing_ok=True)
                    journal.unlink(missing_ok=True)

    @classmethod
    def open(cls, file: Path, schema: Schema, lock: Lock | None) -> Self:
        """Open a file and check all of it; without a lock, for reading only."""
        with explained(file):
            connection = _connect(file)
            try:
                database = cls(file, connection, lock)
                database._check(schema)
                if lock is None:
                    connection.execute("PRAGMA query_only = ON")
                else:
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = FULL")
            except BaseException:
                connection.close()
                raise
            return database

    @property
    def readonly(self) -> bool:
        return self._lock is None

    def close(self) -> None:
        """Let go of the file. A writer leaves it in a form that read-only media can serve."""
        with suppress(sqlite3.Error):
            if self._place is not None and self._place.find(self.file) == self.file:
                # Readers may still be at it: then the file stays in WAL mode, which is fine.
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._disconnect()
        if self._lock is not None:
            self._lock.release()
        if self._place is not None:
            self._place.close()
            self._place = None

    def _disconnect(self) -> None:
        """Close the connection, unless that would harm another run.

        SQLite removes its log by the path that it had, where another run may have its own by now.
        """
        if self._place is not None and self._place.is_taken(self.file):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))  # so it is never closed
            return
        with suppress(sqlite3.Error):
            self._connection.close()

    def _follow(self) -> None:
        """Go after the folder if it was moved; raises `StoreError` if it is gone or another."""
        assert self._lock is not None
        assert self._place is not None
        found = self._place.find(self.file)
        if found == self.file:
            return
        if found is None:
            raise StoreError(
                f"{self.file.parent}: the run's folder was deleted or replaced while it went on, so"
                " nothing can be kept; start a new run"
            )
        # SQLite names its log by the path that the file was opened with.
        self._disconnect()
        self._connection = _connect(found)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._lock.follow(found.parent)
        self.file = found

    def _check(self, schema: Schema) -> None:
        """Read everything once, so that damage is found now and not in the middle of a run."""
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if application == _FORMER:
            raise StoreError(
                f"{self.file}: made by gevo, the former name of gevolve, whose runs it cannot read; "
                "start a new run"
            )
        if application != APPLICATION:
            raise StoreError(
                f"{self.file}: not the file of a gevolve run, or damaged; restore a copy"
            )
        if version != VERSION:
            age = "a newer" if version > VERSION else "an older"
            raise StoreError(
                f"{self.file}: written by {age} gevolve (format {version}, this one reads {VERSION}); "
                "use that version"
            )
        found = self._connection.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL")
        if sorted(sql for (sql,) in found) != sorted(statement(*item) for item in schema.items()):
            raise damaged(self.file, "its tables are not those of a run")
        (report,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if report != "ok":
            raise damaged(self.file, " ".join(str(report).split()))
        for table in schema:
            for *key, body, total in self._connection.execute(f"SELECT * FROM {table}"):  # noqa: S608  (a name of the schema)
                self._verify(key, body, total)

    def _verify(self, key: Sequence[object], body: object, total: object) -> None:
        if total != checksum(*key, body):
            raise damaged(self.file, f"the checksum of row {key[0]} is wrong")

    @contextmanager
    def transaction(self) -> Generator[None]:
        """All writes within happen together, or none does."""
        if self._lock is None:
            raise StoreError(f"{self.file}: opened for reading only; open it for writing")
        with explained(self.file):
            self._follow()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def put(self, table: str, *row: object) -> None:
        """Insert a row (key columns, then body), or replace the one with its key."""
        marks = ", ".join("?" * (len(row) + 1))
        self._connection.execute(
            f"INSERT OR REPLACE INTO {table} VALUES ({marks})",  # noqa: S608  (a name of the schema)
            (*row, checksum(*row)),
        )

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """The rows that a query finds, checked and without their sums; it must select ``*``."""
        with explained(self.file):
            found = self._connection.execute(query, parameters).fetchall()
        for *key, body, total in found:
            self._verify(key, body, total)
        return [row[:-1] for row in found]

    def scalar(self, query: str, *parameters: object) -> Any:
        """The first column of the first row that a query finds; None if there is none."""
        with explained(self.file):
            row = self._connection.execute(query, parameters).fetchone()
        return None if row is None else row[0]

    def decode(self, body: str, kind: type[T]) -> T:
        """The typed value of a body."""
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            raise damaged(self.file, f"{error}") from None


def _connect(file: Path) -> sqlite3.Connection:
    # A reader asks for write access too, if it can be had: what a killed writer left in the log must
    # be put in order before it can be read.
    connection = sqlite3.connect(
        f"{file.resolve().as_uri()}?mode=rw",
        uri=True,
        isolation_level=None,
        timeout=BUSY_SECONDS,
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


class _Place:
    """Which file a path meant when it was opened, wherever its folder has gone since."""

    def __init__(self, file: Path) -> None:
        self._file = _identity(file)
        self._folder = os.open(file.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def find(self, file: Path) -> Path | None:
        """Where the file is now; None if it is no longer in its folder."""
        if _identity(file) == self._file:
            return file
        moved = Path(f"/proc/self/fd/{self._folder}").readlink()
        near = Path(os.path.relpath(moved))
        found = (moved if near.parts[:1] == ("..",) else near) / file.name
        return found if _identity(found) == self._file else None

    def is_taken(self, file: Path) -> bool:
        """Whether its former folder is gone, and another one in its place."""
        now = _identity(file.parent)
        return now is not None and now != _identity(Path(f"/proc/self/fd/{self._folder}"))

    def close(self) -> None:
        os.close(self._folder)


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _sync(folder: Path) -> None:
    """Make a change of names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
