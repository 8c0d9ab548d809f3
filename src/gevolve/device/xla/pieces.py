"""A program that XLA compiles piece by piece: what was compiled before is taken as it was.

It gives what the whole program does, but for rounding. Its time is not the whole program's, so it is for outputs alone.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.device.base import Array, Stopped
from gevolve.device.xla.client import CompiledProgram, first_line
from gevolve.ir.stablehlo.mlir import parse
from gevolve.ir.stablehlo.pieces import pieces_of
from gevolve.ir.stablehlo.signature import Signature, signature_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.device.xla.client import Client
    from gevolve.device.xla.levels import Level
    from gevolve.ir.stablehlo.pieces import Pieces

_KEPT = 512
"""Pieces that are kept."""


class PieceCompiler:
    """Compiles programs, and knows the pieces of those before."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, CompiledProgram] = {}

    def compile(self, artefact: bytes, level: Level) -> CompiledProgram | PiecedProgram:
        """A program, as pieces if it has several; raises `SourceError` if XLA rejects one."""
        return self.pieced(artefact, level) or self._client.compile(artefact, level)

    def pieced(self, artefact: bytes, level: Level) -> PiecedProgram | None:
        """A program as pieces; None if it has one only. Raises `SourceError` if XLA rejects a piece."""
        pieces = pieces_of(artefact)
        if pieces is None:
            return None
        parts = [self._piece(one.artefact, level) for one in pieces.parts]
        for old in list(self._known)[:-_KEPT]:
            del self._known[old]
        return PiecedProgram(pieces, parts, signature_of(parse(artefact)), self._client)

    def _piece(self, artefact: bytes, level: Level) -> CompiledProgram:
        key = hashlib.sha256(artefact + repr(sorted(level.items())).encode()).hexdigest()
        found = self._known.pop(key, None) or self._client.compile(artefact, level)
        self._known[key] = found  # what was used last goes last
        return found


class PiecedProgram:
    """A program whose pieces XLA has compiled; to whoever runs it, one program."""

    def __init__(
        self, pieces: Pieces, parts: Sequence[CompiledProgram], signature: Signature, client: Client
    ) -> None:
        self._pieces, self._parts = pieces, parts
        self.signature, self.client = signature, client
        last = {number: place for place, one in enumerate(pieces.parts) for number in one.takes}
        last |= dict.fromkeys(pieces.results, len(parts))
        count = len(signature.inputs)
        self._over: list[list[int]] = [[] for _ in (*parts, None)]
        """What nobody needs any more after each piece."""
        for number, place in last.items():
            if number >= count:
                self._over[place].append(number)
        self.memory = self._most(count)
        """The peak size of all buffers in a run, in bytes."""

    def _most(self, count: int) -> int:
        arguments = [_size(one.shape, one.dtype) for one in self.signature.inputs]
        sizes = dict(enumerate(arguments))
        most = total = sum(arguments)
        for place, (piece, part) in enumerate(zip(self._pieces.parts, self._parts, strict=True)):
            apart = total - sum(sizes[one] for one in piece.takes)
            most = max(most, apart + part.memory)
            for number, one in zip(piece.gives, part.signature.outputs, strict=True):
                sizes[number] = _size(one.shape, one.dtype)
                total += sizes[number]
            total -= sum(sizes[one] for one in self._over[place] if one >= count)
        return most

    def run(self, buffers: Sequence[Any]) -> tuple[list[Array], float]:
        """Run all pieces; returns the results and the seconds it took, or raises `Stopped`."""
        clock = self.client.clock
        held = dict(enumerate(buffers))
        try:
            began = clock()
            for piece, part, over in zip(self._pieces.parts, self._parts, self._over, strict=False):
                made = part.execute([held[one] for one in piece.takes])
                held.update(zip(piece.gives, made, strict=True))
                for number in over:
                    del held[number]
            results = [held[one] for one in self._pieces.results]
            found = [np.asarray(one) for one in results]
            return found, clock() - began
        except RuntimeError as error:
            line = first_line(error)
            raise Stopped("memory" if "RESOURCE_EXHAUSTED" in line else "crash", line) from None


def _size(shape: Sequence[int], dtype: np.dtype[Any]) -> int:
    return int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
