"""The temperature of a chip of several layers."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = (64, 4)
AMBIENT = 80.0


class Hotspot3d(KernelWorkload):
    """Layers of cells that heat up, and exchange heat with six neighbours."""

    source = "hotspot3d.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (24, 70), "held-out": (30, 80), "large": (200, 260)}[size]
        ny, nx = draw(rng, span), draw(rng, span)
        nz = int(rng.integers(3, 9))
        return Case(
            temperature=rng.uniform(320, 345, (nz, ny, nx)).astype(np.float32),
            power=rng.uniform(0, 5, (nz, ny, nx)).astype(np.float32),
            weights=rng.uniform(0.02, 0.08, 3).astype(np.float32),
            step=float(np.float32(rng.uniform(0.05, 0.2))),
            steps=int(rng.integers(1, 4)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        nz, ny, nx = case.temperature.shape
        power, before = gpu.array(case.power), gpu.array(case.temperature)
        after = gpu.empty((nz, ny, nx))
        grid = (-(-nx // BLOCK[0]), -(-ny // BLOCK[1]))
        ce, cn, ct = case.weights
        centre = _centre(case.weights)
        for _ in range(case.steps):
            gpu.launch(
                "hotspot3d",
                grid,
                BLOCK,
                power,
                before,
                after,
                case.step,
                nx,
                ny,
                nz,
                ce,
                ce,
                cn,
                cn,
                ct,
                ct,
                centre,
            )
            before, after = after, before
        return before.get()

    def reference(self, case: Case) -> Array:
        now = case.temperature.astype(np.float64)
        ce, cn, ct = (float(w) for w in case.weights)
        for _ in range(case.steps):
            padded = np.pad(now, 1, mode="edge")
            inner = slice(1, -1)
            around = ce * (padded[inner, inner, :-2] + padded[inner, inner, 2:])
            around += cn * (padded[inner, :-2, inner] + padded[inner, 2:, inner])
            around += ct * (padded[:-2, inner, inner] + padded[2:, inner, inner])
            now = _centre(case.weights) * now + around + case.step * case.power + ct * AMBIENT
        return now.astype(np.float32)


def _centre(weights: Array) -> float:
    """A cell's own weight: what its neighbours and the air leave of 1."""
    ce, cn, ct = (float(w) for w in weights)
    return float(np.float32(1 - 2 * ce - 2 * cn - 3 * ct))
