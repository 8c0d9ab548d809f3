"""The folder of a workload's file, which goes to nodes that do not have it."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from gevolve.errors import WorkloadError

LARGEST = 32 << 20
"""Folders with more bytes than this are not sent."""
_MOST = 2000
"""Nor are folders with more files."""
_MARKS = ("pyvenv.cfg", "run.sqlite", "CACHEDIR.TAG")
"""A folder with such a file is an environment, a run or a cache, and no part of a workload."""


def pack(place: Path) -> dict[str, bytes]:
    """The files beside a workload's file, by relative name; only that file if they are too many."""
    files: dict[str, bytes] = {}
    size = 0
    for file in _files(place.parent):
        size += file.stat().st_size
        if size > LARGEST or len(files) == _MOST:
            return {place.name: place.read_bytes()}
        files[file.relative_to(place.parent).as_posix()] = file.read_bytes()
    return files


def unpack(files: Mapping[str, bytes], place: Path) -> Path:
    """Where the workload's file is on this node, with the same files beside it as on the first."""
    if all(_same(place.parent / name, content) for name, content in files.items()):
        return place  # the same machine, or a file system that both have
    home = Path(tempfile.gettempdir()) / f"gevolve-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    if home.is_symlink() or home.stat().st_uid != os.getuid():
        raise WorkloadError(f"{home} belongs to someone else; remove it, or set TMPDIR")
    folder = home / _digest(files)
    if not folder.exists():
        part = Path(tempfile.mkdtemp(dir=home))
        for name, content in files.items():
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        try:
            part.rename(folder)
        except OSError:  # another actor was faster
            shutil.rmtree(part)
    return folder / place.name


def _files(folder: Path) -> Iterator[Path]:
    """All files of a folder and below, without what is hidden or no part of a workload."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir() and not any((entry / mark).exists() for mark in _MARKS):
            yield from _files(entry)
        elif entry.is_file():
            yield entry


def _same(file: Path, content: bytes) -> bool:
    try:
        return file.stat().st_size == len(content) and file.read_bytes() == content
    except OSError:
        return False


def _digest(files: Mapping[str, bytes]) -> str:
    total = hashlib.sha256()
    for name in sorted(files):
        total.update(hashlib.sha256(name.encode()).digest())
        total.update(hashlib.sha256(files[name]).digest())
    return total.hexdigest()
