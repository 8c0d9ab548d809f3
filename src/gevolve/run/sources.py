"""The user's source files as they were when the run began: what is shown later, wherever it is shown."""

import hashlib
import inspect
import re
from pathlib import Path

import msgspec

from gevolve.workload.base import Workload
from gevolve.workload.kernel import KernelWorkload

NAME = "sources"
"""The name of the value in a store."""
LARGEST = 1 << 20
_MENTIONED = re.compile(r'!DIFile\(filename: "([^"\\]+)"|^// ([^\s:]+):\d+ = ', re.MULTILINE)
_ENDINGS = {".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", ".inl", ".ll", ".mlir", ".py"}


class SourceFile(msgspec.Struct, frozen=True):
    """One file, and its hash."""

    sha256: str
    text: str


def record(workload: Workload, program: str) -> dict[str, SourceFile]:
    """The files that a program's text says it was made of, by name; only those beside the workload."""
    folders = [Path(inspect.getfile(type(workload))).parent]
    if isinstance(workload, KernelWorkload) and workload.source:
        folders.insert(0, workload.path().parent)
    found: dict[str, SourceFile] = {}
    for names in _MENTIONED.findall(program):
        mentioned = Path(names[0] or names[1])
        if mentioned.name in found or mentioned.suffix not in _ENDINGS:
            continue
        for folder in folders:
            text = _read(folder, mentioned)
            if text is not None:
                digest = hashlib.sha256(text.encode()).hexdigest()
                found[mentioned.name] = SourceFile(digest, text)
                break
    return found


def _read(folder: Path, name: Path) -> str | None:
    """The text of a file in a folder; None if it is not there, or leads out of it."""
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve())
        if not inside or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
