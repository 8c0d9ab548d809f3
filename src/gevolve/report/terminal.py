"""What a run came to, in a terminal: tables, and the words for times and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gevolve.run.claim import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gevolve.analyze.inspect import VariantDetail
    from gevolve.run.findings import Interval
    from gevolve.run.summary import Struck, Summary, VariantSummary

COLORS = {
    "ok": "green",
    "wrong": "yellow",
    "nonfinite": "yellow",
    "flaky": "yellow",
    "inputs-changed": "yellow",
    "race": "yellow",
    "divergent-barrier": "yellow",
    "stale": "yellow",
    "uninitialised": "yellow",
    "slower": "yellow",
    "invalid": "magenta",
    "compile": "magenta",
    "crash": "red",
    "timeout": "red",
    "fuel": "red",
    "memory": "red",
}
_BARS = "▁▂▃▄▅▆▇█"


def factor(value: float) -> str:
    """A factor with as many digits as say something."""
    return f"{value:.3f}x" if value < 1.1 else f"{value:.3g}x"


def interval_text(interval: Interval) -> str:
    """How many times as fast, and how far that may be off if it is not certain."""
    text = factor(1 / interval.value)
    if interval.runs > 1:
        text += f" ±{(interval.high / interval.low) ** 0.5 - 1:.1%}"
    return text


def error_text(error: float, off: float) -> str:
    """An error, and how many elements are far off, which one number would hide."""
    return f"{error:.2g}, {off:.2g} off" if off else f"{error:.2g}"


def error_words(entry: VariantSummary) -> str:
    """How wrong a variant is; one that is judged by labels is not exact, but as good as the unedited program.

    Of such a one no element is said to be off: its outputs need not be the unedited program's to be as right.
    """
    if entry.refit is not None and entry.refit.error is not None:
        return f"{entry.refit.error:.2g} re-fit, {entry.error:.2g} without"
    if not entry.unedited_error:
        return "exact" if entry.exact else error_text(entry.error, entry.off)
    return points(entry.error, entry.unedited_error)


def points(error: float, unedited: float) -> str:
    """An error by labels, beside that of the unedited program."""
    better = 100 * (unedited - error)
    if abs(better) < 0.05:
        return "as unedited"
    return f"{'better' if better > 0 else 'worse'} by {abs(better):.1f} points"


def number(value: float) -> str:
    """A time in the device's unit, short."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"


MODELLED = (
    "Time and speed are the model's, which the search went by; held-out and fresh are the clock's."
)


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"


def sparkline(values: list[float], width: int) -> str:
    """A curve in one line of text, the latest value last."""
    if not values:
        return ""
    step = max(1, -(-len(values) // width))
    picked = values[::-1][::step][::-1]
    low, high = min(picked), max(picked)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * scale)] for value in picked)


