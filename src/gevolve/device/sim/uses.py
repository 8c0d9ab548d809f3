"""Uses of values that nothing has written, as hazards with the lines of the user's source.

Generated code notes them while it follows such values (`translate/follow.py`); what host code reads is
noted by `Memory`.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from gevolve.device.base import Array, Hazard
from gevolve.device.sim.buffer import Memory
from gevolve.device.sim.hazards import found_at, spot_of
from gevolve.device.sim.machine.part import MachineKernel
from gevolve.device.sim.translate import Kernel

_KIND = "uninitialised"
_WORDS = {"decides": "decides by", "addresses": "takes for an address"}


class Uses:
    """The uses in the launches of one open device."""

    def __init__(self) -> None:
        self.hazards: dict[Hazard, None] = {}
        self._read: dict[str, None] = {}
        """Where such values were read, and from what, for people."""

    def begin(self, kernel: Kernel | MachineKernel) -> Array:
        """Where the code of a kernel notes its uses: of each, the address, or 1."""
        assert isinstance(kernel, Kernel)
        return np.zeros(max(len(kernel.uses), 1), np.uint64)

    def collect(
        self,
        kernel: Kernel | MachineKernel,
        files: Mapping[int, str],
        used: Array,
        memory: Memory,
    ) -> None:
        """Add what was noted during a launch."""
        assert isinstance(kernel, Kernel)
        places: list[int] = np.flatnonzero(used).tolist()
        for number in places:
            use = kernel.uses[number]
            spot = spot_of(use.verb, use.code, files)
            if use.verb == "reads":
                self._read[f"{spot} reads {memory.name(int(used[number]))}"] = None
        for number in places:
            use = kernel.uses[number]
            if use.verb == "reads":
                continue
            spot = spot_of(use.verb, use.code, files)
            detail = f"{spot} {_WORDS[use.verb]} what nothing has written{self._origin()}"
            self.hazards[found_at(_KIND, kernel, [spot], detail)] = None

    def by_host(self, unwritten: Mapping[str, int]) -> Iterator[Hazard]:
        """What host code read: bytes by the name of the buffer."""
        for name, count in unwritten.items():
            detail = f"reads {count} bytes of {name} that nothing has written{self._origin()}"
            yield Hazard(_KIND, "the host", (_KIND, f"reads {name}"), detail)

    def _origin(self) -> str:
        return f" ({next(iter(self._read))})" if self._read else ""
