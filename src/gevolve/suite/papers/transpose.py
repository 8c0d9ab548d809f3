"""The transpose of a matrix, straight and through shared memory."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

TILE = 16


class Transpose(KernelWorkload):
    """Both ways give the same."""

    source = "transpose.cu"
    rounding = 0.0  # nothing is computed

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (30, 120), "held-out": (40, 140), "large": (400, 600)}[size]
        return Case(matrix=rng.random((draw(rng, span), draw(rng, span)), np.float32))

    def run(self, gpu: Gpu, case: Case) -> Any:
        height, width = case.matrix.shape
        grid = (-(-width // TILE), -(-height // TILE))
        given = gpu.array(case.matrix)
        naive, tiled = gpu.empty((width, height)), gpu.empty((width, height))
        gpu.launch("transpose_naive", grid, (TILE, TILE), given, naive, width, height)
        gpu.launch("transpose_tiled", grid, (TILE, TILE), given, tiled, width, height)
        return {"naive": naive.get(), "tiled": tiled.get()}

    def reference(self, case: Case) -> dict[str, Array]:
        return {"naive": case.matrix.T, "tiled": case.matrix.T}
