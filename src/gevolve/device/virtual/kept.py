"""Times of launches in a file of the user's cache: what one process has timed no other has to.

Workers of a run share it, and a run that is resumed finds what it had. Whatever a time depends on is part of the
file's name (the GPU, and the simulator itself) or of the launch.
"""

import fcntl
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec

from gevolve.device.sim.host import cache_folder
from gevolve.device.sim.timing import Gpu, Timing

_MOST = 256 << 20
"""Bytes of the file; when it has grown to that, it is begun anew."""
_SOURCES = (".py", ".c", ".h", ".json", ".toml")
_Line = tuple[str, Timing]


class KeptTimes:
    """Times by a digest of the launch."""

    def __init__(self, table: Gpu, folder: Path | None = None) -> None:
        about = hashlib.sha256(_simulator() + repr(table).encode()).hexdigest()[:24]
        self._path = (folder or cache_folder()) / f"launches-{about}.jsonl"
        self._known: dict[str, Timing] = {}
        self._read = 0
        """Bytes of the file that are known."""

    def get(self, launch: object) -> Timing | None:
        """The time of a launch, if anybody has found it."""
        key = _key(launch)
        if key not in self._known:
            self._catch_up()
        return self._known.get(key)

    def put(self, launch: object, timing: Timing) -> None:
        """Take note of a time. Where there is no place for it, it is known to this process."""
        key = _key(launch)
        self._known[key] = timing
        line = msgspec.json.encode((key, timing)) + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if file.tell() > _MOST:
                    file.truncate(0)
                file.write(line)
        except OSError:
            return

    def _catch_up(self) -> None:
        """Read what others have added."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, 2)
                if size == self._read:
                    return
                self._read = file.seek(self._read if size > self._read else 0)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # somebody is writing it
                    self._read += len(line)
                    self._take(line)
        except OSError:
            return

    def _take(self, line: bytes) -> None:
        try:
            key, timing = msgspec.json.decode(line, type=_Line)
        except msgspec.MsgspecError:  # a disk was full, or somebody has edited it
            return
        self._known[key] = timing


def _key(launch: object) -> str:
    return hashlib.sha256(repr(launch).encode()).hexdigest()


@cache
def _simulator() -> bytes:
    """A digest of all code that a time may depend on."""
    digest = hashlib.sha256()
    for package in ("gevolve.device.sim", "gevolve.device.virtual"):
        for file in sorted(_files(resources.files(package)), key=str):
            digest.update(file.read_bytes())
    return digest.digest()


def _files(folder: Any) -> Iterator[Traversable]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _files(one)
        elif one.name.endswith(_SOURCES):
            yield one