def _table(*, label: bool, nvcc: bool) -> Table:
    """An empty table of variants, with a column for the speed beside nvcc's build if there is one."""
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    if label:
        table.add_column(
            "", min_width=len("baseline")
        )  # this one and the error wrap where there is little room
    table.add_column("variant", style="cyan", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("speed", justify="right", style="bold", no_wrap=True)
    if nvcc:
        table.add_column("nvcc", justify="right", no_wrap=True)
    table.add_column("error", justify="right", min_width=len("unedited"))
    table.add_column("edits", justify="right", no_wrap=True)
    table.add_column("held-out", justify="right", no_wrap=True)
    table.add_column("fresh", justify="right", no_wrap=True)
    table.add_column("large", justify="right", no_wrap=True)
    return table


def _cells(entry: VariantSummary, *, nvcc: bool) -> tuple[str, ...]:
    """One variant as a row of such a table. What was not validated is only a candidate."""
    error = error_words(entry)
    beside = (_factor(entry.nvcc),) if nvcc else ()
    if entry.id == "v0":
        return (entry.id, number(entry.time), "", *beside, error, "", "", "", "")
    fast = factor(1 / entry.ratio) if entry.ratio > 0 else "-"
    cells = (entry.id, number(entry.time), fast, *beside, error, str(entry.edits))
    if entry.interval is None:
        return (*cells, "[yellow]candidate[/]", "", "")
    fresh = _colored(interval_text(entry.interval), entry.interval.high)
    return (*cells, _held_out(entry), fresh, _factor(entry.large))


def _held_out(entry: VariantSummary) -> str:
    """How many times as fast on held-out cases, and of what is judged by labels also how wrong there."""
    cells = [_factor(entry.held_out)]
    if entry.unedited_error and entry.held_out_error is not None:
        cells.append(f"error {entry.held_out_error:.3g}")
    return ", ".join(filter(None, cells))


def _factor(ratio: float | None) -> str:
    """How many times as fast on cases that were checked; nothing if they were not."""
    return _colored(factor(1 / ratio), ratio) if ratio else ""


def _colored(text: str, ratio: float) -> str:
    return f"[{'green' if ratio < 1 else 'red'}]{text}[/]"


def front_table(entries: list[VariantSummary], *, limit: int) -> Table:
    """The front, fastest first."""
    nvcc = any(entry.nvcc for entry in entries)
    table = _table(label=False, nvcc=nvcc)
    for entry in entries[:limit]:
        table.add_row(*_cells(entry, nvcc=nvcc))
    if len(entries) > limit:
        table.add_row(f"[dim]… {len(entries) - limit} more[/]")
    return table


def verdict_text(verdicts: dict[str, int]) -> Text:
    """How many variants got each verdict, most frequent first."""
    total = sum(verdicts.values())
    text = Text()
    for name, count in sorted(verdicts.items(), key=lambda item: (-item[1], item[0])):
        text.append(f"{name} ", style=COLORS.get(name, ""))
        text.append(f"{count} ", style="bold")
        text.append(f"({count / total:.0%})  ", style="dim")
    return text


def summary(result: Summary) -> RenderableType:
    """What is printed when a run is over."""
    rows: list[RenderableType] = []
    head = Text()
    head.append(f"{result.workload} on {result.device}", style="bold")
    head.append(
        f"   {result.evaluations:,} evaluations in {clock(result.seconds)}, "
        f"{result.generations} generations, seed {result.seed}",
        style="dim",
    )
    rows += [head, verdict_text(result.verdicts), Text(), outcome(result), Text()]
    others = [e for e in result.front if e.id != "v0"]
    if len(others) > 1:
        rows += [Text("The front", style="bold"), front_table(result.front, limit=20)]
        rows.append(Text())
    if gaps := result.baseline.get("gaps"):
        rows.append(
            Text(f"Between launches: {number(gaps)}, which no time here has in it", style="dim")
        )
    rows += [
        Text(
            f"Not claimed: {one.id}, {factor(1 / one.ratio)} but unsure: {one.why}", style="yellow"
        )
        for one in result.unsure
    ]
    rows += [Text(line, style="yellow") for line in _beside_nvcc(result)]
    if result.most_accurate is not None:
        rows.append(Text(accuracy(result.most_accurate, result.baseline), style="yellow"))
    if result.clock is not None:
        rows.append(Text(str(result.clock), style="dim"))
    if result.modelled:
        rows.append(Text(MODELLED, style="yellow"))
    rows += [Text(line, style="yellow") for line in result.caveats.lines]
    if result.struck.failed:
        rows.append(Text(struck(result.struck), style="yellow"))
    if any(one.interval is None for one in others):
        first = next(one.id for one in others if one.interval is None)
        untried = f"Candidates were not tried on other cases: gevolve validate {result.run} --variant {first}"
        rows.append(Text(untried, style="yellow"))
    rows.append(Text(f"Run: {result.run}", style="dim"))
    if result.status != "finished":
        rows.append(Text(f"Stopped early; go on with: gevolve resume {result.run}", style="yellow"))
    best = result.best
    if best is not None:
        rows.append(
            Text(
                f"Export: gevolve export {result.run} --variant {best.id} --output FILE",
                style="dim",
            )
        )
    return Group(*rows)


def _beside_nvcc(result: Summary) -> list[str]:
    """What the result is worth to somebody who has nvcc."""
    best, nvcc = result.best, result.nvcc
    if best is not None and best.interval is not None:
        said = words(best.interval, best.nvcc_interval, nvcc)
        return [f"On cases that the search never used {best.id} takes {said}."]
    lines: list[str] = []
    if nvcc.why:
        lines.append(f"nvcc's build of the unedited program is not compared: {nvcc.why}")
    faster = next((one for one in result.front if one.ratio < 1 and one.interval), None)
    if faster is not None and faster.interval is not None and faster.interval.high < 1:
        said = words(faster.interval, faster.nvcc_interval, nvcc)
        why = "it only makes up for what gevolve's build lost against nvcc's"
        lines.append(f"{faster.id} takes {said}: no gain, for {why}.")
    return lines


def accuracy(one: VariantSummary, unedited: Mapping[str, float]) -> str:
    """What the most accurate variant that is no slower is worth: on which cases, in what time, and how sure that is."""
    held_out = unedited.get("held_out_error")
    elsewhere = ""
    if held_out is not None and one.held_out_error is not None:
        elsewhere = f" and by {100 * (held_out - one.held_out_error):.1f} on held-out ones"
    found = one.interval
    if found is None:
        return f"{one.id} has the least error: {error_words(one)} on the search cases{elsewhere}."
    sure = (
        "it is faster too"
        if found.high < 1
        else "the clock cannot tell that from the time of the unedited program"
        if found.low < 1
        else "it takes no more"
    )
    return (
        f"{one.id} has the least error: {error_words(one)} on the search cases{elsewhere}, at {found.value:.3f}"
        f" ({found.low:.3f} to {found.high:.3f}) of the time; {sure}."
    )


def struck(found: Struck) -> str:
    """How many variants failed on cases that the search never used, and why."""
    how = ", ".join(f"{count} {name}" for name, count in found.why.items())
    also = f", and with them {found.descendants} built on them" if found.descendants else ""
    head = f"{found.failed} of {found.tried} candidates failed and were struck{also}: {how}."
    return f"{head} For example {found.example}"


def outcome(result: Summary) -> Table:
    """Baseline, best exact variant, best within the tolerance."""
    nvcc = result.nvcc.ratio
    table = _table(label=True, nvcc=nvcc is not None)
    error = result.baseline["error"]
    own = ("", *([""] if nvcc is not None else []), f"{error:.3g}") if error else ()
    table.add_row("baseline", "v0", number(result.baseline["time"]), *own)
    rows: list[tuple[str, VariantSummary | None]] = [
        ("no worse" if result.baseline["error"] else "exact", result.best_exact)
    ]
    if result.tolerance > 0:
        rows.append((f"within {result.tolerance:g}", result.best))
    if result.most_accurate is not None:
        rows.append(("least error", result.most_accurate))
    if nvcc is not None:
        time = number(result.baseline["time"] * nvcc)
        table.add_row("by nvcc", "", time, _factor(nvcc))
    untried = any(one.interval is None for one in result.front if one.id != "v0")
    for label, entry in rows:
        if entry is None:
            table.add_row(label, "-", "", "none yet" if untried else "no gain")
        else:
            table.add_row(label, *_cells(entry, nvcc=nvcc is not None))
    return table


def details(detail: VariantDetail) -> RenderableType:
    """One variant, edit by edit."""
    head = Text(f"{detail.id}  ", style="bold cyan")
    head.append(detail.verdict, style=COLORS.get(detail.verdict, ""))
    if detail.time is not None:
        head.append(f"   time {number(detail.time)}   error {detail.error:.3g}")
        if detail.unedited_error and detail.error is not None:
            head.append(f", {points(detail.error, detail.unedited_error)}")
        elif detail.off:
            head.append(f", {detail.off:.2%} of the outputs off by more than a tenth")
    if detail.beside:
        head.append(f"   {detail.beside}", style="bold")
    for split, verdict in detail.checks.items():
        head.append(f"   {split}: {verdict}", style="dim")
    rows: list[RenderableType] = [head]
    if detail.refit is not None:
        rows.append(Text(f"{detail.refit}; without it {detail.error:.3g}"))
    if detail.detail:
        rows.append(Text(detail.detail))
    rows += [Text(f"{n:>4}  {edit}") for n, edit in enumerate(detail.edits, 1)]
    rows += [Text(line, style="yellow") for line in detail.caveats]
    rows += [Text(), Text("patch: " + (detail.patch or "(none)"), style="dim")]
    return Group(*rows)
