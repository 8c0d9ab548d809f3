"""A measurement in a terminal: how far it is, its table, and two of them compared."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from gevolve.report.terminal import clock, number
from gevolve.results.table import SPLITS, Spread
from gevolve.system.console import SafeConsole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.results.compare import Comparison
    from gevolve.results.schedule import Progress
    from gevolve.results.table import Gains, Mean, Part, Row, Table

LINE_SECONDS = 60.0
"""Without a terminal, one line of progress is printed this often."""
HEADINGS = (
    *("unedited", "exact", "held-out", "fresh", "large", "over nvcc", "within", "fresh "),
    *("edits", "evals", "time", "paper"),
)
LESSER = ("evals", "time", "fresh ", "unedited", "held-out", "over nvcc", "paper", "edits", "large")
"""Columns that are left out where there is no room for them, the first ones first."""


def percent(gain: float) -> str:
    """A gain t0/t - 1 with as many digits as say something."""
    return f"{100 * gain:.1f} %" if abs(gain) < 0.0995 else f"{100 * gain:.0f} %"


def spread_text(spread: Spread | None) -> str:
    """The middle, and if seeds differ how far apart they are."""
    if spread is None:
        return ""
    low, high = (f"{100 * one:.0f}" for one in (spread.low, spread.high))
    return percent(spread.middle) + (f" ({low}..{high})" if low != high else "")


class SuiteView:
    """Shows progress on stderr: a list on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or SafeConsole(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._began = time.monotonic()
        self._next = 0.0
        self._done = -1

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now < self._next and progress.done == self._done:
            return
        self._done = progress.done
        took = clock(now - self._began)
        if self._console.is_terminal:
            self._next = now + 0.5
            self._live.update(_progress(progress, took), refresh=True)
            return
        self._next = now + LINE_SECONDS
        running = ", ".join(task.workload for task, _ in progress.running)
        self._console.print(
            f"{took}  {progress.done} of {progress.total} runs done; {running or 'none'} going on",
            highlight=False,
            soft_wrap=True,
        )


def _progress(progress: Progress, took: str) -> RenderableType:
    bar = Grid.grid(padding=(0, 2))
    share = progress.done / max(1, progress.total)
    bar.add_row(
        ProgressBar(total=1.0, completed=share, width=32),
        f"[bold]{progress.done}[/] of {progress.total} runs",
        took,
    )
    rows: list[RenderableType] = [bar]
    for task, line in progress.running:
        rows.append(Text.assemble((f"  {task}  ", "cyan"), (line, "dim"), overflow="ellipsis"))
    rows += [Text(f"  {line}", style="red") for line in progress.failed[-3:]]
    return Group(*rows)


def render(table: Table, *, width: int = 160) -> RenderableType:
    """The table: one for each device and preset, then what the edits are."""
    rows: list[RenderableType] = []
    for part in table.parts:
        rows += [Text(_title(part), style="bold"), _grid(part, table, width), Text()]
        rows += [_words(row) for row in part.rows if row.middle.exact or row.middle.within]
        rows.append(Text())
        rows += [
            Text(f"{row.workload}: {why}", style="yellow")
            for row in part.rows
            for why in row.failed
        ]
    rows.append(Text(note(table), style="dim"))
    if table.unfinished:
        words = f"{table.unfinished} runs are not finished; the same command goes on with them"
        rows.append(Text(words, style="yellow"))
    return Group(*rows)


def _title(part: Part) -> str:
    seeds = max((len(row.seeds) for row in part.rows), default=0)
    preset = "" if part.preset == "default" else f", the {part.preset}'s preset"
    return (
        f"{len(part.rows)} workloads on {part.device}{preset}, {seeds} "
        f"{'seed' if seeds == 1 else 'seeds'}, {clock(part.seconds)} of search"
    )


def _grid(part: Part, table: Table, width: int) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    lines = [(row.workload, _cells(row)) for row in part.rows if row.seeds]
    means = [_mean_line(part, table, *one) for one in _MEANS]
    shown = _fitting([("workload", list(HEADINGS)), *lines, *means], width)
    grid.add_column("workload", style="cyan", no_wrap=True)
    for place in shown:
        grid.add_column(HEADINGS[place].strip(), justify="right", no_wrap=True)
    for name, cells in lines:
        grid.add_row(name, *(cells[place] for place in shown))
    for row in part.rows:
        if not row.seeds:
            grid.add_row(row.workload, "[yellow]no result[/]")
    grid.add_section()
    for name, cells in means:
        grid.add_row(name, *(cells[place] for place in shown), style="bold")
    return grid


def _fitting(lines: Sequence[tuple[str, list[str]]], width: int) -> list[int]:
    """The columns that there is room for."""
    names = max(len(name) for name, _ in lines)
    widths = [max(map(len, column)) for column in zip(*(cells for _, cells in lines), strict=True)]
    shown = list(range(len(HEADINGS)))
    for heading in LESSER:
        if names + sum(2 + widths[place] for place in shown) <= width:
            break
        shown.remove(HEADINGS.index(heading))
    return shown


_MEANS = (("mean", "arithmetic"), ("geometric mean", "geometric"))


def _mean_line(part: Part, table: Table, name: str, what: str) -> tuple[str, list[str]]:
    paper = percent(table.paper["exact"].gain) if what == "arithmetic" else ""
    cells = [_mean(part.exact, split, what) for split in SPLITS]
    more = [_mean(part.within, split, what) for split in ("search", "fresh")]
    return name, ["", *cells, *more, "", "", "", paper]


def _mean(means: dict[str, Mean], split: str, what: str) -> str:
    return percent(getattr(means[split], what)) if split in means else ""


def _cells(row: Row) -> list[str]:
    paper = percent(row.paper.gain) if row.paper else ""
    edits = str(row.middle.exact.edits) if row.middle.exact else "0"
    within = [spread_text(row.within.search), spread_text(row.within.fresh)]
    return [
        number(row.time), *_gains(row.exact), *within, edits, f"{row.evaluations:,}",
        clock(row.seconds), paper,
    ]  # fmt: skip


def _gains(gains: Gains) -> list[str]:
    spreads = (gains.search, gains.held_out, gains.fresh, gains.large, gains.nvcc)
    return [spread_text(one) for one in spreads]


def _words(row: Row) -> Text:
    text = Text(f"{row.workload}", style="cyan")
    for name, found in (("exact", row.middle.exact), ("within", row.middle.within)):
        if found is None or (name == "within" and found == row.middle.exact):
            continue
        text.append(f"\n  {name}, seed {row.middle.seed}, {found.id}:", style="dim")
        for line in found.words:
            text.append(f"\n    {line}", style="default")
    return text


_COLORS = {"better": "green", "worse": "red", "same": "dim", "unclear": ""}


def compared(found: Comparison) -> RenderableType:
    """What changed between two measurements."""
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for heading in ("workload", "device", "preset"):
        grid.add_column(heading, style="cyan", no_wrap=True)
    for heading in ("before", "after", "speed after / before"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("all seeds")
    for one in sorted(found.changes, key=lambda one: (one.ratio, one.workload)):
        seeds = (spread_text(Spread.of(gains)) for gains in (one.before, one.after))
        word = Text(one.verdict, style=_COLORS[one.verdict])
        grid.add_row(one.workload, one.device, one.preset, *seeds, f"{one.ratio:.3f}", word)
    rows: list[RenderableType] = [grid, Text()]
    rows += [Text(f"{name}: a result before, none after", style="red") for name in found.lost]
    words = {
        "better": "Better beyond noise",
        "worse": "Worse beyond noise",
        "same": "Every run gave the same",
        "unclear": "No change beyond noise",
    }[found.verdict]
    said = f"{words}: {found.ratio:.3f} of the speed before, on average over {len(found.changes)}"
    chance = f"; by chance alone as much would come up with p = {found.chance:.3g}"
    rows.append(Text(said + chance, style=_COLORS[found.verdict] or "bold"))
    return Group(*rows)


def note(table: Table) -> str:
    """How the table is to be read."""
    tolerances = sorted({one.tolerance for one in table.outcomes if one.time})
    allowed = ", ".join(f"{100 * one:g} %" for one in tolerances)
    return (
        "Gains are t0/t - 1: the best variant on the search cases, then the same one on cases that the "
        "search never used; over nvcc: on fresh cases, against the better of our build of the unedited "
        f"program and nvcc's. Within: an error of up to {allowed or '0'}. Of several seeds the middle one is shown, "
        "and from the least to the most. A seed without a validated gain counts as 0. "
        f"The GEVO paper's means on a P100: {100 * table.paper['exact'].gain:.2f} % exact, "
        f"{100 * table.paper['within'].gain:.2f} % within 1 %, at most "
        f"{100 * table.paper['most'].gain:.0f} %."
    )
