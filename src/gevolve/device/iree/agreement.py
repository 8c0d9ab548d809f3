"""Whose outputs count on a virtual GPU: XLA's on the CPU, unless the GPU computes others.

Of a sample of programs both compute them. What edited kernels compute XLA does not know: the GPU computes it of every
such program, and watches those kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gevolve.device.base import Array, Limits, Stopped
from gevolve.device.iree.evolve import parted
from gevolve.device.xla.outputs import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gevolve.device.iree.messages import Ran
    from gevolve.device.iree.times import Times
    from gevolve.device.iree.work import Works
    from gevolve.device.xla.outputs import Outputs

    Compute = Callable[[bytes, Sequence[Array], Sequence[str]], tuple[list[Array], Ran]]

SAMPLE = 32
"""One program of so many is computed by the virtual GPU too, in a search; and every one that is reported."""
_MOST = 20_000_000
"""Warp instructions of a program that is; what has more would take too long."""
_ROUNDING = 1e-3
"""How far apart results may be, by the largest of them."""
_SAME = 1e-4
"""How far what edited kernels compute may be from what the graph does, by the largest of it, to count as the same."""
_MOST_OWN = 200_000_000
"""Warp instructions of a program whose edited kernels compute something else, over all its runs."""
_HAZARDS = ("divergent-barrier", "race", "stale")
"""What an edited kernel must not do unless the unedited one does."""


class Agreement:
    """Knows of programs whether XLA and the virtual GPU compute the same."""

    def __init__(
        self,
        compute: Compute,
        outputs: Outputs,
        works: Works,
        times: Times,
        unedited: Mapping[str, bytes],
    ) -> None:
        """`compute` is the GPU, which takes a program, its arguments, and kernels to watch."""
        self._compute, self._outputs = compute, outputs
        self._works, self._times, self._unedited = works, times, unedited
        self.sample = 1
        """One program of so many is computed by both."""
        self._known: dict[str, bool | None] = {}
        """Whether both compute the same, by program; None if it would take too long to tell."""
        self._same: dict[str, bool] = {}
        """Whether edited kernels compute what the graph does, by program."""
        self._computed: dict[str, int] = {}
        """How many instructions it took to compute what edited kernels do, by program."""
        self._hazards: dict[str, frozenset[tuple[str, str]]] = {}
        """What kernels of a graph do and should not do, as kinds and kernels."""

    def outputs(
        self, artefact: bytes, arguments: Sequence[Array], found: list[Array]
    ) -> list[Array]:
        """What XLA found, unless the virtual GPU is asked as well and finds something else.

        It is asked about a sample in a search, and about every program that is reported; and about all variants of a program that the two do not agree on. Kernels that
        are edited XLA does not know: the virtual GPU is asked until it has found the same once.
        """
        if edited := self._works.edited(artefact):
            return self._of_kernels(artefact, sorted(edited), arguments, found)
        graph, _ = parted(artefact)
        sampled = int(key_of(graph), 16) % self.sample == 0
        if not sampled and all(
            self._agrees(one, arguments) is not False for one in self._unedited.values()
        ):
            return found
        if self._agrees(graph, arguments) is not False:
            return found
        return self._compute(graph, arguments, ())[0]

    def remark(self, artefact: bytes, gpu: str) -> str:
        """Who computes the outputs."""
        agrees = self._known.get(key_of(artefact))
        if agrees is None:
            return f"Outputs are XLA's on the CPU; to compute them {gpu} would take too long."
        if agrees:
            return f"Outputs are XLA's on the CPU; {gpu} computes the same of the unedited program."
        return f"Outputs are those of {gpu}: XLA computes others of the unedited program."

    def _agrees(self, graph: bytes, arguments: Sequence[Array]) -> bool | None:
        key = key_of(graph)
        if key not in self._known:
            self._known[key] = None
            if self._times.of(graph, arguments).instructions <= _MOST:
                found = self._outputs.open(graph, Limits())(*arguments)
                own, _ = self._compute(graph, arguments, ())
                self._known[key] = all(map(_close, found, own))
        return self._known[key]

    def _of_kernels(
        self, artefact: bytes, edited: list[str], arguments: Sequence[Array], found: list[Array]
    ) -> list[Array]:
        """What a program with edited kernels computes, where its graph computes `found`."""
        key = key_of(artefact)
        if self._same.get(key):
            return found
        own, ran = self._compute(artefact, arguments, edited)
        self._computed[key] = self._computed.get(key, 0) + ran.instructions
        if self._computed[key] > _MOST_OWN:
            raise Stopped("fuel", "its kernels do not compute what the graph does, and to judge what they do takes too long")  # fmt: skip
        hazards = [one for one in ran.findings if one.kind in _HAZARDS]
        if hazards:
            known = self._hazards_of(parted(artefact)[0], edited, arguments)
            for one in hazards:
                if (one.kind, one.kernel) not in known:
                    raise Stopped(one.kind, f"{one.kernel}: {one.detail}")
        self._same[key] = all(_close(a, b, _SAME) for a, b in zip(found, own, strict=True))
        return found if self._same[key] else own

    def _hazards_of(
        self, graph: bytes, kernels: list[str], arguments: Sequence[Array]
    ) -> frozenset[tuple[str, str]]:
        key = key_of(graph + ",".join(kernels).encode())
        if key not in self._hazards:
            found = self._compute(graph, arguments, kernels)[1].findings
            self._hazards[key] = frozenset((one.kind, one.kernel) for one in found)
        return self._hazards[key]


def _close(one: Array, other: Array, rounding: float = _ROUNDING) -> bool:
    """Whether two results are the same but for rounding; what is no number is so in both."""
    if one.shape != other.shape:
        return False
    a, b = one.astype(float), other.astype(float)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)):
        return False
    largest = max(np.abs(a[finite]).max(initial=0.0), 1e-30)
    return bool((np.abs(a - b)[finite] <= rounding * largest).all())
