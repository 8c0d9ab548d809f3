"""What analyses have found out about the variants of a run, and how its store keeps it."""

import msgspec

from gevolve.run.store import Store


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A measured time over the unedited program's, with its confidence bounds."""

    value: float
    low: float
    high: float
    runs: int
    """How many measurements it comes from; on a deterministic device one is enough."""
    settled: bool = True
    """Whether the bounds came as close together as they were meant to."""


class ClockNoise(msgspec.Struct, frozen=True, kw_only=True):
    """How much the clock varies: the unedited program measured beside itself."""

    deviation: float
    """The standard deviation of the ratio, which should always be 1."""
    runs: int

    def __str__(self) -> str:
        return (
            f"The clock here: the unedited program beside itself varies by {self.deviation:.1%}"
            f" ({self.runs} measurements)."
        )


class NvccBuild(msgspec.Struct, frozen=True, kw_only=True):
    """The unedited program as nvcc's compiler builds it, judged like a variant."""

    ratio: float | None = None
    """Its time over that of our own build on the search cases: below 1, nvcc's is faster."""
    held_out: float | None = None
    interval: Interval | None = None
    """The same on the fresh cases."""
    large: float | None = None
    why: str = ""
    """Why there are no such ratios."""
    version: str = ""
    """Of the compiler."""

    def on(self, split: str, ratio: float) -> "NvccBuild":
        """The same build with its ratio on a split."""
        field = {"search": "ratio", "held-out": "held_out", "large": "large"}.get(split)
        if field is None:
            certain = Interval(value=ratio, low=ratio, high=ratio, runs=1)
            return msgspec.structs.replace(self, interval=certain)
        return msgspec.structs.replace(self, **{field: ratio})


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one variant on inputs that the search never used."""

    id: str
    passed: list[str]
    """The splits, and the referee, that it passed on."""
    failed: str = ""
    """The one that it failed on, if any; it is then removed from the front."""
    why: str = ""
    """The verdict there, and on which input."""
    interval: Interval | None = None
    """Its time over that of our unedited build on them; None unless it passed on all."""
    nvcc: Interval | None = None
    """Its time over that of nvcc's build on them, if that was measured."""
    gain: bool = False
    """Whether it may be called faster: than the better of both builds."""


class Refit(msgspec.Struct, frozen=True, kw_only=True):
    """A variant with weights that were trained for some steps after it was edited."""

    id: str
    steps: int
    error: float | None = None
    """Its error with them on the search cases; None if it could not be re-fit, or was far too wrong."""
    held_out_error: float | None = None
    within: bool = False
    """Whether both errors are within the tolerance."""
    file: str = ""
    """The weights, in the run's folder."""
    why: str = ""
    """Why there are none."""

    def __str__(self) -> str:
        head = f"re-fit in {self.steps} steps"
        if self.why:
            return f"{head}: no weights, {self.why}"
        if self.error is None:
            return f"{head}: far too wrong still"
        held_out = "" if self.held_out_error is None else f", {self.held_out_error:.3g} held-out"
        beyond = "" if self.within else ", which is more than allowed"
        return f"{head}: error {self.error:.3g}{held_out}{beyond}"


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one patch on the search cases."""

    verdict: str
    ratio: float | None = None
    error: float | None = None


class Minimized(msgspec.Struct, frozen=True, kw_only=True):
    """A patch without the edits that it does not need."""

    source: str
    """The variant that it came from, such as ``v412``."""
    id: str
    """The variant that it is, such as ``m3``."""
    before: int
    """Edits of the source."""
    after: int
    """Edits that are left."""
    ratio_before: float
    ratio_after: float
    evaluations: int
    """How many patches were judged to find it."""
    complete: bool = True
    """Whether none of its edits may go: a search's end tries only so many patches, and keeps the shortest."""


