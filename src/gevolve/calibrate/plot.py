"""The scatter of measured and modelled times: SVG in a page of its own, and dots in a terminal."""

import html
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.progress import Progress
from rich.text import Text

from gevolve.calibrate.measured import Configuration
from gevolve.calibrate.report import Calibration, Point, Watch
from gevolve.system.console import SafeConsole

_SIZE, _MARGIN = 560, 56
_COLUMNS, _ROWS = 64, 20
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: left; }
td.n { font-variant-numeric: tabular-nums; text-align: right; }
svg { max-width: 100%; height: auto; } circle { fill: #2563eb; fill-opacity: .55; }
circle:hover { fill: #dc2626; fill-opacity: 1; } .frame, .tick { stroke: #9ca3af; fill: none; }
.same { stroke: #6b7280; stroke-dasharray: 4 4; } text { fill: #374151; font-size: 12px; }
@media (prefers-color-scheme: dark) { body { background: #111827; color: #e5e7eb; }
text { fill: #d1d5db; } }
"""


@contextmanager
def progress() -> Generator[Watch]:
    """A bar on stderr while configurations are run."""
    bar = Progress(
        *Progress.get_default_columns(), console=SafeConsole(stderr=True), transient=True
    )
    task = bar.add_task("configurations", total=None)

    def watch(done: int, total: int, config: Configuration) -> None:
        bar.update(task, completed=done, total=total, description=_named(config)[:60])

    with bar:
        yield watch


def render(found: Calibration) -> RenderableType:
    """The comparison in a terminal."""
    lines = [Text(f"{found.title} on {found.device}", style="bold"), Text()]
    lines += [Text(f"{label:<28}{value}") for label, value in summary(found)]
    lines += [Text(), *(Text(line, style="cyan") for line in dots(found.points, found.unit))]
    for one in found.refused:
        lines.append(Text(f"{one.count} refused: {one.reason}, such as {_named(one.example)}"))
    return Group(*lines)


def summary(found: Calibration) -> list[tuple[str, str]]:
    """The figures, each with its name."""
    a = found.agreement
    return [
        ("configurations", f"{a.count:,}"),
        ("rank correlation", f"{a.spearman:.2f}"),
        ("pairs in order", f"{a.pairs:.1%} of {a.compared:,} more than 5 % apart"),
        ("model over measured", f"{a.ratio:.2f}, half within a factor of {a.spread:.2f}"),
        ("the model's best", f"{a.regret:.2f} times the fastest measured"),
        ("refused by the model", f"{sum(one.count for one in found.refused):,}"),
        ("failed on the GPU", f"{found.failed:,}"),
        ("left out", f"{found.left_out:,}"),
    ]


def _scale(points: Sequence[Point], pick: str) -> tuple[float, float]:
    values = [math.log(getattr(point, pick)) for point in points]
    low, high = min(values), max(values)
    room = max((high - low) * 0.04, 0.01)
    return low - room, high + room


def dots(points: Sequence[Point], unit: str = "ms") -> list[str]:
    """A log-log scatter in Braille characters, measured times to the right, the model's upwards."""
    if not points:
        return []
    (x0, x1), (y0, y1) = _scale(points, "measured"), _scale(points, "model")
    cells = [[0] * _COLUMNS for _ in range(_ROWS)]
    bits = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
    for point in points:
        x = int((math.log(point.measured) - x0) / (x1 - x0) * (2 * _COLUMNS - 1))
        y = int((y1 - math.log(point.model)) / (y1 - y0) * (4 * _ROWS - 1))
        cells[y // 4][x // 2] |= bits[x % 2][y % 4]
    rows = ["│" + "".join(chr(0x2800 + cell) for cell in row) for row in cells]
    ends = f"{math.exp(x0):.3g}", f"{math.exp(x1):.3g} {unit} measured"
    return [
        f"{math.exp(y1):.3g} {unit} on the model",
        *rows,
        f"└{'─' * _COLUMNS}",
        f" {ends[0]}{ends[1]:>{_COLUMNS - len(ends[0])}}",
    ]


def page(found: Calibration) -> str:
    """The comparison as one HTML page without outside parts."""
    title = html.escape(f"{found.title} on {found.device}")
    rows = "".join(f"<tr><th>{k}</th><td>{html.escape(v)}</td></tr>" for k, v in summary(found))
    refused = "".join(
        f"<li>{one.count} refused: {html.escape(one.reason)}, such as {html.escape(_named(one.example))}</li>"
        for one in found.refused
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style><h1>{title}</h1><table>{rows}</table>"
        f"{svg(found.points, found.unit)}<ul>{refused}</ul></html>\n"
    )


def svg(points: Sequence[Point], unit: str = "ms") -> str:
    """A log-log scatter; the dashed line is where the model's ratio is its median."""
    if not points:
        return ""
    (x0, x1), (y0, y1) = _scale(points, "measured"), _scale(points, "model")
    inner = _SIZE - 2 * _MARGIN

    def place(measured: float, model: float) -> tuple[float, float]:
        x = _MARGIN + (math.log(measured) - x0) / (x1 - x0) * inner
        return x, _MARGIN + (y1 - math.log(model)) / (y1 - y0) * inner

    middle = sorted(math.log(p.model / p.measured) for p in points)[len(points) // 2]
    low, high = max(x0, y0 - middle), min(x1, y1 - middle)
    marks: list[str] = []
    if low < high:
        (ax, ay), (bx, by) = (place(math.exp(t), math.exp(t + middle)) for t in (low, high))
        marks.append(
            f'<line class="same" x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}"/>'
        )
    for tick in _ticks(x0, x1):
        x, _ = place(tick, math.exp(y0))
        marks.append(
            f'<text x="{x:.1f}" y="{_SIZE - _MARGIN + 18}" text-anchor="middle">{tick:g}</text>'
        )
    for tick in _ticks(y0, y1):
        _, y = place(math.exp(x0), tick)
        marks.append(f'<text x="{_MARGIN - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for point in points:
        x, y = place(point.measured, point.model)
        told = (
            f"{_named(point.configuration)}: {point.measured:.4g}, model {point.model:.4g} {unit}"
        )
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{html.escape(told)}</title></circle>'
        )
    frame = f'<rect class="frame" x="{_MARGIN}" y="{_MARGIN}" width="{inner}" height="{inner}"/>'
    names = (
        f'<text x="{_SIZE / 2}" y="{_SIZE - 12}" text-anchor="middle">measured, {unit}</text>'
        f'<text x="{_MARGIN}" y="{_MARGIN - 14}">model, {unit}</text>'
    )
    return (
        f'<svg viewBox="0 0 {_SIZE} {_SIZE}" width="{_SIZE}">{frame}{names}{"".join(marks)}</svg>'
    )


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two logarithms."""
    first, last = math.floor(low / math.log(10)), math.ceil(high / math.log(10))
    steps = [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
    return [step for step in steps if low <= math.log(step) <= high]


def _named(config: Configuration) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())
