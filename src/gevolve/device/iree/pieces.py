"""The time of a program as that of its pieces, so that IREE sees only those that are new.

IREE cuts every program into kernels anew, which takes most of the time of an evaluation. It hardly ever fuses anything into
an operation that does much from before it, so a piece that begins there becomes the same kernels alone as in the whole.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from gevolve.device.iree.messages import Piece, Ran, Tensor, Time
from gevolve.device.iree.rewrite import function_of
from gevolve.ir.stablehlo.mlir import parse
from gevolve.ir.stablehlo.pieces import pieces_of
from gevolve.ir.stablehlo.signature import signature_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gevolve.device.iree.process import IreeProcess

_KEPT = 512
"""Pieces whose text is kept."""


def time_of_pieces(
    process: IreeProcess, graph: bytes, evolved: Mapping[str, bytes], gap: float
) -> Ran | None:
    """What all pieces of a program take, with the gaps between them.

    None if there is one only, or if the way of one depends on what is computed. Raises `SourceError` if IREE rejects one.
    """
    pieces = pieces_of(graph)
    if pieces is None:
        return None
    counts = Counter(one.artefact for one in pieces.parts)
    found = process.time(Time([_piece(one) for one in counts], dict(evolved))).pieces
    if any(one.read_back for one in found):
        return None
    each = [(one, count) for one, count in zip(found, counts.values(), strict=True) if one.launches]
    # The same whatever the order, since what takes the same time must be seen to.
    time = math.fsum(part for one, count in each for part in [one.time + gap] * count)
    return Ran(
        time - gap,
        sum(count * one.launches for one, count in each),
        sum(count * one.instructions for one, count in each),
    )


@lru_cache(_KEPT)
def _piece(artefact: bytes) -> Piece:
    name = f"piece_{hashlib.sha256(artefact).hexdigest()[:32]}"
    module = parse(artefact)
    inputs = signature_of(module).inputs
    arguments = [Tensor(one.dtype.name, one.shape) for one in inputs]
    return Piece(name, function_of(module, name), arguments)
