"""Sources as clang sees them, with changes that are in no file: host code that does not compile left out.

A whole program has host code beside its kernels: calls of libraries, fields of structures, headers of the
toolkit. Of all that gevolve needs nothing, so what stands in the way of the kernels is blanked out, and
a header of the toolkit that then is missing is empty. Line numbers stay as they are.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gevolve.ir.llvm.hostcode import without_host
from gevolve.system import tools

_ERROR = re.compile(r"^(.+?):\d+:\d+: (?:fatal )?error: (.*)$", re.MULTILINE)
_MISSING = re.compile(r"'([^']+)' file not found")
_MOST = 16
"""Files that are changed at most."""


def without_host_code(
    path: Path,
    errors: str,
    compile_with: Callable[[Sequence[str]], tools.Done],
    toolkit: Callable[[str], bool],
    ours: Iterable[Path],
) -> tuple[tools.Done, list[str]] | None:
    """The device side of a source, and the names of what was changed; None if that does not help.

    `errors` is what clang said of the source as it is. `compile_with` compiles it with more options. Files in
    the folders `ours` are not the user's, and stay as they are.
    """
    folders = tuple(map(str, ours))
    with tempfile.TemporaryDirectory(prefix="gevolve-") as place:
        made = Path(place)
        (made / "include").mkdir()
        changed: dict[Path, Path] = {}
        empty: list[str] = []
        for number in range(_MOST):
            found = _ERROR.search(errors)
            if found is None:
                return None
            missing = _MISSING.match(found[2])
            file = (path.parent / found[1]).absolute()
            if missing and missing[1] not in empty and _optional(missing[1], errors, toolkit):
                header = made / "include" / missing[1]
                if made / "include" not in header.resolve().parents:
                    return None
                header.parent.mkdir(parents=True, exist_ok=True)
                header.touch()
                empty.append(missing[1])
                file = path  # nothing of it can be meant for the kernels
            elif file in changed or str(file).startswith(folders) or not file.is_file():
                return None
            if file not in changed:
                copy = made / f"{number}.cu"
                copy.write_text(without_host(file.read_text(errors="replace")))
                changed[file] = copy
            (made / "overlay.yaml").write_text(_overlay(changed))
            more = ("-ivfsoverlay", str(made / "overlay.yaml"), "-isystem", str(made / "include"))
            done = compile_with(more)
            if done.status == 0:
                return done, [*(file.name for file in changed), *empty]
            errors = done.errors
    return None


def _optional(header: str, errors: str, toolkit: Callable[[str], bool]) -> bool:
    """Whether only host code may need a header: one of the toolkit, or of some library of the system."""
    return toolkit(header) or f"<{header}>" in errors


def _overlay(changed: dict[Path, Path]) -> str:
    """A list of files that clang is to read in place of others."""
    roots = [
        {"name": str(file), "type": "file", "external-contents": str(copy)}
        for file, copy in changed.items()
    ]
    return json.dumps({"version": 0, "use-external-names": False, "roots": roots})
