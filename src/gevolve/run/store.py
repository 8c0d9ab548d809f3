"""The run's SQLite file: config, program, every evaluation, every generation.

Variants that the search asked for have ids from 0 on; those that an analysis made afterwards, such as
a minimal patch, are kept apart and have negative ones, so that a search can go on as if they were not.

A run is a folder with one file, ``run.sqlite`` (SQLite keeps a log beside it while it is written).
One process at a time may write it; any number may read it meanwhile, and none waits for another.
What a method has written is on the disk when it returns, and everything is JSON with a checksum.

    with Store.create(folder, config, program.digest, program.text) as store:
        ids = store.reserve(search.ask(), search.generation)
        store.add([(patch, evaluation, search.generation)])
        store.save_generation(search.generation, search.state(), front_ids)
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar

import msgspec

from gevolve.errors import PatchError, StoreError
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.run.database import Database, encode
from gevolve.run.lock import Lock
from gevolve.run.trouble import damaged, explained

FILE = "run.sqlite"
LOCK = "run.lock"
UNEDITED = 0
"""The id of the unedited program."""
AFTERWARDS = -2
"""What stands for the generation of a variant that an analysis made."""
PAGE = 1000

_SCHEMA = {
    "value": ("name TEXT PRIMARY KEY NOT NULL",),
    "variant": ("id INTEGER PRIMARY KEY", "patch TEXT UNIQUE NOT NULL", "generation INTEGER"),
    "analysis": ("id INTEGER PRIMARY KEY", "patch TEXT UNIQUE NOT NULL"),
    "generation": ("number INTEGER PRIMARY KEY",),
    "validation": ("key TEXT PRIMARY KEY NOT NULL",),
}
_ASKED = "null"
"""The body of a variant that has an id but no verdict yet."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredVariant:
    """One judged variant of a run."""

    id: int
    patch: Patch
    generation: int
    """In which generation the search asked for it; -1 for the unedited program."""
    evaluation: Evaluation


class Generation(msgspec.Struct, frozen=True):
    """The search after `number` generations: its state, and the ids of its front."""

    number: int
    state: dict[str, Any]
    front: tuple[int, ...] = ()


class _Program(msgspec.Struct, frozen=True):
    digest: str
    text: str


def format_id(number: int) -> str:
    """How people see the id of a variant: ``v17``, or ``m3`` if an analysis made it."""
    return f"v{number}" if number >= 0 else f"m{-number}"


def parse_id(text: str) -> int:
    """The number of an id such as ``v17`` or ``m3``."""
    match = re.fullmatch(r"(v?|m(?!0))([0-9]{1,15})", text.strip())
    if match is None:
        raise StoreError(f"not the id of a variant: {text!r}; `gevolve show` lists ids such as v17")
    return -int(match[2]) if match[1] == "m" else int(match[2])


def _refuse_existing(folder: Path) -> None:
    if (folder / FILE).exists():
        raise StoreError(
            f"{folder}: already holds a run; go on with `gevolve resume {folder}`, "
            "or choose another folder"
        )


def _remove(folder: Path, made: Sequence[Path]) -> None:
    """Remove the files of a run, and the folders that were made for it if nothing else is there."""
    with suppress(OSError):
        for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", LOCK):
            (folder / name).unlink(missing_ok=True)
        for path in reversed(made):
            path.rmdir()


class Store:
    """An open run: use `create` or `open`, and a ``with`` statement or `close`."""

    def __init__(self, database: Database, made: Sequence[Path] = ()) -> None:
        self._database = database
        self._made = made
        """Folders that were made for it, outermost first."""

    @classmethod
    def create(
        cls,
        folder: Path,
        config: Mapping[str, Any],
        program_digest: str,
        program_text: str,
        kept: Mapping[str, Any] = MappingProxyType({}),
    ) -> Self:
        """Start a run in this folder, which is made if need be; only its owner can read it.

        It is there with all values that are to be `kept`, or not at all.
        """
        made = [path for path in (folder, *folder.parents)[::-1] if not path.exists()]
        with explained(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(folder.iterdir()):
                folder.chmod(0o700)
        lock = Lock(folder / LOCK)
        try:
            _refuse_existing(folder)
            values = {
                "config": encode(dict(config)),
                "program": encode(_Program(program_digest, program_text)),
                **{name: encode(value) for name, value in kept.items()},
            }
            Database.create(folder / FILE, _SCHEMA, {"value": list(values.items())})
            return cls(Database.open(folder / FILE, _SCHEMA, lock), made)
        except BaseException:
            lock.release()
            if made:
                _remove(folder, made)
            raise

    @classmethod
    def open(cls, folder: Path, *, readonly: bool = False) -> Self:
        """Open the run in this folder."""
        if not folder.is_dir():
            raise StoreError(f"{folder}: no such folder; give the folder of a run")
        if not (folder / FILE).is_file():
            raise StoreError(f"{folder}: not a run (it holds no {FILE}); give the folder of a run")
        lock = None if readonly else Lock(folder / LOCK)
        try:
            store = cls(Database.open(folder / FILE, _SCHEMA, lock))
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        try:
            store._check_ids()
        except BaseException:
            store.close()
            raise
        return store

    def _check_ids(self) -> None:
        """Ids have no gaps, so a row that got lost without a trace still leaves one."""
        for table in ("variant", "analysis"):
            whole = (
                f"SELECT count(*) = coalesce(max(id), 0) + coalesce(min(id) = 0, 0) FROM {table}"  # noqa: S608  (a name of the schema)
            )
            if not self._database.scalar(whole):
                raise damaged(self._database.file, "variants are missing")

    def close(self) -> None:
        self._database.close()

    def discard(self) -> None:
        """Close a run and remove it, with the folders that were made for it if nothing else is there."""
        folder = self.folder
        self.close()
        _remove(folder, self._made)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        """Where it is; a folder that is moved while it is written is followed."""
        return self._database.file.parent

    @property
    def readonly(self) -> bool:
        return self._database.readonly

    @property
    def locked(self) -> bool:
        """Whether some process has the run open for writing."""
        return Lock.held(self.folder / LOCK)

    @property
    def config(self) -> dict[str, Any]:
        """What the run was started with."""
        return self.get("config", dict[str, Any])

    @property
    def program_digest(self) -> str:
        return self.get("program", _Program).digest

    @property
    def program_text(self) -> str:
        return self.get("program", _Program).text

    def check_program(self, digest: str) -> None:
        """Refuse to go on with a program other than the one that the run was started with."""
        if digest != self.program_digest:
            raise StoreError(
                f"{self.folder}: this run is of another program, or its source has changed; "
                "restore that source, or start a new run in another folder"
            )

    def get(self, name: str, kind: type[T], default: T | None = None) -> T:
        """A named value, such as the baseline or the status."""
        rows = self._database.rows("SELECT * FROM value WHERE name = ?", name)
        if rows:
            return self._database.decode(rows[0][-1], kind)
        if default is None:
            raise StoreError(f"{self.folder}: the run has no {name}; it was stopped too early")
        return default

    def set(self, name: str, value: object) -> None:
        """Keep a named value: anything that JSON can hold, msgspec structs included."""
        with self._database.transaction():
            self._database.put("value", name, encode(value))

    def reserve(self, patches: Iterable[Patch], generation: int) -> list[int]:
        """Give each patch its id before it is judged; one that has an id keeps it.

        Ids then follow the order in which the search asked, not that in which verdicts arrive, so
        that the same seed gives the same ids with any number of workers.
        """
        with self._database.transaction():
            return [self._reserve(patch, generation)[0] for patch in patches]

    def add(self, judged: Iterable[tuple[Patch, Evaluation, int]]) -> list[int]:
        """Keep evaluations, each with its generation; the first one of a patch stays."""
        ids: list[int] = []
        with self._database.transaction():
            for patch, evaluation, generation in judged:
                number, asked, body = self._reserve(patch, generation)
                if body == _ASKED:
                    self._database.put("variant", number, str(patch), asked, encode(evaluation))
                ids.append(number)
        return ids

    def _reserve(self, patch: Patch, generation: int) -> tuple[int, int, str]:
        """The id, generation and body of a patch, which gets a new row if it has none."""
        rows = self._database.rows("SELECT * FROM variant WHERE patch = ?", str(patch))
        if rows:
            number, _, asked, body = rows[0]
            return number, asked, body
        last = self._database.scalar("SELECT max(id) FROM variant") or UNEDITED
        number = last + 1 if patch.edits else UNEDITED
        self._database.put("variant", number, str(patch), generation, _ASKED)
        return number, generation, _ASKED

    def reserve_analysis(self, patches: Iterable[Patch]) -> list[int]:
        """Give each patch an id for an analysis, in this order; one that has an id keeps it.

        The id of a variant that the search judged is that variant's.
        """
        with self._database.transaction():
            return [self._reserve_analysis(patch) for patch in patches]

    def _reserve_analysis(self, patch: Patch) -> int:
        row = self.find(patch)
        if row is not None:
            return row.id
        asked = self._database.scalar("SELECT id FROM analysis WHERE patch = ?", str(patch))
        if asked is not None:
            return -int(asked)
        last = self._database.scalar("SELECT max(id) FROM analysis") or 0
        self._database.put("analysis", last + 1, str(patch), _ASKED)
        return -int(last + 1)

    def add_analysis(self, number: int, patch: Patch, evaluation: Evaluation) -> None:
        """Keep the evaluation of a patch that has such an id; the first one stays."""
        if self.find(patch) is None:
            with self._database.transaction():
                self._database.put("analysis", -number, str(patch), encode(evaluation))

    def evaluations(self, *, until: int | None = None, after: int = -1) -> Iterator[StoredVariant]:
        """All judged variants by id, or those of the generations before one, or after an id.

        ``evaluations(until=g.number)`` is what the search needs to go on from generation `g`.
        """
        last, bound = after, (1 << 62) if until is None else until
        while True:  # by pages: a reader that dawdles must not keep the log from being folded in
            rows = self._database.rows(
                "SELECT * FROM variant WHERE id > ? AND generation < ? ORDER BY id LIMIT ?",
                *(last, bound, PAGE),
            )
            for row in rows:
                if row[-1] != _ASKED:
                    yield self._row(row)
            if len(rows) < PAGE:
                return
            last = rows[-1][0]

    def variant(self, number: int) -> StoredVariant:
        """The judged variant with this id."""
        table = "variant" if number >= 0 else "analysis"
        rows = self._database.rows(f"SELECT * FROM {table} WHERE id = ?", abs(number))  # noqa: S608  (a name of the schema)
        if not rows or rows[0][-1] == _ASKED:
            raise StoreError(
                f"{self.folder}: no variant {format_id(number)}; "
                f"`gevolve show {self.folder}` lists those there are"
            )
        return self._row(rows[0])

    def find(self, patch: Patch) -> StoredVariant | None:
        """The variant with this patch, if it was judged, by the search or by an analysis."""
        for table in ("variant", "analysis"):
            rows = self._database.rows(f"SELECT * FROM {table} WHERE patch = ?", str(patch))  # noqa: S608  (a name of the schema)
            if rows and rows[0][-1] != _ASKED:
                return self._row(rows[0])
        return None

    def count(self, *, until: int | None = None) -> int:
        """How many variants were judged, the unedited program included; or those of the generations before one."""
        return self._database.scalar(
            "SELECT count(*) FROM variant WHERE body <> ? AND generation < ?",
            *(_ASKED, (1 << 62) if until is None else until),
        )

    def _row(self, row: Sequence[Any]) -> StoredVariant:
        number, text, *generation, body = row
        try:
            patch = Patch.parse(text)
        except PatchError as error:
            raise damaged(self._database.file, str(error)) from None
        evaluation = self._database.decode(body, Evaluation)
        if generation:
            return StoredVariant(number, patch, generation[0], evaluation)
        return StoredVariant(-number, patch, AFTERWARDS, evaluation)

    def add_validation(self, number: int, split: str, evaluation: Evaluation) -> None:
        """Keep what became of a variant on other cases; a later verdict replaces an earlier one.

        But a failure stays: that other inputs of the same split pass does not undo it.
        """
        earlier = self.validations(number).get(split)
        if earlier is not None and not earlier.ok and evaluation.ok:
            return
        with self._database.transaction():
            self._database.put("validation", f"{number} {split}", encode(evaluation))

    def validations(self, number: int) -> dict[str, Evaluation]:
        """The verdicts on a variant on other cases, by split."""
        rows = self._database.rows(
            "SELECT * FROM validation WHERE key GLOB ? ORDER BY key", f"{number} *"
        )
        return {
            key.partition(" ")[2]: self._database.decode(body, Evaluation) for key, body in rows
        }

    def all_validations(self) -> dict[int, dict[str, Evaluation]]:
        """The verdicts on all variants that were tried on other cases, by id and split."""
        found: dict[int, dict[str, Evaluation]] = {}
        for key, body in self._database.rows("SELECT * FROM validation ORDER BY key"):
            number, _, split = key.partition(" ")
            if not re.fullmatch(r"-?[0-9]{1,15}", number):
                raise damaged(self._database.file, f"a validation of variant {number!r}")
            found.setdefault(int(number), {})[split] = self._database.decode(body, Evaluation)
        return found

    def save_generation(
        self, number: int, state: Mapping[str, Any], front: Iterable[int] = ()
    ) -> None:
        """Keep the state of the search after so many generations."""
        generation = Generation(number, dict(state), tuple(front))
        with self._database.transaction():
            self._database.put("generation", number, encode(generation))

    def last_generation(self) -> Generation | None:
        """The latest generation that was saved."""
        rows = self._database.rows("SELECT * FROM generation ORDER BY number DESC LIMIT 1")
        return self._database.decode(rows[0][-1], Generation) if rows else None

    def generations(self) -> list[Generation]:
        """All generations that were saved, in order."""
        rows = self._database.rows("SELECT * FROM generation ORDER BY number")
        return [self._database.decode(body, Generation) for _, body in rows]
