"""What one run of a program costs, term by term, where its device can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gevolve.device.base import Limits, Stopped
from gevolve.errors import GevolveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gevolve.device.base import Device
    from gevolve.workload.base import Workload


@dataclass(frozen=True, slots=True)
class Terms:
    """The cost of one run. Terms that add up to the whole are measured by it, others by themselves."""

    values: Mapping[str, float]
    additive: bool

    def changes(self, before: Terms, unedited: Terms) -> dict[str, float]:
        """What these terms are more than others, by the unedited program's; none that are the same."""
        found: dict[str, float] = {}
        total = sum(unedited.values.values())
        for name in unedited.values:
            whole = total if self.additive else unedited.values[name]
            change = self.values.get(name, 0.0) - before.values.get(name, 0.0)
            if whole and change:
                found[name] = change / whole
        return found


def terms(workload: Workload, device: Device, text: str, limits: Limits) -> Terms | None:
    """The terms of a program on the largest search case; None if the device knows none.

    It runs in this process, so only what passed as a variant may be given.
    """
    try:
        case = workload.cases("search")[-1]
        cost = device.cost(device.build(text), lambda handle: workload.run(handle, case), limits)
    except (GevolveError, Stopped):
        return None
    return None if cost is None else Terms(cost.terms, additive=cost.additive)
