"""Analyses in a terminal: what was validated, what a patch comes down to, what each edit is good for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.status import Status
from rich.table import Table
from rich.text import Text

from gevolve.report.terminal import COLORS, factor, interval_text
from gevolve.system.console import SafeConsole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from gevolve.analyze.inspect import VariantDetail
    from gevolve.run.findings import Effect, ExplainedEdit, Explanation, Minimized, Validation

TERMS = 3
"""Of what an edit changes in the cost, so many terms are shown."""
LEAST = 0.0005
"""Smaller changes than this part of the whole are not."""
_ORDER = ("held-out", "fresh", "varied", "large")


class StatusLine:
    """Shows the line that an analysis says last, on stderr; every new one where there is no terminal."""

    def __init__(self) -> None:
        self._console = SafeConsole(stderr=True)
        self._status = Status("", console=self._console)
        self._last = ""

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def __call__(self, line: str) -> None:
        if self._console.is_terminal:
            self._status.update(Text(line))
        elif line != self._last:
            self._console.print(line, highlight=False, soft_wrap=True)
        self._last = line


def validation(found: Sequence[Validation]) -> RenderableType:
    """What passed on what, and what failed on which input."""
    if not found:
        return Text("Nothing on the front is faster than the unedited program: nothing to check.")
    others = {name for one in found for name in (*one.passed, one.failed) if name}
    splits = [*(s for s in _ORDER if s in others), *sorted(others - set(_ORDER))]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("variant", style="cyan", no_wrap=True)
    for split in splits:
        table.add_column(split, no_wrap=True)
    table.add_column("on cases never used", justify="right", no_wrap=True)
    for one in found:
        cells = ["[green]ok[/]" if split in one.passed else "[dim]-[/]" for split in splits]
        if one.failed:
            verdict = one.why.partition(":")[0]
            cells[splits.index(one.failed)] = f"[{COLORS.get(verdict, 'red')}]{verdict}[/]"
        table.add_row(one.id, *cells, _speed(one))
    rows: list[RenderableType] = [table, Text()]
    failed = [one for one in found if one.failed]
    rows += [Text(f"{one.id} fails on {one.failed} cases: {one.why}", "red") for one in failed]
    if failed:
        rows.append(Text("What failed is struck from the front."))
    gains = sum(one.gain for one in found)
    rows.append(Text(f"{len(found) - len(failed)} of {len(found)} passed, {gains} with a gain."))
    return Group(*rows)


def _speed(one: Validation) -> str:
    if one.interval is None:
        return "[red]struck[/]" if one.failed else "[dim]not measured[/]"
    style = "bold green" if one.gain else "dim"
    doubt = "" if one.interval.settled else " [yellow]unsure[/]"
    nvcc = f", {interval_text(one.nvcc)} to nvcc's" if one.nvcc else ""
    return f"[{style}]{interval_text(one.interval)}{nvcc}[/]{doubt}"


def minimal(found: Minimized, detail: VariantDetail) -> RenderableType:
    """A patch before and after, and what is left of it."""
    head = Text(f"{found.source} → {found.id}", style="bold cyan")
    head.append(f"   {_edits(found.before)} → {_edits(found.after)}", style="bold")
    head.append(f"   {factor(1 / found.ratio_before)} → {factor(1 / found.ratio_after)}")
    head.append(f"   {found.evaluations} patches tried", style="dim")
    checks = Text("checked on ")
    for split, verdict in detail.checks.items():
        checks.append(f"{split}: ").append(f"{verdict}  ", style=COLORS.get(verdict, ""))
    rows: list[RenderableType] = [head, checks, Text()]
    rows += [Text(f"{n:>4}  {edit}") for n, edit in enumerate(detail.edits, 1)]
    return Group(*rows)


def _edits(count: int) -> str:
    return f"{count} edit{'' if count == 1 else 's'}"


def explanation(found: Explanation) -> RenderableType:
    """Every edit of a patch, those that belong together in one group."""
    rows: list[RenderableType] = [
        Text(f"{found.id}: {_edits(len(found.edits))}, {_parts(len(found.groups))}", style="bold")
    ]
    if len(found.groups) > 1 and len(found.groups) < len(found.edits):
        rows.append(Text("Edits with no gap between them belong together.", style="dim"))
    rows += [Text(), _stories(found)]
    met = [pair for pair in found.pairs if pair.relation != "independent"]
    if met:
        rows.append(Text())
    for pair in met:
        line = Text(f"{pair.first + 1} and {pair.second + 1}: ")
        needed = pair.relation == "together" and pair.expected is None
        words = "only work together" if needed else _RELATIONS.get(pair.relation, pair.relation)
        line.append(words)
        line.append(f" ({_effect(pair.effect)}", style="dim")
        expected = f", {factor(1 / pair.expected)} if they were" if pair.expected else ""
        line.append(f"{expected and expected + ' independent'})", style="dim")
        rows.append(line)
    return Group(*rows)


_RELATIONS = {
    "together": "more together than each by itself",
    "overlap": "one does part of what the other does",
    "clash": "each works alone, the two do not",
}


def _parts(count: int) -> str:
    return "all of one piece" if count == 1 else f"in {count} parts"


def _stories(found: Explanation) -> Table:
    """What each edit does, with a gap after each part of the patch."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", justify="right", style="cyan", no_wrap=True)
    table.add_column("what it does")
    table.add_column("class", style="magenta", no_wrap=True)
    for column in ("alone", "without"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("changes", no_wrap=True)
    for group in found.groups:
        for n in group:
            story = found.edits[n]
            table.add_row(
                str(n + 1),
                Group(Text(story.sentence), Text(story.edit, style="dim")),
                story.theme,
                _effect(story.alone),
                _effect(story.without),
                _changes(story),
                end_section=n == group[-1],
            )
    return table


def _effect(effect: Effect) -> str:
    if effect.ratio is None:
        return f"[{COLORS.get(effect.verdict, 'red')}]{effect.verdict}[/]"
    return factor(1 / effect.ratio)


def _changes(story: ExplainedEdit) -> str:
    """The terms of the cost that an edit changes most, as parts of the whole."""
    largest = sorted(story.changes.items(), key=lambda item: -abs(item[1]))[:TERMS]
    return "\n".join(
        f"[{'green' if share < 0 else 'red'}]{share:+.1%}[/] {name}"
        for name, share in largest
        if abs(share) >= LEAST
    )
