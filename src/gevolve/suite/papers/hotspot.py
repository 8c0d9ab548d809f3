"""The temperature of a chip, several time steps a launch in tiles with borders."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

TILE = 16
AMBIENT = 80.0


class Hotspot(KernelWorkload):
    """A grid of cells that heat up, and exchange heat with their neighbours and the air."""

    source = "hotspot.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (20, 50), "held-out": (24, 60), "large": (300, 500)}[size]
        rows, cols = draw(rng, span), draw(rng, span)
        return Case(
            temperature=rng.uniform(320, 345, (rows, cols)).astype(np.float32),
            power=rng.uniform(0, 5, (rows, cols)).astype(np.float32),
            resistance=rng.uniform(2, 6, 2),
            to_air=rng.uniform(20, 60),
            capacity=rng.uniform(2, 5),
            step=rng.uniform(0.5, 1),
            height=int(rng.integers(1, 5)),
            launches=int(rng.integers(1, 4)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        rows, cols = case.temperature.shape
        power, before = gpu.array(case.power), gpu.array(case.temperature)
        after = gpu.empty((rows, cols))
        border = case.height
        inner = TILE - 2 * border
        grid = (-(-cols // inner), -(-rows // inner))
        rx, ry = case.resistance
        for _ in range(case.launches):
            gpu.launch(
                "hotspot",
                grid,
                (TILE, TILE),
                case.height,
                power,
                before,
                after,
                cols,
                rows,
                border,
                border,
                case.capacity,
                rx,
                ry,
                case.to_air,
                case.step,
            )
            before, after = after, before
        return before.get()

    def reference(self, case: Case) -> Array:
        now = case.temperature.astype(np.float64)
        rx, ry = case.resistance
        for _ in range(case.launches * case.height):
            padded = np.pad(now, 1, mode="edge")
            vertical = (padded[:-2, 1:-1] + padded[2:, 1:-1] - 2 * now) / ry
            horizontal = (padded[1:-1, :-2] + padded[1:-1, 2:] - 2 * now) / rx
            change = case.power + vertical + horizontal + (AMBIENT - now) / case.to_air
            now = now + case.step / case.capacity * change
        return now.astype(np.float32)
