"""Edited kernels: an artefact that is a graph and edits of its kernels, and the PTX that those make.

The artefact of a variant with edits of kernels is these edits as comments, a zero, and the graph's bytecode;
without them it is the bytecode alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gevolve.errors import SourceError
from gevolve.ir.levels import RECOMPILE, from_comments, to_comments
from gevolve.patch import Patch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gevolve.device.iree.messages import Kernel
    from gevolve.ir.llvm import LlvmProgram

_BYTECODE = b"ML\xefR"
"""How MLIR's bytecode begins."""


def joined(graph: bytes, edits: Mapping[str, Patch]) -> bytes:
    """The artefact of a graph and edits of its kernels."""
    return to_comments(edits).encode() + b"\0" + graph if edits else graph


def parted(artefact: bytes) -> tuple[bytes, dict[str, Patch]]:
    """The graph of an artefact, and the edits of its kernels by name."""
    if artefact.startswith(_BYTECODE):
        return artefact, {}
    comments, _, graph = artefact.partition(b"\0")
    return graph, from_comments(comments.decode())


def evolved(
    kernels: Mapping[str, Kernel], edits: Mapping[str, Patch], arch: str
) -> dict[str, bytes]:
    """The PTX of edited kernels, by name; a kernel that is not there has none.

    A kernel that LLVM makes the same code of as without the edits keeps its own: that it is compiled once more must
    not pass for what an edit does, and is an edit by itself. Raises `SourceError` if an edited kernel is not valid, or LLVM makes no code of it.
    """
    # LLVM loads when a kernel is edited, and never in the process that is IREE.
    from gevolve.ir.llvm.codegen import to_ptx  # noqa: PLC0415

    made: dict[str, bytes] = {}
    for name in sorted(edits.keys() & kernels.keys()):
        program = _program(kernels[name].llvm)
        others = Patch(tuple(edit for edit in edits[name] if edit.kind != RECOMPILE))
        text = program.apply(others).text
        if why := program.verify(text):
            raise SourceError(f"{name}: {why}")
        ptx = to_ptx(text, arch=arch)
        if len(others) < len(edits[name]) or ptx != to_ptx(program.text, arch=arch):
            made[name] = ptx.encode()
    return made


@lru_cache(64)
def _program(text: str) -> LlvmProgram:
    from gevolve.ir.llvm import LlvmProgram  # noqa: PLC0415  (as above)

    return LlvmProgram(text)
