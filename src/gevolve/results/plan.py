"""Which runs a measurement consists of: each workload with each seed, preset and device."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gevolve.errors import OptionError
from gevolve.workload.catalog import GROUPS, SUITE, full_name
from gevolve.workload.locate import locate

DEFAULT = ("papers",)
"""What is measured if nothing is named."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run that is wanted."""

    workload: str
    """Its full name, such as ``papers/hotspot``."""
    device: str
    preset: str
    seed: int

    def folder(self, results: Path) -> Path:
        """Where the run is, in a results folder."""
        device = self.device.replace("/", "-")
        return results / device / self.preset / self.workload / f"seed-{self.seed}"

    def __str__(self) -> str:
        preset = "" if self.preset == "default" else f", preset {self.preset}"
        return f"{self.workload} on {self.device}{preset}, seed {self.seed}"


def select(names: Sequence[str]) -> list[str]:
    """The full names of these workloads and groups, each once, in the order of the suite."""
    chosen: set[str] = set()
    for name in names or DEFAULT:
        if name.rstrip("/") in GROUPS:
            chosen |= {full for full in SUITE if full.startswith(name.rstrip("/") + "/")}
        elif full := full_name(name):
            chosen.add(full)
        else:
            raise OptionError(
                f"no workload or group {name!r}; `gevolve suite list` names them, and the groups are "
                f"{', '.join(GROUPS)}"
            )
    return [full for full in SUITE if full in chosen]


def plan(
    names: Sequence[str], devices: Sequence[str], presets: Iterable[str], seeds: int
) -> list[Task]:
    """All runs: every workload with the first seed, then with the next, so that a part says something."""
    if seeds < 1:
        raise OptionError(f"--seeds is {seeds}; it must be at least 1")
    workloads, presets = select(names), dict.fromkeys(presets) or ["default"]
    on = {workload: [*dict.fromkeys(devices)] or [_own_device(workload)] for workload in workloads}
    return [
        Task(workload, device, preset, seed)
        for seed in range(seeds)
        for preset in presets
        for workload in workloads
        for device in on[workload]
    ]


def _own_device(workload: str) -> str:
    return locate(workload).default_device
