"""The code on the pages of the documentation, as files."""

import re
from pathlib import Path

from tests import ROOT

DOCS = ROOT / "docs"
_BLOCK = re.compile(r"^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"(?://|#) ([\w./-]+\.\w+)\n")


def blocks(page: Path) -> list[str]:
    """The code of a page, block by block."""
    return _BLOCK.findall(page.read_text())


def save_files(page: Path, folder: Path) -> None:
    """Write every block that begins with a comment such as ``# smooth.py`` to the file that it names."""
    for block in blocks(page):
        if named := _NAME.match(block):
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block[named.end() :])


def shrink(workload: Path) -> None:
    """Make the cases of a workload small: how it is used, not what it computes, is looked at then."""
    printed = workload.read_text()
    small = re.sub(r"\d+_\d{3}\b", lambda size: str(int(size[0]) // 20), printed)
    assert small != printed
    workload.write_text(small)
