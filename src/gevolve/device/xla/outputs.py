"""XLA on the CPU for what programs give, where something else tells their time."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gevolve.device.xla.executable import Uploads, XlaExecutable, checked
from gevolve.device.xla.levels import SOON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.device.base import Array, Limits
    from gevolve.device.xla.client import CompiledProgram
    from gevolve.device.xla.pieces import PieceCompiler, PiecedProgram

_KEPT = 4
"""Programs that are ready to run."""


class Outputs:
    """Compiles programs piece by piece, and runs them."""

    def __init__(self) -> None:
        self._compiler: PieceCompiler | None = None
        self._programs: dict[str, CompiledProgram | PiecedProgram] = {}
        self._uploads = Uploads()

    def prepare(self, artefact: bytes) -> CompiledProgram | PiecedProgram:
        """Compile; raises `SourceError` with XLA's message if it fails."""
        key = key_of(artefact)
        found = self._programs.pop(key, None) or self._start().compile(artefact, SOON)
        self._programs[key] = found  # what was used last goes last
        for old in list(self._programs)[:-_KEPT]:
            del self._programs[old]
        return found

    def open(self, artefact: bytes, limits: Limits) -> XlaExecutable:
        return XlaExecutable(self.prepare(artefact), self._uploads, limits)

    def checked(self, artefact: bytes, arguments: Sequence[Any]) -> list[Array]:
        """Arguments as arrays of the program's types; raises `LaunchError` if one is not."""
        return checked(self.prepare(artefact).signature, arguments)

    def _start(self) -> PieceCompiler:
        if self._compiler is None:
            # JAX loads when it is needed.
            from gevolve.device.xla.client import Client  # noqa: PLC0415
            from gevolve.device.xla.pieces import PieceCompiler  # noqa: PLC0415

            self._compiler = PieceCompiler(Client("cpu", 0))
        return self._compiler


@lru_cache(16)  # it is asked for at each run, and a program may hold its weights
def key_of(artefact: bytes) -> str:
    """A program by its content."""
    return hashlib.sha256(artefact).hexdigest()
