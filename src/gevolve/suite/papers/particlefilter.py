"""A target followed through noisy images by a particle filter."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 128
RADIUS = 3


class Particlefilter(KernelWorkload):
    """Weights of the guesses of one frame, and the guesses that are drawn from them."""

    source = "particlefilter.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (150, 500), "held-out": (200, 600), "large": (3_000, 5_000)}[size]
        particles = draw(rng, span)
        side = draw(rng, {"search": (32, 64), "held-out": (36, 72), "large": (128, 160)}[size])
        image = np.clip(rng.normal(100, 8, (side, side)), 0, 255)
        x, y = rng.uniform(0.3, 0.7, 2) * side
        rows, cols = np.mgrid[:side, :side]
        image[(cols - x) ** 2 + (rows - y) ** 2 <= RADIUS**2] = 228
        return Case(
            image=image.astype(np.uint8),
            xs=x + rng.normal(0, 4, particles),
            ys=y + rng.normal(0, 4, particles),
            offset=rng.random(),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        particles = case.xs.size
        rows, cols = case.image.shape
        blocks = -(-particles // BLOCK)
        disk_x, disk_y = _disk()
        xs, ys = gpu.array(case.xs), gpu.array(case.ys)
        weights = gpu.array(np.full(particles, 1 / particles))
        gpu.launch(
            "likelihood",
            blocks,
            BLOCK,
            xs,
            ys,
            gpu.array(disk_x),
            gpu.array(disk_y),
            disk_x.size,
            gpu.array(case.image),
            rows,
            cols,
            weights,
            particles,
        )
        partial, u = gpu.empty(blocks, np.float64), gpu.empty(particles, np.float64)
        start = case.offset / particles
        gpu.launch("sum", blocks, BLOCK, weights, partial, particles)
        gpu.launch("normalize", blocks, BLOCK, weights, partial, blocks, u, start, particles)
        shares = weights.get()
        cdf = gpu.array(np.cumsum(shares))
        new_x, new_y = gpu.empty(particles, np.float64), gpu.empty(particles, np.float64)
        gpu.launch("find_index", blocks, BLOCK, xs, ys, cdf, u, new_x, new_y, particles)
        return {"shares": shares, "x": new_x.get(), "y": new_y.get()}

    def reference(self, case: Case) -> dict[str, Array]:
        particles: int = case.xs.size
        disk_x, disk_y = _disk()
        x = _whole(case.xs)[:, None] + disk_x
        y = _whole(case.ys)[:, None] + disk_y
        index = np.abs(y * case.image.shape[1] + x)
        index[index >= case.image.size] = 0
        pixels = case.image.ravel()[index].astype(np.float64)
        fit = ((pixels - 100) ** 2 - (pixels - 228) ** 2).sum(axis=1) / 50 / disk_x.size
        weights = np.exp(fit) / particles
        shares = weights / weights.sum()
        marks = float(case.offset) / particles + np.arange(particles) / particles
        found = np.minimum(np.searchsorted(np.cumsum(shares), marks), particles - 1)
        return {"shares": shares, "x": case.xs[found], "y": case.ys[found]}


def _disk() -> tuple[Array, Array]:
    """The pixels of a disk, as offsets from its middle."""
    y, x = np.mgrid[-RADIUS : RADIUS + 1, -RADIUS : RADIUS + 1]
    inside = x**2 + y**2 <= RADIUS**2
    return x[inside].astype(np.int32), y[inside].astype(np.int32)


def _whole(values: Array) -> Array:
    whole = np.trunc(values)
    return np.where(values - whole < 0.5, whole, whole + 1).astype(int)
