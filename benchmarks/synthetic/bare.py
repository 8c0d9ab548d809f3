"""A workload that is judged by its outputs and its time alone."""

from pathlib import Path

from gevolve.device.base import Device
from gevolve.suite.tuned.hotspot import Hotspot


class Bare(Hotspot):
    """hotspot without any check: no hazards, one poison, no other order of threads."""

    def path(self) -> Path:
        return Hotspot().path()

    def device(self, name: str) -> Device:
        device = super().device(name)
        device.checks, device.on_doubt, device.poisons = (), frozenset(), 1
        return device
