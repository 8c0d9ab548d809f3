"""What a run found, in the words that every view of it uses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gevolve.analyze.findings import Interval


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One variant of the result."""

    id: str
    """Its name in the run, such as ``v17``; ``v0`` is the unedited program, ``m3`` a minimal patch."""
    time: float
    ratio: float
    """Its time over the unedited program's: below 1 is faster."""
    error: float
    exact: bool
    """Whether the error is no more than the unedited program's, or than rounding."""
    edits: int
    validated: bool
    """Whether it passed on all cases that the search never used, and was measured there."""
    interval: Interval | None = None
    """Its ratio there, and how sure that is; a gain is one only if all of it is below 1."""
    held_out: float | None = None
    """Its ratio on the held-out cases."""
    held_out_error: float | None = None
    large: float | None = None
    """Its ratio on the large case, on which only the best variants are tried."""
    patch: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One run's summary; `best` is None until a validated variant is faster than the baseline."""

    workload: str
    device: str
    seed: int
    evaluations: int
    seconds: float
    verdicts: dict[str, int]
    baseline: Mapping[str, float]
    best: Entry | None
    """The fastest validated variant within the tolerance."""
    best_exact: Entry | None
    """The fastest validated variant that is exact."""
    most_accurate: Entry | None = None
    """The variant with the least error that is no slower; None unless the unedited program has any."""
    front: list[Entry]
    """No other variant is both faster and more exact; fastest first."""
    generations: int
    tolerance: float
    status: str
    """``finished``, or ``stopped`` before its budget was used: `gevolve resume` goes on."""
    run: str
    """The run's folder."""

    @property
    def folder(self) -> Path:
        return Path(self.run)

    def json(self) -> str:
        """The summary as one JSON object."""
        return msgspec.json.encode(self.as_dict()).decode()

    def as_dict(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)
