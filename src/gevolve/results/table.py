"""The table of a measurement: a line for each workload, over all seeds, and means as the papers take them."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from gevolve.errors import StoreError
from gevolve.results.outcome import Found, Outcome, read_outcomes
from gevolve.results.published import MEAN_EXACT, MEAN_WITHIN, MOST, WORKLOADS, Published


class Spread(msgspec.Struct, frozen=True):
    """A figure over all seeds."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The median, the least and the most."""
        return cls(statistics.median(values), min(values), max(values))


class Gains(msgspec.Struct, frozen=True, kw_only=True):
    """The gains t0/t - 1 of the best variants of one kind, by the cases that they were taken on.

    A seed that found nothing counts as 0; a split that no seed has is None.
    """

    search: Spread
    held_out: Spread | None
    fresh: Spread | None
    large: Spread | None
    nvcc: Spread

    @classmethod
    def of(cls, found: Sequence[Found | None]) -> "Gains":
        def taken(value: Callable[[Found], float | None]) -> Spread | None:
            values = [0.0 if one is None else value(one) for one in found]
            known = [value for value in values if value is not None]
            return Spread.of(known) if known else None

        nothing = Spread(0.0, 0.0, 0.0)
        return cls(
            search=taken(lambda one: one.search) or nothing,
            held_out=taken(lambda one: one.held_out),
            fresh=taken(lambda one: one.fresh),
            large=taken(lambda one: one.large),
            nvcc=taken(lambda one: one.nvcc) or nothing,
        )


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One workload with one device and preset."""

    workload: str
    device: str
    preset: str
    seeds: list[int]
    time: float
    gaps: float
    exact: Gains
    within: Gains
    middle: Outcome
    """The seed in the middle, by its exact gain on fresh cases: its edits are shown."""
    evaluations: int
    """Of all seeds."""
    seconds: float
    """Of all seeds."""
    bound: dict[str, float]
    paper: Published | None
    failed: list[str]
    """Why some seed has no result."""


class Mean(msgspec.Struct, frozen=True, kw_only=True):
    """Means over all workloads, of the medians over seeds."""

    arithmetic: float
    """Of t0/t - 1, as the GEVO paper takes it."""
    geometric: float
    """Of t0/t, less 1."""
    least: float
    most: float
    """The arithmetic mean if every workload had its worst seed, and if every one had its best."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """All workloads with one device and preset."""

    device: str
    preset: str
    rows: list[Row]
    exact: dict[str, Mean]
    within: dict[str, Mean]
    """Means by the cases that gains were taken on: search, held_out, fresh, large, nvcc."""
    best: float
    """The most that any workload gained, exact and on fresh cases."""
    seconds: float


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """What a measurement came to; `outcomes` are the runs that all of it is made from."""

    parts: list[Part]
    outcomes: list[Outcome]
    unfinished: int
    paper: dict[str, Published]

    def json(self) -> str:
        """As one JSON object, with a line for each key, so that two versions can be compared."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


SPLITS = ("search", "held_out", "fresh", "large", "nvcc")


def read_table(results: Path) -> Table:
    """The table of a results folder, or of a file that holds one as JSON."""
    if results.is_file():
        try:
            return msgspec.json.decode(results.read_bytes(), type=Table)
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError(f"{results}: not a table of results ({error})") from None
    if not results.is_dir():
        raise StoreError(f"{results}: no such folder; give a folder that `gevolve suite run` made")
    outcomes = read_outcomes(results)
    if not outcomes:
        raise StoreError(
            f"{results}: it holds no runs; give a folder that `gevolve suite run` made"
        )
    return tabulate(outcomes)


def tabulate(outcomes: Sequence[Outcome]) -> Table:
    """The table of these runs."""
    parts: dict[tuple[str, str], dict[str, list[Outcome]]] = {}
    for one in outcomes:
        part = parts.setdefault((one.device, one.preset), {})
        part.setdefault(one.workload, []).append(one)
    return Table(
        parts=[
            _part(device, preset, [_row(seeds) for seeds in rows.values()])
            for (device, preset), rows in sorted(parts.items())
        ],
        outcomes=list(outcomes),
        unfinished=sum(one.status != "finished" for one in outcomes),
        paper={"exact": MEAN_EXACT, "within": MEAN_WITHIN, "most": MOST},
    )


def _row(seeds: Sequence[Outcome]) -> Row:
    done = [one for one in seeds if one.status == "finished"]
    ranked = sorted(
        done or seeds, key=lambda one: (one.exact.fresh if one.exact else 0.0, one.seed)
    )
    middle = ranked[(len(ranked) - 1) // 2]
    return Row(
        workload=middle.workload,
        device=middle.device,
        preset=middle.preset,
        seeds=[one.seed for one in done],
        time=middle.time,
        gaps=middle.gaps,
        exact=Gains.of([one.exact for one in done]),
        within=Gains.of([one.within for one in done]),
        middle=middle,
        evaluations=sum(one.evaluations for one in done),
        seconds=round(sum(one.seconds for one in done), 1),
        bound=middle.bound,
        paper=WORKLOADS.get(middle.workload),
        failed=[f"seed {one.seed}: {one.status}" for one in seeds if one not in done],
    )


def _part(device: str, preset: str, rows: list[Row]) -> Part:
    made = [row for row in rows if row.seeds]
    fresh = [row.exact.fresh.middle for row in made if row.exact.fresh]
    return Part(
        device=device,
        preset=preset,
        rows=rows,
        exact=_means([row.exact for row in made]),
        within=_means([row.within for row in made]),
        best=max(fresh, default=0.0),
        seconds=round(sum(row.seconds for row in rows), 1),
    )


def _means(gains: Sequence[Gains]) -> dict[str, Mean]:
    found: dict[str, Mean] = {}
    for split in SPLITS:
        spreads: list[Spread] = [one for g in gains if (one := getattr(g, split)) is not None]
        if spreads:
            middles = [one.middle for one in spreads]
            found[split] = Mean(
                arithmetic=statistics.fmean(middles),
                geometric=geometric(middles),
                least=statistics.fmean(one.low for one in spreads),
                most=statistics.fmean(one.high for one in spreads),
            )
    return found


def geometric(gains: Iterable[float]) -> float:
    """The geometric mean of factors, less 1, given their gains."""
    return math.expm1(statistics.fmean(math.log1p(gain) for gain in gains))
