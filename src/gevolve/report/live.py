"""What a run looks like in a terminal while it goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gevolve.report.terminal import (
    clock,
    error_words,
    factor,
    front_table,
    sparkline,
    verdict_text,
)
from gevolve.system.console import SafeConsole

if TYPE_CHECKING:
    from gevolve.evaluate.protocol import NodeStatus
    from gevolve.run.loop import Progress
    from gevolve.run.summary import VariantSummary

LINE_SECONDS = 10.0
"""Without a terminal, one line of progress is printed this often."""


def _budget(progress: Progress) -> RenderableType:
    evals, seconds = progress.budget
    share = max(progress.evaluations / evals, progress.seconds / seconds)
    limit = f"/{evals:,}" if evals < 1 << 59 else ""
    until = f" of {clock(seconds)}" if seconds < float("inf") else ""
    line = Table.grid(padding=(0, 2))
    line.add_row(
        ProgressBar(total=1.0, completed=min(1.0, share), width=32),
        f"[bold]{progress.evaluations:,}[/]{limit} evaluations",
        f"{progress.rate:.1f}/s",
        f"{clock(progress.seconds)}{until}",
        f"generation {progress.generation}",
    )
    return line


def panel(progress: Progress) -> Panel:
    """The live view."""
    rows: list[RenderableType] = [Text(progress.stage, style="dim"), _budget(progress)]
    if progress.notice:
        rows.insert(0, Text(progress.notice, style="yellow"))
    if progress.verdicts:
        rows += [Text(), verdict_text(progress.verdicts)]
    if progress.front:
        rows += [Text(), _candidate(progress.front[0])]
        curve = sparkline([1 / ratio for ratio in progress.curve if ratio > 0], 32)
        rows += [Text(curve, style="green"), Text()]
        rows.append(front_table(progress.front, limit=6))
    if progress.nodes:
        rows += [Text(), node_table(progress.nodes, limit=8)]
    title = Text("gevolve  ")
    title.append(progress.workload, "bold").append(f" on {progress.device}, seed {progress.seed}")
    return Panel(Group(*rows), title=title, title_align="left", box=box.ROUNDED, padding=(0, 1))


def node_table(nodes: list[NodeStatus], *, limit: int) -> Table:
    """The machines of a cluster: which work, at what rate, what was lost and repeated."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("node", style="cyan", no_wrap=True)
    for name in ("workers", "judged", "rate", "lost", "repeated"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    order = sorted(nodes, key=lambda node: (-node.rate, node.name))
    for node in order[:limit]:
        state = "" if node.state == "working" else f"{node.state}: {node.why}".rstrip(": ")
        cells = (node.workers, node.evaluations, f"{node.rate:.1f}/s", node.lost, node.repeated)
        table.add_row(node.name, *map(str, cells), Text(state, style="yellow"))
    if len(order) > limit:
        table.add_row(f"[dim]… {len(order) - limit} more[/]")
    return table


def _candidate(entry: VariantSummary) -> Text:
    """The fastest variant so far, which is no gain until it is validated."""
    if entry.id == "v0":
        return Text("no candidate yet", style="dim")
    text = Text(f"{'best' if entry.interval else 'candidate'} {entry.id}  ")
    text.append(factor(1 / entry.ratio) if entry.ratio > 0 else "-", style="bold")
    said = entry.exact or entry.unedited_error
    text.append(f"  {error_words(entry)}" if said else f"  error {error_words(entry)}")
    words = "passed all checks" if entry.interval else "on the search cases; checked at the end"
    text.append(f"   {words}", style="dim")
    return text


class LiveView:
    """Shows progress on stderr: a panel on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or SafeConsole(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._next = 0.0
        self._told = ""

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()
            if self._told:  # else it would go with the panel
                self._console.print(Text(self._told, style="yellow"), soft_wrap=True)

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.notice != self._told:
            self._told = progress.notice
            self._next = now
            if not self._console.is_terminal:
                self._console.print(progress.notice, highlight=False, soft_wrap=True)
                return
        if now < self._next:
            return
        if self._console.is_terminal:
            self._next = now + 0.1
            self._live.update(panel(progress), refresh=True)
            return
        self._next = now + LINE_SECONDS
        best = f", {_candidate(progress.front[0])}" if progress.front else ""
        self._console.print(
            f"{clock(progress.seconds)}  {progress.stage}: {progress.evaluations} evaluations, "
            f"{progress.rate:.1f}/s{best}",
            highlight=False,
            soft_wrap=True,
        )
