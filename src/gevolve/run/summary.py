"""What a run found, in the words that every view of it uses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gevolve.run.caveats import Caveats
from gevolve.run.findings import ClockNoise, Interval, NvccBuild, Refit
from gevolve.search.individual import SAME


class VariantSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One variant of a summary."""

    id: str
    """Its name in the run, such as ``v17``; ``v0`` is the unedited program, ``m3`` a minimal patch."""
    time: float
    gaps: float = 0.0
    """The time between its launches, which `time` is without; 0 where the device does not know it."""
    ratio: float
    """Its time over that of our own unedited build: below 1 is faster."""
    error: float
    exact: bool
    """Whether the error is no more than the unedited program's, or than rounding."""
    unedited_error: float = 0.0
    """The unedited program's own error, where errors are of labels and not differences from it."""
    off: float = 0.0
    """The share of output elements that differ by more than a tenth."""
    edits: int
    validated: bool
    """Whether it passed on all cases that the search never used, and was measured there."""
    interval: Interval | None = None
    """Its ratio there, and how sure that is."""
    held_out: float | None = None
    """Its ratio on the held-out cases."""
    held_out_error: float | None = None
    large: float | None = None
    """Its ratio on the large case, on which only the best variants are tried."""
    nvcc: float | None = None
    """Its time over that of nvcc's build of the unedited program, if that was judged."""
    nvcc_interval: Interval | None = None
    """The same on the cases of `interval`."""
    does_less: bool = True
    """Whether it executes less of anything that the device counts: instructions, memory operations,
    barriers, stall cycles."""
    refit: Refit | None = None
    """What became of it when its weights were re-fit; `error` is that without."""
    within: bool = True
    """Whether its error is within the tolerance: without a re-fit, or else with it."""
    gain: bool = False
    """Whether it is faster than the better of both builds, in the search and on unseen cases."""
    patch: str

    @property
    def headline(self) -> Interval | None:
        """Its time over that of the better of both builds, on cases that the search never used."""
        if self.interval is None or self.nvcc_interval is None:
            return self.interval
        return max(self.interval, self.nvcc_interval, key=lambda one: one.value)


class Struck(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the best variants on cases that the search never used."""

    tried: int = 0
    """How many were tried there, during the search and at its end."""
    failed: int = 0
    descendants: int = 0
    """How many others were struck because they build on one that failed during the search."""
    why: dict[str, int] = {}
    """How many failed in each way, such as ``wrong on unseen cases``."""
    example: str = ""
    """One that failed, and on which input."""


class UnsureTime(msgspec.Struct, frozen=True, kw_only=True):
    """A variant that would be faster than the unedited program, if its time could be known."""

    id: str
    ratio: float
    """What its trace gives, over the unedited program's time."""
    why: str


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has found; `best` is None until a variant has a gain."""

    workload: str
    device: str
    seed: int
    evaluations: int
    seconds: float
    verdicts: dict[str, int]
    baseline: Mapping[str, float]
    best: VariantSummary | None
    """The fastest validated variant within the tolerance."""
    best_exact: VariantSummary | None
    """The fastest validated variant that is exact."""
    nvcc: NvccBuild = NvccBuild()
    """nvcc's build of the unedited program, beside our own."""
    most_accurate: VariantSummary | None = None
    """The variant with the least error that is no slower; None unless the unedited program has any."""
    front: list[VariantSummary]
    """The Pareto front: no other variant is both faster and more exact; fastest first. What was measured is hidden only by what was
    measured, so that beside candidates there may be more."""
    struck: Struck = Struck()
    """What failed on cases that the search never used, and so is no result."""
    caveats: Caveats = Caveats()
    """What is not known of any of them."""
    clock: ClockNoise | None = None
    """How much the clock varies that measured them; None where it does not, or nothing was measured."""
    unsure: list[UnsureTime] = []
    """Variants that are not claimed because their time cannot be known; those that would be fastest."""
    generations: int
    tolerance: float
    status: str
    """``finished``, or ``stopped`` before its budget was used: `gevolve resume` goes on."""
    run: str
    """The run's folder."""

    @property
    def modelled(self) -> bool:
        """Whether the search's times are a model's, and a clock told those on other cases; its own are ratios to 1."""
        return self.clock is not None and self.baseline["time"] != 1.0

    @property
    def folder(self) -> Path:
        return Path(self.run)

    def json(self) -> str:
        """The summary as one JSON object."""
        return msgspec.json.encode(self.as_dict()).decode()

    def as_dict(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)


def best_of(variants: list[VariantSummary], *, exact: bool) -> VariantSummary | None:
    """The fastest variant with a validated gain; `variants` are those that were measured, fastest first."""
    return next((one for one in variants if one.gain and (one.exact or not exact)), None)


def most_accurate(
    variants: list[VariantSummary], error: float, held_out: float
) -> VariantSummary | None:
    """The validated variant with the least error that is no slower than the unedited program.

    It must have less error than the unedited program both in the search and on held-out data. Where a clock measures, what
    it has measured must be no more time than it can tell from the unedited program's, not only what might be.
    """
    better = (
        one
        for one in variants
        if one.interval is not None
        and one.interval.low <= 1
        and one.interval.value <= SAME
        and one.error < error
        and one.held_out_error is not None
        and one.held_out_error < held_out
    )
    return min(better, key=lambda one: one.error, default=None)
