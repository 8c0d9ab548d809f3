"""What a program did on the virtual GPU, for people: kernels with their cost, and what is wrong."""

import re
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gevolve.device.cost import KernelCost
from gevolve.device.virtual.session import Session

_TERMS = 3
"""How many of the things that cycles are spent on are named for each kernel."""


def usage(sessions: Sequence[Session]) -> RenderableType:
    """One part for each process that used the GPU."""
    used = [one for one in sessions if one.launches or one.findings or one.missing]
    if not used:
        return Text("virtual GPU: no kernel was launched")
    return Group(*(part for one in used for part in _parts(one)))


def _parts(session: Session) -> list[RenderableType]:
    cycles = sum(cost.cycles for cost in session.kernels.values())
    launches = f"{session.launches} launch" + "es" * (session.launches != 1)
    head = (
        f"virtual GPU: {session.gpu}, {launches}, {session.microseconds(cycles):.1f} us of kernels"
    )
    parts: list[RenderableType] = [Text(head)]
    if session.kernels:
        parts.append(_kernels(session))
    parts += [Text(f"{one.kind}: {one.kernel}: {one.detail}") for one in session.findings]
    if session.missing:
        parts.append(Text(f"not supported, and called: {', '.join(session.missing)}"))
    return parts


def _kernels(session: Session) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("kernel", overflow="fold")
    for name in ("launches", "us", "occupancy"):
        table.add_column(name, justify="right")
    table.add_column("busy cycles go to")
    dearest = sorted(session.kernels.items(), key=lambda item: -item[1].cycles)
    for name, cost in dearest:
        time = f"{session.microseconds(cost.cycles):.1f}"
        table.add_row(_short(name), str(cost.launches), time, f"{cost.occupancy:.0%}", _terms(cost))
    return table


def _short(name: str) -> str:
    """The name in the source of a kernel whose symbol says more, as Numba's do."""
    rest, parts = name.removeprefix("_ZN"), list[str]()
    while rest != name and (found := re.match(r"\d+", rest)):
        end = found.end() + int(found[0])
        parts.append(rest[found.end() : end])
        rest = rest[end:]
    return "::".join(parts) or name


def _terms(cost: KernelCost) -> str:
    busy = {kind: spent for kind, spent in cost.kinds.items() if kind != "idle"}
    whole = sum(busy.values()) or 1.0
    most = sorted(busy.items(), key=lambda item: -item[1])[:_TERMS]
    return ", ".join(f"{kind} {spent / whole:.0%}" for kind, spent in most if spent)
