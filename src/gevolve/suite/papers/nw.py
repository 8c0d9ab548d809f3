"""Global alignment of two sequences, the table of scores filled along its diagonals."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

TILE = 16
LETTERS = 24


class Nw(KernelWorkload):
    """Needleman-Wunsch with a matrix of scores for pairs of letters."""

    source = "nw.cu"
    rounding = 0.0  # scores are integers

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        low, high = {"search": (2, 7), "held-out": (3, 8), "large": (20, 26)}[size]
        n = TILE * int(rng.integers(low, high))
        pairs = rng.integers(-4, 5, (LETTERS, LETTERS))
        pairs = pairs + pairs.T + 8 * np.eye(LETTERS, dtype=int)
        return Case(
            first=rng.integers(0, LETTERS, n),
            second=rng.integers(0, LETTERS, n),
            pairs=pairs,
            penalty=int(rng.integers(5, 13)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        n = case.first.size
        cols, width = n + 1, n // TILE
        reference, scores = _tables(case)
        table, given = gpu.array(scores), gpu.array(reference)
        for i in range(1, width + 1):
            gpu.launch("upper", i, TILE, given, table, cols, case.penalty, i)
        for i in range(width - 1, 0, -1):
            gpu.launch("lower", i, TILE, given, table, cols, case.penalty, i, width)
        return table.get()

    def reference(self, case: Case) -> Array:
        reference, scores = _tables(case)
        n: int = case.first.size
        for row in range(1, n + 1):
            from_above = np.maximum(
                scores[row - 1, :-1] + reference[row, 1:], scores[row - 1, 1:] - case.penalty
            )
            # The best along a row: a running maximum once the penalties are taken out.
            ramp = int(case.penalty) * np.arange(n + 1)
            values = np.concatenate(([scores[row, 0]], from_above)) + ramp
            scores[row] = np.maximum.accumulate(values) - ramp
        return scores


def _tables(case: Case) -> tuple[Array, Array]:
    """What each pair of letters scores, and a table of scores with its first row and column filled."""
    n = case.first.size
    reference = np.zeros((n + 1, n + 1), np.int32)
    reference[1:, 1:] = case.pairs[case.first[:, None], case.second[None]]
    scores = np.zeros((n + 1, n + 1), np.int32)
    scores[0] = scores[:, 0] = -case.penalty * np.arange(n + 1)
    return reference, scores
