"""What IREE is given of an artefact: the text of its graph, and PTX in the place of that of edited kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gevolve.device.iree.evolve import evolved, parted
from gevolve.device.iree.library import installed
from gevolve.device.iree.messages import Compile, Compiled, Work
from gevolve.device.iree.process import IreeProcess
from gevolve.device.xla import Xla
from gevolve.device.xla.outputs import key_of
from gevolve.errors import MissingPackageError
from gevolve.ir.levels import from_comments

if TYPE_CHECKING:
    from collections.abc import Callable

_KEPT = 64
"""Artefacts whose edited kernels are remembered."""


class Works:
    """What IREE is given of artefacts, and what it compiles of them."""

    def __init__(self, process: Callable[[], IreeProcess], arch: str) -> None:
        self._process, self._arch = process, arch
        self._evolved: dict[str, dict[str, bytes]] = {}

    def of(self, artefact: bytes) -> Work:
        """Raises `SourceError` if an edited kernel cannot be compiled."""
        graph, edits = parted(artefact)
        work = work_of(graph)
        if not edits:
            return work
        key = key_of(artefact)
        if key not in self._evolved:
            kernels = self._process().compile(Compile(work)).kernels
            self._evolved[key] = evolved(kernels, edits, self._arch)
            for old in list(self._evolved)[:-_KEPT]:
                del self._evolved[old]
        return Work(work.program, self._evolved[key])

    def edited(self, artefact: bytes) -> dict[str, bytes]:
        """The PTX of its edited kernels, by name; IREE is not asked where there are none."""
        return self.of(artefact).evolved if parted(artefact)[1] else {}

    def compiled(self, artefact: bytes) -> Compiled:
        """What IREE makes of a program; raises `SourceError` with its message if that is nothing."""
        return self._process().compile(Compile(self.of(artefact)))


def work_of(graph: bytes) -> Work:
    """What IREE is given of a graph."""
    # JAX loads when it is needed.
    from gevolve.device.iree.rewrite import rewritten  # noqa: PLC0415
    from gevolve.ir.stablehlo.mlir import parse  # noqa: PLC0415

    return Work(rewritten(parse(graph)).encode())


def module_of(text: str, arch: str) -> Compiled:
    """What IREE makes of a program for an architecture such as ``sm_80``; `SourceError` if that is nothing."""
    if not installed():
        raise MissingPackageError("a vmfb is made by IREE", "iree")
    process, edits = IreeProcess(arch), from_comments(text)
    try:
        work = work_of(Xla("cpu").build(text))
        made = process.compile(Compile(work))
        if not edits:
            return made
        changed = evolved(made.kernels, edits, arch)
        code = {
            name: msgspec.structs.replace(made.kernels[name], ptx=ptx)
            for name, ptx in changed.items()
        }
        module = process.compile(Compile(Work(work.program, changed))).module
        return Compiled(module, {**made.kernels, **code})
    finally:
        process.end()
