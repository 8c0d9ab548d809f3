"""The stages of the opening of a program with an error, in order, and all of it that a resumed search needs."""

from typing import Literal

import msgspec

from gevolve.search.company import CompanyState

Stage = Literal["single", "better", "aided", "dearer", "leaner", "mixed", "loose", "over"]
NEXT: dict[Stage, Stage] = {
    "single": "better",
    "better": "aided",
    "aided": "dearer",
    "dearer": "leaner",
    "leaner": "mixed",
    "mixed": "loose",
    "loose": "over",
}
ACCURATE: tuple[Stage, ...] = ("better", "aided", "dearer", "mixed")
"""Stages that look for the least error, not the least time."""
PRICED: tuple[Stage, ...] = ("leaner", "loose")
"""Stages that trade error for time, so that what saves most for what it loses goes first."""


class OpeningState(msgspec.Struct, frozen=True, tag="model"):
    """All that the next `Opening.ask` depends on besides what was asked for."""

    stage: Stage
    record: dict[str, tuple[int, int]]
    best: tuple[float, str]
    time: float
    spent: float
    limit: float
    room: float
    before: float
    turn: int
    champion: tuple[float, float, str] | None
    company: CompanyState
    winners: list[tuple[float, float, str]]
    alone: bool
    pool: list[str]
