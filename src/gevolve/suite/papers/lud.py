"""LU decomposition of a matrix, block by block."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

TILE = 16


class Lud(KernelWorkload):
    """Both factors in the place of the matrix, without pivoting."""

    source = "lud.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        low, high = {"search": (2, 6), "held-out": (3, 7), "large": (14, 18)}[size]
        n = TILE * int(rng.integers(low, high))
        matrix = rng.uniform(-1, 1, (n, n)) + n * rng.uniform(0.5, 1) * np.eye(n)
        return Case(matrix=matrix.astype(np.float32))

    def run(self, gpu: Gpu, case: Case) -> Any:
        n = len(case.matrix)
        m = gpu.array(case.matrix)
        for offset in range(0, n - TILE, TILE):
            left = (n - offset) // TILE - 1
            gpu.launch("diagonal", 1, TILE, m, n, offset)
            gpu.launch("perimeter", left, 2 * TILE, m, n, offset)
            gpu.launch("internal", (left, left), (TILE, TILE), m, n, offset)
        gpu.launch("diagonal", 1, TILE, m, n, n - TILE)
        return m.get()

    def reference(self, case: Case) -> Array:
        m = case.matrix.astype(np.float64)
        for k in range(len(m) - 1):
            m[k + 1 :, k] /= m[k, k]
            m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
        return m.astype(np.float32)
