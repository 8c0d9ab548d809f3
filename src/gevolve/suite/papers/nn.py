"""The nearest neighbours of a place among many records."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 256


class Nn(KernelWorkload):
    """Hurricanes on a map: the distance of each from a place, and which are nearest."""

    source = "nn.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (3_000, 12_000), "held-out": (4_000, 15_000), "large": (3e5, 4e5)}[size]
        count = draw(rng, (int(span[0]), int(span[1])))
        low, high = np.array([7.0, -80.0]), np.array([63.0, 10.0])
        return Case(
            places=rng.uniform(low, high, (count, 2)).astype(np.float32),
            lat=float(np.float32(rng.uniform(10, 60))),
            lng=float(np.float32(rng.uniform(-70, 0))),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        count = len(case.places)
        distance = gpu.empty(count)
        blocks = -(-count // BLOCK)
        gpu.launch(
            "distances", blocks, BLOCK, gpu.array(case.places), distance, count, case.lat, case.lng
        )
        return distance.get()

    def reference(self, case: Case) -> Array:
        apart = case.places.astype(np.float64) - [case.lat, case.lng]
        return np.hypot(*apart.T).astype(np.float32)
