"""Local alignment of many pairs of DNA sequences, a warp for each pair."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

WARP = 32
LETTERS = np.frombuffer(b"ACGT", np.uint8)


class Alignment(KernelWorkload):
    """The best score of each pair, and where in the reference it ends."""

    source = "alignment.cu"
    rounding = 0.0  # scores are integers

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        low, high = {"search": (3, 8), "held-out": (4, 9), "large": (40, 60)}[size]
        pairs = int(rng.integers(low, high))
        longest = 60 if size != "large" else 150
        references = [rng.choice(LETTERS, int(rng.integers(20, 2 * longest))) for _ in range(pairs)]
        queries = [_mutated(rng, reference, longest) for reference in references]
        return Case(
            queries=np.concatenate(queries).astype(np.int8),
            references=np.concatenate(references).astype(np.int8),
            query_start=_starts(queries),
            reference_start=_starts(references),
            match=int(rng.integers(2, 5)),
            mismatch=-int(rng.integers(2, 5)),
            open=-int(rng.integers(4, 8)),
            extend=-int(rng.integers(1, 3)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        pairs = case.query_start.size - 1
        scores, ends = gpu.empty(pairs, np.int16), gpu.empty(pairs, np.int16)
        gpu.launch(
            "align",
            pairs,
            WARP,
            gpu.array(case.queries),
            gpu.array(case.references),
            gpu.array(case.query_start),
            gpu.array(case.reference_start),
            case.match,
            case.mismatch,
            case.open,
            case.extend,
            scores,
            ends,
        )
        return {"scores": scores.get(), "ends": ends.get()}

    def reference(self, case: Case) -> dict[str, Array]:
        found = [
            _aligned(case.queries[a:b], case.references[c:d], case)
            for a, b, c, d in zip(
                case.query_start,
                case.query_start[1:],
                case.reference_start,
                case.reference_start[1:],
                strict=False,
            )
        ]
        scores, ends = zip(*found, strict=True)
        return {"scores": np.array(scores, np.int16), "ends": np.array(ends, np.int16)}


def _mutated(rng: np.random.Generator, reference: Array, longest: int) -> Array:
    """A piece of the reference with some letters changed and some left out."""
    begin = int(rng.integers(0, reference.size // 2))
    piece = reference[begin : begin + longest]
    piece = np.where(rng.random(piece.size) < 0.1, rng.choice(LETTERS, piece.size), piece)
    kept = piece[rng.random(piece.size) > 0.05]
    return kept if kept.size else piece


def _starts(sequences: list[Array]) -> Array:
    return np.cumsum([0, *(one.size for one in sequences)]).astype(np.int32)


def _aligned(query: Array, reference: Array, case: Case) -> tuple[int, int]:
    """The best score, and the first end of an alignment that has it; row by row of the query."""
    n = reference.size
    h, e = np.zeros(n + 1, int), np.full(n + 1, -1000)
    best, end = 0, 0
    for letter in query:
        same: Array = reference == letter
        score = h[:-1] + np.where(same, int(case.match), int(case.mismatch))
        e = np.maximum(e + case.extend, h + case.open)
        row, f = np.zeros(n + 1, int), -1000
        for j in range(1, n + 1):
            f = max(f + case.extend, row[j - 1] + case.open)
            row[j] = max(score[j - 1], 0, e[j], f)
        h = row
        top = int(row.max())
        at = int(np.argmax(row))
        if top > best or (top == best and best and at < end):
            best, end = top, at
    return best, end
