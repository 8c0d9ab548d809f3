"""The cheapest paths through a grid of costs, several rows a launch."""

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
    rounding = 0.0  # integers

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        rows = draw(rng, {"search": (10, 25), "held-out": (15, 40), "large": (80, 120)}[size])
        span = {"search": (400, 2_500), "held-out": (700, 3_000), "large": (20_000, 30_000)}[size]
        return Case(
            wall=rng.integers(0, 10, (rows, draw(rng, span)), dtype=np.int32),
            height=int(rng.integers(5, 21)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        rows, cols = case.wall.shape
        wall = gpu.array(case.wall[1:])
        before, after = gpu.array(case.wall[0]), gpu.empty(cols, np.int32)
        blocks = -(-cols // (BLOCK - 2 * case.height))
        for t in range(0, rows - 1, case.height):
            gpu.launch(
                "pathfinder",
                blocks,
                BLOCK,
                min(case.height, rows - 1 - t),
                wall,
                before,
                after,
                cols,
                rows,
                t,
                case.height,
            )
            before, after = after, before
        return before.get()

    def reference(self, case: Case) -> Array:
        paths = case.wall[0]
        for row in case.wall[1:]:
            padded = np.pad(paths, 1, mode="edge")
            paths = row + np.minimum(np.minimum(padded[:-2], padded[2:]), paths)
        return paths
