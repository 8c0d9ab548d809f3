"""Makes all cases of a workload before a search begins, so that what is wrong with them is found then."""

import hashlib
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from gevolve.errors import GevolveError, WorkloadError, one_line
from gevolve.workload.base import Case, Split, Workload
from gevolve.workload.locate import line_of


def make_cases(workload: Workload, split: Split, draw: int = 0) -> list[Case]:
    """The cases of a split; raises `WorkloadError`, which says where, if they cannot be made."""
    try:
        cases = workload.cases(split, draw)
    except GevolveError:
        raise
    except Exception as error:
        file = Path(sys.modules[type(workload).__module__].__file__ or "")
        raise WorkloadError(
            f"{file.name}:{line_of(error, file)}: cannot make the {split} cases: {one_line(error)}"
        ) from error
    if not cases:
        raise WorkloadError(f"{workload.name} has no {split} case; ask for at least one")
    return cases


def examine(workload: Workload) -> None:
    """Make the cases of every split twice; they must come out the same."""
    for split in workload.splits:
        with redirect_stdout(sys.stderr):  # what the user's code prints is no result
            first, second = (_digest(make_cases(workload, split)) for _ in range(2))
        if first != second:
            raise WorkloadError(
                f"{workload.name}: the {split} cases differ each time they are made; draw all that"
                " is random in case() from `rng`, and change nothing that outlives the call"
            )


def _digest(cases: list[Case]) -> str:
    digest = hashlib.sha256()
    for case in cases:
        _feed(digest, case.inputs)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    """Add a value to a hash: numbers, texts, arrays, and trees of them; of others, the type."""
    kind: type[Any] = value.__class__
    digest.update(f"{kind.__name__};".encode())
    if issubclass(kind, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes() if value.dtype != object else b"")
    elif issubclass(kind, Mapping):
        for key, inner in value.items():
            digest.update(f"{key!r}:".encode())
            _feed(digest, inner)
    elif issubclass(kind, list | tuple):
        for inner in value:
            _feed(digest, inner)
    elif issubclass(kind, bool | int | float | complex | str | bytes | np.generic):
        digest.update(repr(value).encode())
