"""Speckles removed from an ultrasound image by anisotropic diffusion."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 256


class Srad(KernelWorkload):
    """A few rounds of diffusion; the mean and variance of the whole image steer it."""

    source = "srad.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (24, 50), "held-out": (28, 60), "large": (180, 240)}[size]
        rows, cols = draw(rng, span), draw(rng, span)
        smooth = 60 + 50 * np.add.outer(np.sin(np.arange(rows) / 7), np.cos(np.arange(cols) / 5))
        return Case(
            image=(np.abs(smooth) + rng.uniform(1, 40, (rows, cols))).astype(np.float32),
            strength=float(np.float32(rng.uniform(0.2, 0.6))),
            rounds=int(rng.integers(1, 3)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        rows, cols = case.image.shape
        count = rows * cols
        blocks = -(-count // BLOCK)
        image = gpu.array(case.image.T)
        i_n, i_s, j_w, j_e = (gpu.array(near) for near in _neighbours(rows, cols))
        differences = [gpu.empty(count) for _ in range(4)]
        c, sums, sums2 = gpu.empty(count), gpu.empty(count), gpu.empty(count)
        out, out2 = gpu.empty(blocks), gpu.empty(blocks)
        gpu.launch("extract", blocks, BLOCK, count, image)
        for _ in range(case.rounds):
            gpu.launch("prepare", blocks, BLOCK, count, image, sums, sums2)
            left, source, target = count, (sums, sums2), (out, out2)
            while left > 1:
                fewer = -(-left // BLOCK)
                gpu.launch("reduce", fewer, BLOCK, left, *source, *target)
                left, source, target = fewer, target, source
            total, total2 = (float(part.get()[0]) for part in source)
            q0 = _speckle(total, total2, count)
            d_n, d_s, d_e, d_w = differences
            gpu.launch(
                "srad",
                blocks,
                BLOCK,
                rows,
                cols,
                *(i_n, i_s, j_e, j_w),
                *(d_n, d_s, d_e, d_w),
                q0,
                c,
                image,
            )
            gpu.launch(
                "srad2",
                blocks,
                BLOCK,
                case.strength,
                rows,
                cols,
                *(i_s, j_e),
                *(d_n, d_s, d_e, d_w),
                c,
                image,
            )
        gpu.launch("compress", blocks, BLOCK, count, image)
        return image.get().T

    def reference(self, case: Case) -> Array:
        image = np.exp(case.image.astype(np.float64) / 255)
        for _ in range(case.rounds):
            q0 = _speckle(image.sum(), (image**2).sum(), image.size)
            padded = np.pad(image, 1, mode="edge")
            near = (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:])
            north, south, west, east = (other - image for other in near)
            g2 = (north**2 + south**2 + west**2 + east**2) / image**2
            flow = (north + south + west + east) / image
            q = (0.5 * g2 - flow**2 / 16) / (1 + 0.25 * flow) ** 2
            c = np.clip(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0, 1)
            c_south = np.concatenate([c[1:], c[-1:]])
            c_east = np.concatenate([c[:, 1:], c[:, -1:]], axis=1)
            divergence = c * north + c_south * south + c * west + c_east * east
            image = image + 0.25 * case.strength * divergence
        return (np.log(image) * 255).astype(np.float32)


def _neighbours(rows: int, cols: int) -> tuple[Array, ...]:
    """The rows above and below each row, and the columns left and right of each column."""
    row, col = np.arange(rows, dtype=np.int32), np.arange(cols, dtype=np.int32)
    return (
        np.maximum(row - 1, 0),
        np.minimum(row + 1, rows - 1).astype(np.int32),
        np.maximum(col - 1, 0),
        np.minimum(col + 1, cols - 1).astype(np.int32),
    )


def _speckle(total: float, squares: float, count: int) -> float:
    """How speckled the image is: the variance over the squared mean."""
    mean = total / count
    return float(np.float32((squares / count - mean**2) / mean**2))
