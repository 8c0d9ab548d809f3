"""The cheapest paths through a grid of costs, row by row."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 256


class Pathfinder(KernelWorkload):
    """Dynamic programming: each row needs only the one above it."""

    source = "pathfinder.cu"
    rounding = 0.0  # integers: there is nothing to round

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        rows = draw(rng, {"search": (10, 25), "held-out": (15, 40), "large": (80, 120)}[size])
        cols = draw(
            rng, {"search": (400, 2500), "held-out": (700, 3000), "large": (20_000, 30_000)}[size]
        )
        return Case(
            wall=rng.integers(0, 10, (rows, cols), dtype=np.int32),
            height=int(rng.integers(5, 11)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        rows, cols = case.wall.shape
        wall = gpu.array(case.wall)
        above = gpu.array(case.wall[0])
        below = gpu.empty(cols, np.int32)
        for first in range(1, rows, case.height):
            height = min(case.height, rows - first)
            blocks = -(-cols // (BLOCK - 2 * height))
            gpu.launch("pathfinder", blocks, BLOCK, wall, above, below, cols, first, height)
            above, below = below, above
        return above.get()

    def reference(self, case: Case) -> Array:
        paths = case.wall[0]
        for row in case.wall[1:]:
            padded = np.pad(paths, 1, mode="edge")
            paths = row + np.minimum(np.minimum(padded[:-2], padded[2:]), paths)
        return paths
