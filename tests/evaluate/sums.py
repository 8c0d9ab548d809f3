"""Sums of many floats, beside references that add them otherwise."""

import numpy as np

from gevolve.workload.base import Case
from gevolve.workload.kernel import KernelWorkload


class Exact(KernelWorkload):
    """Each thread adds a row, in order; so does the reference."""

    source = "sums.cu"

    def case(self, rng, size):
        rows = {"search": 40, "held-out": 50, "large": 200}[size]
        return Case(x=rng.uniform(0.5, 1, (rows, 700)).astype(np.float32))

    def run(self, gpu, case):
        rows, columns = case.x.shape
        out = gpu.empty(rows)
        gpu.launch("sums", -(-rows // 32), 32, gpu.array(case.x), out, rows, columns)
        return out.get()

    def reference(self, case):
        return np.cumsum(case.x, 1, dtype=np.float32)[:, -1]


class OtherOrder(Exact):
    def reference(self, case):
        return case.x.sum(1, dtype=np.float64).astype(np.float32)


class Differences(Exact):
    """Sums near zero of terms that are not."""

    def case(self, rng, size):
        rows = {"search": 40, "held-out": 50, "large": 60_000}[size]
        x = rng.uniform(-1, 1, (rows, 4)).astype(np.float32)
        x[:, 3] = -x[:, :3].sum(1) + rng.uniform(0, 1, rows) ** 4
        return Case(x=x)

    def reference(self, case):
        return case.x.sum(1, dtype=np.float64).astype(np.float32)


class Wrong(Exact):
    def reference(self, case):
        return case.x[:, 1:].sum(1, dtype=np.float64).astype(np.float32)


class Added(KernelWorkload):
    """Threads add to few places in whatever order they come."""

    source = "added.cu"

    def case(self, rng, size):
        n = {"search": 4_000, "held-out": 5_000, "large": 20_000}[size]
        return Case(x=(10 ** rng.uniform(-3, 2, n)).astype(np.float32))

    def run(self, gpu, case):
        out = gpu.zeros(8)
        gpu.launch("added", -(-case.x.size // 128), 128, gpu.array(case.x), out, case.x.size, 8)
        return out.get()
