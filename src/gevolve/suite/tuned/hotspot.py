"""The temperature of a chip, by a 2-D stencil in shared-memory tiles."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

TILE = 16
AMBIENT = np.float32(25)


class Hotspot(KernelWorkload):
    """A grid of cells that heat up, and exchange heat with their neighbours and the air."""

    source = "hotspot.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        steps = int(rng.integers(1, 5))
        span = {"search": (16, 44), "held-out": (24, 60), "large": (300, 500)}[size]
        rows, cols = draw(rng, span), draw(rng, span)
        return Case(
            temperature=rng.uniform(40, 90, (rows, cols)).astype(np.float32),
            power=rng.uniform(0, 20, (rows, cols)).astype(np.float32),
            along_x=rng.uniform(1, 2),
            along_y=rng.uniform(1, 2),
            to_air=0.05,
            capacity=0.0625,
            launches=4 if size == "large" else 2,
            steps=steps,
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        rows, cols = case.temperature.shape
        power = gpu.array(case.power)
        before = gpu.array(case.temperature)
        after = gpu.empty((rows, cols))
        inner = TILE - 2 * case.steps
        grid = (-(-cols // inner), -(-rows // inner))
        material = (case.along_x, case.along_y, case.to_air, case.capacity)
        for _ in range(case.launches):
            gpu.launch(
                "hotspot",
                grid,
                (TILE, TILE),
                power,
                before,
                after,
                rows,
                cols,
                case.steps,
                *material,
            )
            before, after = after, before
        return before.get()

    def reference(self, case: Case) -> Array:
        now = case.temperature.astype(np.float64)
        for _ in range(case.launches * case.steps):
            padded = np.pad(now, 1, mode="edge")
            vertical = padded[:-2, 1:-1] + padded[2:, 1:-1] - 2 * now
            horizontal = padded[1:-1, :-2] + padded[1:-1, 2:] - 2 * now
            flow = case.along_y * vertical + case.along_x * horizontal
            now = now + case.capacity * (case.power + flow + case.to_air * (AMBIENT - now))
        return now.astype(np.float32)
