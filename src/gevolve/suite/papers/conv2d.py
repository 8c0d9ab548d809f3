"""A picture filtered by a small window."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = (16, 16)


class Conv2d(KernelWorkload):
    """Windows of three to nine pixels a side."""

    source = "conv2d.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (24, 60), "held-out": (28, 70), "large": (180, 240)}[size]
        height, width = draw(rng, span), draw(rng, span)
        side = 2 * int(rng.integers(1, 5)) + 1
        return Case(
            input=rng.random((height, width), np.float32),
            weights=rng.uniform(0.1, 1, (side, side)).astype(np.float32),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        height, width = case.input.shape
        output = gpu.empty((height, width))
        grid = (-(-width // BLOCK[0]), -(-height // BLOCK[1]))
        gpu.launch(
            "conv2d",
            grid,
            BLOCK,
            gpu.array(case.input),
            output,
            gpu.array(case.weights),
            width,
            height,
            len(case.weights) // 2,
        )
        return output.get()

    def reference(self, case: Case) -> Array:
        side = len(case.weights)
        padded = np.pad(case.input.astype(np.float64), side // 2)
        windows = sliding_window_view(padded, (side, side))
        return np.einsum("yxij,ij->yx", windows, case.weights.astype(np.float64)).astype(np.float32)
