"""The sum of a vector."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 256


class Reduction(KernelWorkload):
    """Partial sums per block, then the sum of those in one block."""

    source = "reduction.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        n = draw(
            rng,
            {
                "search": (2_000, 30_000),
                "held-out": (5_000, 40_000),
                "large": (1_000_000, 2_000_000),
            }[size],
        )
        return Case(
            values=rng.uniform(0.5, 1.5, n).astype(np.float32),
            blocks=draw(rng, (200, 300) if size == "large" else (15, 40)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        values = gpu.array(case.values)
        partial = gpu.empty(case.blocks)
        total = gpu.empty(1)
        gpu.launch("reduce", case.blocks, BLOCK, values, partial, case.values.size)
        gpu.launch("reduce", 1, BLOCK, partial, total, case.blocks)
        return total.get()

    def reference(self, case: Case) -> Array:
        return np.array([case.values.sum(dtype=np.float64)], np.float32)
