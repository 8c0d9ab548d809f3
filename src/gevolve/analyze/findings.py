"""What the analyses of a run found, as its store keeps it and every view shows it."""

import msgspec


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A time over the unedited program's, and between what bounds it lies."""

    value: float
    low: float
    high: float
    runs: int
    """How many measurements it comes from; on a deterministic device one says all."""
    settled: bool = True
    """Whether the bounds came as close as they were meant to."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one variant on inputs that the search never used."""

    id: str
    passed: list[str]
    """The splits, and the referee, that it passed on."""
    failed: str = ""
    """The one that it failed on, if any; it is then struck from the front."""
    why: str = ""
    """The verdict there, and on which input."""
    interval: Interval | None = None
    """How much faster it is on them; None unless it passed on all."""

    @property
    def gain(self) -> bool:
        """Whether it may be called faster."""
        return self.interval is not None and self.interval.high < 1


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one patch on the search cases."""

    verdict: str
    ratio: float | None = None
    error: float | None = None


class Minimised(msgspec.Struct, frozen=True, kw_only=True):
    """A patch without the edits that do not pay."""

    source: str
    """The variant that it came from, such as ``v412``."""
    id: str
    """The variant that it is."""
    before: int
    """Edits of the source."""
    after: int
    ratio_before: float
    ratio_after: float
    evaluations: int
    """How many variants were judged to find it."""


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """One edit of a minimal patch, and what it is good for."""

    edit: str
    """Its text form."""
    sentence: str
    """What it does, plainly, such as ``removes the barrier at hotspot.cu:44``."""
    theme: str
    """The recognisable class, such as ``barrier removed``; empty if it is none."""
    line: str
    """The source line, such as ``hotspot.cu:44``; empty if it is not known."""
    lines: list[str] = []
    """All source lines that it is about, this one first; empty in runs that were explained before."""
    alone: Effect
    """With this edit only."""
    without: Effect
    """With all edits but this one."""
    changes: dict[str, float] = {}
    """What it changes, by term of the cost (cycles of the model, or flops and bytes), of the whole."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two edits together."""

    first: int
    second: int
    """Their positions in the minimal patch."""
    effect: Effect
    expected: float | None
    """The ratio that the two would have if neither mattered to the other."""
    relation: str
    """``independent``, ``together`` (only both pay or run) or ``overlap`` (one makes the other idle)."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A minimal patch taken apart."""

    id: str
    edits: list[Story]
    pairs: list[Pair]
    groups: list[list[int]]
    """Edits that belong together, by position; the groups are independent of each other."""
