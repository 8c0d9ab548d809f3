"""What was learnt of machine words that no shipped table has, kept on disk for other processes.

To ask NVIDIA's disassembler about an unseen instruction takes a second or two. What it says is kept in
the user's cache folder (``$XDG_CACHE_HOME/gevolve/words``), one file for each architecture and shipped
table. A file is a checksum and the text of a table: one that is damaged, of another version, or not to
be read or written is as good as none.
"""

import contextlib
import hashlib
import os
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gevolve.device.sim.host import cache_folder
from gevolve.device.sim.machine.disassembler import WHEEL
from gevolve.device.sim.machine.table import Table, dump, family, parse, shipped

LARGEST = 8 << 20
"""A longer file is none of ours."""
_MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


def recall(arch: str, into: Table) -> None:
    """Add to a table what other processes have learnt."""
    found = _read(_file(arch))
    for opcode, layout in found.layouts.items():
        if into.layouts.setdefault(opcode, layout) != layout:
            return  # shapes are found by the layout that they were learnt with
    for key, shape in found.shapes.items():
        into.shapes.setdefault(key, shape)
    for word, shape in found.exact.items():
        into.exact.setdefault(word, shape)


def keep(arch: str, table: Table) -> None:
    """Keep what a table has beyond the shipped one."""
    file, base = _file(arch), parse(shipped(arch))
    if any(table.layouts.get(opcode) != layout for opcode, layout in base.layouts.items()):
        return  # it did not begin with the shipped one
    more = Table(
        {k: v for k, v in table.layouts.items() if k not in base.layouts},
        {k: v for k, v in table.shapes.items() if k not in base.shapes},
        {k: v for k, v in table.exact.items() if k not in base.exact},
    )
    body = dump(more)
    with contextlib.suppress(OSError):  # no folder, no room, no leave: it is learnt again
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.stem)
        try:
            with os.fdopen(handle, "w") as out:
                out.write(f"{_checksum(body)}\n{body}")
            Path(name).replace(file)
        except OSError:
            Path(name).unlink()
            raise


def _read(file: Path) -> Table:
    try:
        if file.stat().st_size > LARGEST:
            return Table()
        checksum, _, body = file.read_text().partition("\n")
        return parse(body) if checksum == _checksum(body) else Table()
    except (OSError, *_MALFORMED):
        return Table()


def _file(arch: str) -> Path:
    try:
        tool = version(WHEEL)
    except PackageNotFoundError:
        tool = ""
    digest = _checksum(shipped(arch) + tool)[:16]
    return cache_folder() / "words" / f"{family(arch)}-{digest}.json"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
