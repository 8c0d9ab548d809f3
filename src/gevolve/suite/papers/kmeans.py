"""Clustering by k-means: each point to its nearest centre, the centres by the host."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 128


class Kmeans(KernelWorkload):
    """Points in clouds, and centres that wander into them."""

    source = "kmeans.cu"
    rounding = 0.0  # which centre is nearest is an integer

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (300, 1200), "held-out": (400, 1500), "large": (15_000, 25_000)}[size]
        points, features = draw(rng, span), int(rng.integers(4, 13))
        clusters = int(rng.integers(3, 7))
        middles = 10 * rng.standard_normal((clusters, features))
        cloud = middles[rng.integers(0, clusters, points)]
        cloud = cloud + rng.standard_normal((points, features))
        return Case(
            points=cloud.astype(np.float32),
            centres=cloud[rng.choice(points, clusters, replace=False)].astype(np.float32),
            rounds=int(rng.integers(1, 4)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        points, features = case.points.shape
        blocks = -(-points // BLOCK)
        inverted = gpu.empty((features, points))
        gpu.launch("invert", blocks, BLOCK, gpu.array(case.points), inverted, points, features)
        membership = gpu.empty(points, np.int32)
        centres = case.centres
        for _ in range(case.rounds):
            gpu.launch(
                "assign",
                blocks,
                BLOCK,
                inverted,
                features,
                points,
                len(centres),
                membership,
                gpu.array(centres),
            )
            centres = _moved(centres, case.points, membership.get())
        return {"membership": membership.get(), "centres": centres}

    def reference(self, case: Case) -> dict[str, Array]:
        centres, membership = case.centres, np.zeros(len(case.points), np.int32)
        for _ in range(case.rounds):
            apart = case.points[:, None].astype(np.float64) - centres[None].astype(np.float64)
            membership = np.argmin((apart**2).sum(axis=2), axis=1).astype(np.int32)
            centres = _moved(centres, case.points, membership)
        return {"membership": membership, "centres": centres}


def _moved(centres: Array, points: Array, membership: Array) -> Array:
    """Each centre in the middle of its points; one without points stays."""
    moved = centres.astype(np.float64)
    for index in range(len(centres)):
        mine = points[membership == index]
        if mine.size:
            moved[index] = mine.mean(axis=0, dtype=np.float64)
    return moved.astype(np.float32)
