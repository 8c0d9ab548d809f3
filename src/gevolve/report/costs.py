"""Costs in a terminal: what the cycles of each kernel and line were spent on, before and after."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gevolve.device.cost import KernelCost

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gevolve.analyze.cost import Costs

_LAYER = re.compile(r"([a-z]+(?:_[a-z]+)*)_(?:[\dx]+\w*_)?[0-9a-f]{12}")
"""A kernel of a model: what kind of layer it computes, its sizes, a digest."""
LINES = 10
"""Of each kernel, this many of the lines that cost most are shown."""


def render(costs: Costs) -> RenderableType:
    """All kernels, each with its kinds of cost and its lines."""
    rows: list[RenderableType] = [
        Text(f"Cycles on {costs.device}: unedited → {costs.variant}", style="bold"), Text()
    ]  # fmt: skip
    costs = costs.readable()
    names = list(dict.fromkeys([*costs.before, *costs.after]))
    if len(names) > 1:
        rows += [_overview(costs, names), Text()]
    for name in names:
        before, after = (one.get(name, KernelCost()) for one in (costs.before, costs.after))
        rows += [_kinds(name, before, after), Text()]
        if before.lines or after.lines:
            rows += [_lines(_where(name), before, after), Text()]
    return Group(*rows)


def _overview(costs: Costs, names: list[str]) -> Group:
    """All kernels, the dearest first; of a model, the sums by kind of layer and by layer, too."""

    def cycles(of: Iterable[str]) -> tuple[float, float]:
        known = list(of)
        return (
            sum(costs.before[name].cycles for name in known if name in costs.before),
            sum(costs.after[name].cycles for name in known if name in costs.after),
        )

    kinds: dict[str, list[str]] = {}
    for name in names:
        if found := _LAYER.fullmatch(name):
            kinds.setdefault(found[1], []).append(name)
    tables: list[RenderableType] = []
    for heading, groups in (("kind of layer", kinds), ("kernel", {name: [name] for name in names})):
        if not groups:
            continue
        table = _table(heading)
        table.add_column("share", justify="right", no_wrap=True)
        total = cycles(names)[1] or 1.0
        rows = {group: cycles(members) for group, members in groups.items()}
        for group, spent in sorted(rows.items(), key=lambda row: (-max(row[1]), row[0])):
            table.add_row(group, *_compared(*spent), f"{spent[1] / total:.0%}")
        tables += [table, Text()]
    if kinds:
        models = [{name: one[name] for name in one if _LAYER.fullmatch(name)} for one in (costs.before, costs.after)]  # fmt: skip
        tables += [_lines("layer", *map(_joined, models)), Text()]
    return Group(*tables[:-1])


def _joined(kernels: Mapping[str, KernelCost]) -> KernelCost:
    """The lines of all kernels, a line of several being one."""
    lines: dict[str, dict[str, float]] = {}
    for kernel in kernels.values():
        for line, kinds in kernel.lines.items():
            sums = lines.setdefault(line, {})
            for kind, spent in kinds.items():
                sums[kind] = sums.get(kind, 0.0) + spent
    return KernelCost(lines=lines)


def _where(kernel: str) -> str:
    """What the lines of a kernel are."""
    return "layer" if _LAYER.fullmatch(kernel) else "source line"


def _kinds(name: str, before: KernelCost, after: KernelCost) -> Table:
    table = _table(name)
    table.add_row("all", *_compared(before.cycles, after.cycles))
    for kind, spent in before.kinds.items():
        table.add_row(f"  {kind}", *_compared(spent, after.kinds.get(kind, 0.0)))
    note = f"occupancy {before.occupancy:.0%} → {after.occupancy:.0%}, {before.launches} launches"
    if min(before.share, after.share) < 1:
        note += f", {min(before.share, after.share):.0%} of the work replayed"
    table.caption = note
    table.caption_justify = "left"
    return table


def _lines(heading: str, before: KernelCost, after: KernelCost) -> Table:
    def spent(total: KernelCost, line: str) -> float:
        return sum(total.lines.get(line, {}).values())

    lines = sorted(
        {*before.lines, *after.lines},
        key=lambda line: (-max(spent(before, line), spent(after, line)), line),
    )
    table = _table(heading)
    table.add_column("mostly", no_wrap=True)
    for line in lines[:LINES]:
        most = before.lines.get(line) or after.lines.get(line) or {}
        table.add_row(
            line.rpartition("/")[2],
            *_compared(spent(before, line), spent(after, line)),
            max(most, key=lambda kind: most[kind], default=""),
        )
    return table


def _table(first: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(first, style="cyan", no_wrap=True)
    for heading in ("unedited", "variant", "change"):
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _compared(old: float, new: float) -> tuple[str, str, str]:
    return f"{old:,.0f}", f"{new:,.0f}", f"{new - old:+,.0f}"
