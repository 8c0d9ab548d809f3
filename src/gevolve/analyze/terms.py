"""What one run of a program costs, term by term, where its device can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from gevolve.device.base import Limits, Stopped
from gevolve.errors import GevolveError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gevolve.device.base import Device
    from gevolve.workload.base import Workload


@runtime_checkable
class _Analyst(Protocol):
    """A device whose compiler says what an artefact costs: flops, bytes."""

    def cost(self, artefact: bytes) -> Mapping[str, float]: ...


class _Launch(Protocol):
    """What the handle of a modelled GPU has in `timings`: the cycles of a launch, by kind."""

    kinds: Mapping[str, float]


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
        artefact = device.build(text)
        if isinstance(device, _Analyst):
            return Terms(device.cost(artefact), additive=False)
        if not device.deterministic:  # it measures and models nothing
            return None
        handle: Any = device.open(artefact, limits)
        try:
            workload.run(handle, workload.cases("search")[-1])
            launches: Sequence[_Launch] = getattr(handle, "timings", ())
        finally:
            handle.close()
    except (GevolveError, Stopped):
        return None
    if not launches:
        return None
    kinds = dict.fromkeys(launches[0].kinds, 0.0)
    for launch in launches:
        for kind, cycles in launch.kinds.items():
            kinds[kind] = kinds.get(kind, 0.0) + cycles
    return Terms(kinds, additive=True)
