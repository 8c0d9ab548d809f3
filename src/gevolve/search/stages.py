"""The stages of an opening, in order, and all of it that a resumed search needs."""

from typing import Literal

import msgspec

Stage = Literal[
    "single", "better", "aided", "dearer", "leaner", "exact", "together", "beside", "loose", "over"
]
NEXT: dict[Stage, Stage] = {
    "single": "better",
    "better": "aided",
    "aided": "dearer",
    "dearer": "leaner",
    "leaner": "exact",
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

PRICED: tuple[Stage, ...] = ("leaner", "loose")
"""Stages that trade error for time, so that what saves most for what it loses goes first."""


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
    neutral: list[tuple[float, str]] = []
    time: float = 0.0
    limit: float = 0.0
    turn: int = 0
    champion: tuple[float, float, str] | None = None
