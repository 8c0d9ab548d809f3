"""How often each byte value occurs."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BINS, BLOCK = 256, 192


class Histogram(KernelWorkload):
    """Counts in shared memory per warp, added up in global memory."""

    source = "histogram.cu"
    rounding = 0.0  # counts: there is nothing to round

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        n = draw(
            rng,
            {
                "search": (5_000, 60_000),
                "held-out": (8_000, 60_000),
                "large": (1_000_000, 2_000_000),
            }[size],
        )
        # A peak on a flat ground, as images have: some bins are contended, all are used.
        peak = rng.normal(90, 12, n).clip(0, 255)
        ground = rng.integers(0, 256, n)
        return Case(
            data=np.where(rng.random(n) < 0.5, peak, ground).astype(np.uint8),
            blocks=draw(rng, (100, 200) if size == "large" else (15, 40)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        data = gpu.array(case.data)
        counts = gpu.zeros(BINS, np.uint32)
        gpu.launch("histogram", case.blocks, BLOCK, data, counts, case.data.size)
        return counts.get()

    def reference(self, case: Case) -> Array:
        return np.bincount(case.data, minlength=BINS).astype(np.uint32)
