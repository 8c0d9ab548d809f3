"""Two measurements compared: what became better or worse, beyond what other seeds would have given.

A search is compared by the factor t0/t of its best exact variant on fresh cases. Seeds are few, so no shape of their
spread is assumed. If nothing had changed, the runs of a workload could have been dealt to the two measurements in any
other way. So they are dealt anew many times, workload by workload, and the change of the mean of log(t0/t) that was
seen is compared with the changes that come up so. Of a single workload a few seeds prove little; it is only said
whether all seeds of one measurement are beyond all of the other's.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from gevolve.errors import OptionError
from gevolve.results.outcome import Outcome
from gevolve.results.table import Table

SHUFFLES = 20_000
CHANCE = 0.05
"""A change that would come up by chance less often than this is called one, ..."""
LEAST = 0.005
"""... if it changes the mean time by this part at least."""

Verdict = Literal["better", "worse", "same", "unclear"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One workload in both measurements."""

    workload: str
    device: str
    preset: str
    before: list[float]
    after: list[float]
    """The gains of all seeds, least first."""
    ratio: float
    """The geometric mean of t0/t after, over that before: above 1 is better."""
    verdict: Verdict
    """``better`` or ``worse`` if every seed is; ``same`` if all are equal."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What changed between two measurements."""

    changes: list[Change]
    ratio: float
    """The geometric mean of t0/t over all workloads after, over that before."""
    chance: float
    """How often a change at least as large comes up if the runs are dealt to the two at random."""
    verdict: Verdict
    lost: list[str]
    """Workloads that have a result before and none after."""

    @property
    def worse(self) -> bool:
        """Whether someone should look into it."""
        return self.verdict == "worse" or bool(self.lost)


def compare(before: Table, after: Table) -> Comparison:
    """Compare what both measurements have, with the same device and preset."""
    old, new = _by_workload(before), _by_workload(after)
    common = [key for key in old if key in new]
    if not common:
        raise OptionError("the two have no workload in common, with one device and one preset")
    pairs = [(old[key], new[key]) for key in common]
    changes = [_change(key, *pair) for key, pair in zip(common, pairs, strict=True)]
    mean = statistics.fmean(math.log(change.ratio) for change in changes)
    chance = _chance(pairs, mean)
    asked = {one.key for one in after.outcomes}
    return Comparison(
        changes=changes,
        ratio=math.exp(mean),
        chance=chance,
        verdict=_verdict(mean, chance, changes),
        lost=[
            f"{workload} on {device}"
            for device, preset, workload in old
            if (key := (device, preset, workload)) not in new and key in asked
        ],
    )


def _by_workload(table: Table) -> dict[tuple[str, str, str], list[float]]:
    """The gains of all seeds that have a result, by what they are of."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for one in table.outcomes:
        if one.status == "finished":
            found.setdefault(one.key, []).append(gain(one))
    return found


def gain(outcome: Outcome) -> float:
    """The gain of the best exact variant on fresh cases; 0 if there is none."""
    return outcome.exact.fresh if outcome.exact else 0.0


def _logs(gains: Sequence[float]) -> list[float]:
    return [math.log1p(one) for one in gains]


def _change(key: tuple[str, str, str], before: list[float], after: list[float]) -> Change:
    device, preset, workload = key
    verdict: Verdict = "unclear"
    if sorted(before) == sorted(after):
        verdict = "same"
    elif min(after) > max(before):
        verdict = "better"
    elif max(after) < min(before):
        verdict = "worse"
    return Change(
        workload=workload,
        device=device,
        preset=preset,
        before=sorted(before),
        after=sorted(after),
        ratio=math.exp(statistics.fmean(_logs(after)) - statistics.fmean(_logs(before))),
        verdict=verdict,
    )


def _chance(pairs: Sequence[tuple[list[float], list[float]]], seen: float) -> float:
    """How often dealing the runs at random changes the mean at least as much, either way."""
    rng = np.random.default_rng(0)
    total = np.zeros(SHUFFLES)
    for before, after in pairs:
        logs = np.array(_logs([*before, *after]))
        dealt = rng.permuted(np.tile(logs, (SHUFFLES, 1)), axis=1)
        count = len(before)
        total += dealt[:, count:].mean(axis=1) - dealt[:, :count].mean(axis=1)
    rare = np.abs(total / len(pairs)) >= abs(seen) - 1e-12
    return float((np.count_nonzero(rare) + 1) / (SHUFFLES + 1))


def _verdict(mean: float, chance: float, changes: Sequence[Change]) -> Verdict:
    if all(change.verdict == "same" for change in changes):
        return "same"
    if chance >= CHANCE or abs(mean) < math.log1p(LEAST):
        return "unclear"
    return "better" if mean > 0 else "worse"
