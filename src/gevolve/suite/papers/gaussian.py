"""Linear equations by Gaussian elimination."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

LINE = 64
SQUARE = 8


class Gaussian(KernelWorkload):
    """The matrix and the right-hand side, brought to upper triangular form column by column."""

    source = "gaussian.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        n = draw(rng, {"search": (16, 48), "held-out": (20, 60), "large": (150, 220)}[size])
        a = rng.uniform(-1, 1, (n, n)) + n * rng.uniform(0.5, 1) * np.eye(n)
        return Case(a=a.astype(np.float32), b=rng.uniform(-1, 1, n).astype(np.float32))

    def run(self, gpu: Gpu, case: Case) -> Any:
        n = case.b.size
        a, b, m = gpu.array(case.a), gpu.array(case.b), gpu.zeros((n, n))
        grid = -(-n // SQUARE)
        for t in range(n - 1):
            gpu.launch("multipliers", -(-n // LINE), LINE, m, a, n, t)
            gpu.launch("eliminate", (grid, grid), (SQUARE, SQUARE), m, a, b, n, n - t, t)
        upper, right = a.get().astype(np.float64), b.get().astype(np.float64)
        return {"x": _back_substituted(upper, right).astype(np.float32)}

    def reference(self, case: Case) -> dict[str, Array]:
        a, b = np.asarray(case.a, np.float64), np.asarray(case.b, np.float64)
        x = np.linalg.solve(a, b)
        return {"x": x.astype(np.float32)}


def _back_substituted(upper: Array, right: Array) -> Array:
    x = np.zeros_like(right)
    for i in range(right.size - 1, -1, -1):
        x[i] = (right[i] - upper[i, i + 1 :] @ x[i + 1 :]) / upper[i, i]
    return x
