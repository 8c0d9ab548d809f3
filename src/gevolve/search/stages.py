"""The stages of an opening, in order, and all of it that a resumed search needs."""

from typing import Literal

import msgspec

Stage = Literal[
    "single", "better", "aided", "dearer", "exact", "together", "beside", "loose", "over"
]
NEXT: dict[Stage, Stage] = {
    "single": "better",
    "better": "aided",
    "aided": "dearer",
    "dearer": "exact",
    "exact": "together",
    "together": "beside",
    "beside": "loose",
    "loose": "over",
}
COMPANY: tuple[Stage, ...] = ("together", "beside")
"""Stages that add what may have done nothing alone."""
EXACT: tuple[Stage, ...] = ("exact", *COMPANY)
"""Stages that take nothing with an error."""
ACCURATE: tuple[Stage, ...] = ("better", "aided", "dearer")
"""Stages that look for the least error, not the least time."""


class OpeningState(msgspec.Struct, frozen=True):
    """All that the next `Opening.ask` depends on besides what was asked for."""

    stage: Stage
    tried: int
    record: dict[str, tuple[int, int]]
    best: tuple[float, str]
    winners: list[tuple[float, float, str]]
    pool: list[str]
    alone: bool = True
    harmless: list[str] = []
    start: float = 0.0
    spent: float = 0.0
    neutral: list[str] = []
