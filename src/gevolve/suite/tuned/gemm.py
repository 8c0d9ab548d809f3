"""The general matrix product."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

TILE, SIDE = 64, 16


class Gemm(KernelWorkload):
    """C = alpha A B + beta C in single precision."""

    source = "gemm.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (40, 160), "held-out": (50, 140), "large": (300, 400)}[size]
        depth = {"search": (12, 40), "held-out": (20, 50), "large": (100, 200)}[size]
        m, n, k = draw(rng, span), draw(rng, span), draw(rng, depth)

        def matrix(*shape: int) -> Array:
            return rng.uniform(0.5, 1.5, shape).astype(np.float32)

        return Case(
            a=matrix(m, k), b=matrix(k, n), c=matrix(m, n), alpha=rng.uniform(1, 2), beta=-0.75
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        (m, k), n = case.a.shape, case.b.shape[1]
        a, b, c = gpu.array(case.a), gpu.array(case.b), gpu.array(case.c)
        grid = (-(-n // TILE), -(-m // TILE))
        gpu.launch("gemm", grid, (SIDE, SIDE), a, b, c, m, n, k, case.alpha, case.beta)
        return c.get()

    def reference(self, case: Case) -> Array:
        product = case.a.astype(np.float64) @ case.b.astype(np.float64)
        return (case.alpha * product + case.beta * case.c).astype(np.float32)
