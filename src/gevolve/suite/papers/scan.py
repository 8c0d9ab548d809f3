"""Running sums of a long vector."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 256


class Scan(KernelWorkload):
    """Blocks first, then what comes before each block."""

    source = "scan.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (1_000, 8_000), "held-out": (1_500, 9_000), "large": (80_000, 120_000)}
        return Case(values=rng.random(draw(rng, span[size]), np.float32))

    def run(self, gpu: Gpu, case: Case) -> Any:
        count = case.values.size
        blocks = -(-count // BLOCK)
        output, totals = gpu.empty(count), gpu.empty(blocks)
        gpu.launch("scan_blocks", blocks, BLOCK, gpu.array(case.values), output, totals, count)
        gpu.launch("add_totals", blocks, BLOCK, output, totals, count)
        return output.get()

    def reference(self, case: Case) -> Array:
        return np.cumsum(case.values, dtype=np.float64).astype(np.float32)
