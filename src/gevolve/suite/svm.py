"""Training of a support vector machine; the error is that of its predictions.

The suite's workloads differ in their data.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.datasets import Table
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

WORKING = 32
BLOCK = 128
EPS = 1e-3
STEPS = 200
"""The most steps on one working set."""
ROUNDS = 400
"""The most working sets; far more than a training takes."""


class SvmWorkload(KernelWorkload):
    """A C-SVM with a Gaussian kernel: trained on some rows of a table, tried on others."""

    source = "svm.cu"  # beside the workloads
    rounding: ClassVar[float | None] = 0.0
    sizes: ClassVar[dict[str, tuple[int, int]]]
    """How many rows are trained on, at least and at most."""
    tried: ClassVar[int] = 100
    """How many others it is tried on."""

    def table(self) -> Table:
        """The data: rows of numbers, and a class of 1 or -1 for each."""
        raise NotImplementedError

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        table = self.table()
        count = draw(rng, self.sizes[size])
        # Rows that the search trains on or is tried on are no rows of any other split.
        half = len(table.labels) // 2
        own = np.arange(half) if size == "search" else np.arange(half, len(table.labels))
        chosen = rng.choice(own, count + self.tried, replace=False)
        x, y = table.rows[chosen].T, table.labels[chosen].astype(np.float32)
        return Case(
            x=np.ascontiguousarray(x[:, :count]),
            y=y[:count],
            z=np.ascontiguousarray(x[:, count:]),
            labels=y[count:],
            c=float(np.float32(2 ** rng.uniform(0, 3))),
            gamma=float(np.float32(2 ** rng.uniform(-1, 1) / len(x))),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        d, n = case.x.shape
        m = case.z.shape[1]
        blocks = -(-n // BLOCK)
        x, y, z = gpu.array(case.x), gpu.array(case.y), gpu.array(case.z)
        norms, rows = gpu.empty(n), gpu.empty((WORKING, n))
        alpha, f = gpu.zeros(n), gpu.array(-case.y)
        change = gpu.empty(WORKING)
        gpu.launch("squares", blocks, BLOCK, x, norms, n, d)
        for _ in range(ROUNDS):
            chosen, gap, _ = _violators(f.get(), case.y, alpha.get(), case.c)
            if gap < EPS:
                break
            working = gpu.array(chosen)
            gpu.launch(
                "kernel_rows", (blocks, WORKING), BLOCK, x, norms, working, rows, n, d, case.gamma
            )
            gpu.launch(
                "solve", 1, WORKING, y, f, alpha, working, rows, change, n, case.c, EPS, STEPS
            )
            gpu.launch("update", blocks, BLOCK, f, change, rows, n)
            working.free()
        rho = _violators(f.get(), case.y, alpha.get(), case.c)[2]
        decisions = gpu.empty(m)
        gpu.launch(
            "decide",
            -(-m // BLOCK),
            BLOCK,
            *(x, norms, y, alpha, n, d),
            *(z, m, case.gamma, rho, decisions),
        )
        return {"decisions": decisions.get(), "alpha": alpha.get()}

    def measure(self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case) -> float:  # noqa: ARG002  (labels say what is right)
        """The share of rows that are put into the wrong class."""
        wrong: Array = np.sign(got["decisions"]) != case.labels
        return np.count_nonzero(wrong) / wrong.size

    def bound(self, unedited: float, tolerance: float) -> float:
        return unedited + tolerance


def _violators(f: Array, y: Array, alpha: Array, c: float) -> tuple[Array, float, float]:
    """The points that violate the optimum most, by how much the worst pair does, and the boundary."""
    up = ((y > 0) & (alpha < c)) | ((y < 0) & (alpha > 0))
    low = ((y > 0) & (alpha > 0)) | ((y < 0) & (alpha < c))
    by_f = np.argsort(f, kind="stable")
    rising, falling = by_f[up[by_f]], by_f[low[by_f]][::-1]
    first = rising[: WORKING // 2]
    second = falling[~np.isin(falling, first)][: WORKING - first.size]
    chosen = np.concatenate([first, second])
    rest = by_f[~np.isin(by_f, chosen)][: WORKING - chosen.size]
    gap = float(f[falling[0]] - f[rising[0]])
    middle = float(f[falling[0]] + f[rising[0]]) / 2
    return np.concatenate([chosen, rest]).astype(np.int32), gap, middle
