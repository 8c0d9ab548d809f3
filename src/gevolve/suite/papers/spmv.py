"""A sparse matrix times a vector: a thread for each row, then a warp for each row."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 128


class Spmv(KernelWorkload):
    """Short rows, some of them empty, by threads; the same matrix again by warps."""

    source = "spmv.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (150, 600), "held-out": (200, 700), "large": (8_000, 12_000)}[size]
        rows, cols = draw(rng, span), draw(rng, span)
        lengths: Array = np.minimum(rng.geometric(1 / rng.uniform(8, 24), rows) - 1, cols)
        begin: Array = np.zeros(rows + 1, np.int32)
        begin[1:] = np.cumsum(lengths)
        return Case(
            begin=begin,
            columns=rng.integers(0, cols, int(begin[-1]), dtype=np.int32),
            values=rng.uniform(0.1, 1, int(begin[-1])).astype(np.float32),
            x=rng.uniform(0.1, 1, cols).astype(np.float32),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        rows = case.begin.size - 1
        matrix = [gpu.array(part) for part in (case.begin, case.columns, case.values, case.x)]
        by_thread, by_warp = gpu.empty(rows), gpu.empty(rows)
        gpu.launch("spmv_scalar", -(-rows // BLOCK), BLOCK, rows, *matrix, by_thread)
        gpu.launch("spmv_vector", -(-rows * 32 // BLOCK), BLOCK, rows, *matrix, by_warp)
        return {"by_thread": by_thread.get(), "by_warp": by_warp.get()}

    def reference(self, case: Case) -> dict[str, Array]:
        products = case.values.astype(np.float64) * case.x[case.columns]
        begin: Array = case.begin
        row = np.repeat(np.arange(begin.size - 1), np.diff(begin))
        y: Array = np.bincount(row, products, begin.size - 1).astype(np.float32)
        return {"by_thread": y, "by_warp": y}
