"""Packages of other authors, installed into a folder as pip would install them."""

import os
import subprocess
import sys
from pathlib import Path


def install(folder: Path, name: str, code: str, entries: dict[str, dict[str, str]]) -> None:
    """A package of one module; `entries` is what each entry-point group of it names."""
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, named in entries.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in named.items()), "")
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


def python(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder, with what is installed there."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )
