"""The handle of a program on `iree`: a function of arrays that counts what it used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gevolve.device.base import Array, Limits, Stopped, Usage
from gevolve.errors import LaunchError

if TYPE_CHECKING:
    from gevolve.device.iree import Iree
    from gevolve.device.xla.executable import XlaExecutable


class IreeExecutable:
    """A program that is open on a GPU; XLA computes its results there where that GPU is a virtual one."""

    def __init__(
        self, device: Iree, artefact: bytes, limits: Limits, outputs: XlaExecutable | None
    ) -> None:
        """Without `outputs`, the GPU computes them."""
        self._device = device
        self._artefact = artefact
        self._limits = limits
        self._outputs = outputs
        self._untimed = 0
        """Runs whose time nobody has asked for."""
        self._arguments: list[Array] = []
        """Those of a run; their values have no part in the time."""
        self._used = Usage()
        self._open = True

    def __call__(self, *arguments: npt.ArrayLike) -> list[Array]:
        """Run the program once on these flat arguments."""
        if not self._open:
            raise LaunchError("this executable is closed; open the artefact again")
        if self._used.launches >= self._limits.launches:
            raise Stopped("fuel", f"more than {self._limits.launches} runs of the program")
        self._used.launches += 1
        if self._outputs is not None:
            found = self._outputs(*arguments)
            self._used.memory = self._outputs.usage().memory
            arrays = self._device.arrays(self._artefact, arguments)
            self._untimed, self._arguments = self._untimed + 1, arrays
            found = self._device.agreed(self._artefact, arrays, found)
            self._used.remark = self._device.remark(self._artefact)
            return found
        arrays = self._device.arrays(self._artefact, arguments)
        found, spent = self._device.run(self._artefact, arrays)
        self._used.time += spent.time
        return [np.asarray(one) for one in found]

    def usage(self, *, timed: bool = True) -> Usage:
        """What was used so far; time is in cycles of a virtual GPU, in seconds of a real one."""
        if timed and self._untimed:
            once = self._device.time(self._artefact, self._arguments).time
            self._used.time += self._untimed * once
            self._untimed = 0
        return self._used

    def close(self) -> None:
        self._open = False
        self._untimed, self._arguments = 0, []
        if self._outputs is not None:
            self._outputs.close()


class Heard(Exception):  # noqa: N818  (what was wanted, not a mistake)
    """The arguments are known, and nothing more is wanted of the workload."""


class Listener:
    """A handle that only takes note of the arguments of the first run."""

    def __init__(self) -> None:
        self.arguments: list[npt.ArrayLike] = []

    def __call__(self, *arguments: npt.ArrayLike) -> list[Array]:
        self.arguments = list(arguments)
        raise Heard

    def usage(self, *, timed: bool = True) -> Usage:  # noqa: ARG002  (nothing is used)
        return Usage()

    def close(self) -> None:
        pass