class ExplainedEdit(msgspec.Struct, frozen=True, kw_only=True):
    """One edit of a minimal patch, and what it is good for."""

    edit: str
    """Its text form."""
    sentence: str
    """What it does, plainly, such as ``removes the barrier at hotspot.cu:44``."""
    theme: str
    """The recognizable class, such as ``barrier removed``; empty if there is none."""
    line: str
    """The source line, such as ``hotspot.cu:44``; empty if it is not known."""
    lines: list[str] = []
    """All source lines that it is about, this one first."""
    alone: Effect
    """With this edit only."""
    without: Effect
    """With all edits but this one."""
    changes: dict[str, float] = {}
    """What it changes in each term of the cost (cycles by kind, or flops and bytes), as a share."""


class EditPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two edits applied together."""

    first: int
    second: int
    """Their positions in the minimal patch."""
    effect: Effect
    expected: float | None
    """The ratio that the two would have if neither mattered to the other."""
    relation: str
    """``independent``, ``together`` (only both pay or run), ``overlap`` (one makes the other idle)
    or ``clash`` (each works alone, both do not)."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A minimal patch, edit by edit."""

    id: str
    edits: list[ExplainedEdit]
    pairs: list[EditPair]
    groups: list[list[int]]
    """Edits that belong together, by position; the groups are independent of each other."""


class Findings:
    """The findings in a run's store, each kind under one name."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def intervals(self) -> dict[str, Interval]:
        """The measured ratios of all variants that passed every check, by id."""
        return self._store.get("intervals", dict[str, Interval], {})

    def add_intervals(self, measured: dict[str, Interval]) -> None:
        self._store.set("intervals", {**self.intervals, **measured})

    @property
    def clock(self) -> ClockNoise | None:
        """How much the clock varies; None where it was not asked, or does not."""
        return next(iter(self._store.get("clock", list[ClockNoise], [])), None)

    @clock.setter
    def clock(self, noise: ClockNoise) -> None:
        self._store.set("clock", [noise])

    @property
    def nvcc(self) -> NvccBuild:
        """The unedited program by nvcc; as good as none until it was judged."""
        return self._store.get("nvcc", NvccBuild, NvccBuild())

    @nvcc.setter
    def nvcc(self, build: NvccBuild) -> None:
        self._store.set("nvcc", build)

    @property
    def nvcc_artefact(self) -> bytes | None:
        """What nvcc built; None if there is nothing to compare with."""
        return self._store.get("nvcc_artefact", str, "").encode() or None

    @nvcc_artefact.setter
    def nvcc_artefact(self, artefact: bytes) -> None:
        self._store.set("nvcc_artefact", artefact.decode())

    def drop_nvcc(self, why: str) -> None:
        """Compare with nvcc's build no more, for this reason."""
        self.nvcc = NvccBuild(why=why, version=self.nvcc.version)
        self.nvcc_artefact = b""
        self._store.set("nvcc_intervals", {})

    @property
    def nvcc_intervals(self) -> dict[str, Interval]:
        """The ratios to nvcc's build of all variants that were measured beside it, by id."""
        return self._store.get("nvcc_intervals", dict[str, Interval], {})

    def add_nvcc_intervals(self, measured: dict[str, Interval]) -> None:
        self._store.set("nvcc_intervals", {**self.nvcc_intervals, **measured})

    @property
    def minimized(self) -> dict[str, Minimized]:
        """Minimal patches, by the id of the variant that each came from."""
        return self._store.get("minimized", dict[str, Minimized], {})

    def add_minimized(self, found: Minimized) -> None:
        self._store.set("minimized", {**self.minimized, found.source: found})

    @property
    def explanations(self) -> dict[str, Explanation]:
        """Explanations, by the id of the variant."""
        return self._store.get("explanations", dict[str, Explanation], {})

    def add_explanation(self, found: Explanation) -> None:
        self._store.set("explanations", {**self.explanations, found.id: found})

    @property
    def refits(self) -> dict[str, Refit]:
        """What became of the weights that were re-fit, by the id of the variant."""
        return self._store.get("refits", dict[str, Refit], {})

    def add_refit(self, found: Refit) -> None:
        self._store.set("refits", {**self.refits, found.id: found})

    @property
    def draw(self) -> int:
        """Which draw of fresh cases was used last; the one at the end of a search is 0."""
        return self._store.get("draws", int, 0)

    def new_draw(self) -> int:
        """The number of a draw of fresh cases that this run has not seen."""
        self._store.set("draws", self.draw + 1)
        return self.draw
