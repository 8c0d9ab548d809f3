"""The time of programs on a virtual GPU: as a whole, or in a search as that of their pieces."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from gevolve.device.iree.evolve import parted
from gevolve.device.iree.messages import Ran, Run, Tensor
from gevolve.device.xla.outputs import key_of
from gevolve.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gevolve.device.base import Array
    from gevolve.device.iree.process import IreeProcess
    from gevolve.device.iree.work import Works

_KEPT = 64
"""Programs whose times are remembered."""
_AS_WHOLE = 0.01
"""How far the time of the unedited program's pieces may be from that of the whole, for variants to be timed in pieces."""


class Times:
    """Finds the times of programs."""

    def __init__(
        self,
        process: Callable[[], IreeProcess],
        works: Works,
        unedited: Mapping[str, bytes],
        gap: float,
    ) -> None:
        """`unedited` are programs by which it is told whether pieces take the time of the whole; `gap` is between launches."""
        self._process, self._works = process, works
        self._unedited, self._gap = unedited, gap
        self._known: dict[str, Ran] = {}
        self.in_pieces = False
        """Whether the time of pieces will do."""
        self.divisible: bool | None = None
        """Whether pieces take the time of the whole; None until it is known of the unedited program."""

    def of(self, artefact: bytes, arguments: Sequence[Array]) -> Ran:
        """The time of a program, which the values of the arguments have no part in."""
        key = key_of(artefact)
        if key in self._known:
            return self._known[key]
        ran = self._of_pieces(artefact) if self.in_pieces and self._divides(arguments) else None
        ran = ran or self.whole(artefact, arguments)
        self._known[key] = msgspec.structs.replace(ran, fresh=0)  # nothing of it is timed again
        for old in list(self._known)[:-_KEPT]:
            del self._known[old]
        return ran

    def whole(self, artefact: bytes, arguments: Sequence[Array], *, cost: bool = False) -> Ran:
        """The time of a program as a whole; with `cost` what each kernel takes, too."""
        work = self._works.of(artefact)
        shapes = [Tensor.of(one, whole=False) for one in arguments]
        ran = self._process().run(Run(work, shapes, dry=True, cost=cost))
        if not ran.read_back:
            return ran
        return self._process().run(Run(work, [Tensor.of(one) for one in arguments], cost=cost))

    def _divides(self, arguments: Sequence[Array]) -> bool:
        """Whether the pieces of the unedited program take its time, so that variants can be timed by theirs."""
        if self.divisible is None:
            whole = [self.whole(one, arguments).time for one in self._unedited.values()]
            parts = [self._of_pieces(one) for one in self._unedited.values()]
            self.divisible = all(
                part is not None and abs(part.time / time - 1) <= _AS_WHOLE
                for time, part in zip(whole, parts, strict=True)
            )
        return self.divisible

    def _of_pieces(self, artefact: bytes) -> Ran | None:
        """The time of a program as that of its pieces; None if that is not known."""
        from gevolve.device.iree.pieces import time_of_pieces  # noqa: PLC0415  (JAX loads when it is needed)

        graph, evolved = parted(artefact)[0], self._works.edited(artefact)
        with suppress(SourceError):  # the whole may be compiled all the same
            return time_of_pieces(self._process(), graph, evolved, self._gap)
        return None
