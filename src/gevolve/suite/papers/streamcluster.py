"""Clustering of a stream: what a new centre would save, point by point."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 256
POINT = np.dtype([("weight", "f4"), ("gap", "i4"), ("assign", "i8"), ("cost", "f4"), ("end", "i4")])


class Streamcluster(KernelWorkload):
    """Points with weights and centres, and one candidate for a new centre after another."""

    source = "streamcluster.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (300, 1_200), "held-out": (400, 1_500), "large": (15_000, 25_000)}[size]
        points, dimensions = draw(rng, span), int(rng.integers(8, 33))
        centres = int(rng.integers(3, 9))
        chosen = rng.choice(points, centres + 2, replace=False)
        return Case(
            coord=rng.random((points, dimensions), np.float32),
            weight=rng.uniform(0.5, 2, points).astype(np.float32),
            centres=np.sort(chosen[2:]),
            candidates=chosen[:2],
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        points, dimensions = case.coord.shape
        k = case.centres.size
        assign, cost = _assigned(case)
        packed = np.zeros(points, POINT)
        packed["weight"], packed["assign"], packed["cost"] = case.weight, assign, cost
        table = np.zeros(points, np.int32)
        table[case.centres] = np.arange(k)
        coord, given = gpu.array(case.coord.T), gpu.array(packed.view(np.uint8))
        places = gpu.array(table)
        found: dict[str, Array] = {}
        for number, x in enumerate(case.candidates):
            work, switches = gpu.zeros((points, k + 1)), gpu.zeros(points, np.bool_)
            gpu.launch(
                "gains",
                -(-points // BLOCK),
                BLOCK,
                points,
                dimensions,
                int(x),
                given,
                k,
                k + 1,
                coord,
                work,
                places,
                switches,
            )
            found[f"work{number}"], found[f"switches{number}"] = work.get(), switches.get()
        return found

    def reference(self, case: Case) -> dict[str, Array]:
        assign, cost = _assigned(case)
        place = np.searchsorted(case.centres, assign)
        rows = np.arange(len(case.coord))
        found: dict[str, Array] = {}
        for number, x in enumerate(case.candidates):
            apart = case.coord.astype(np.float64) - case.coord[x]
            new = (apart**2).sum(axis=1) * case.weight
            switches = new < cost
            work = np.zeros((rows.size, case.centres.size + 1), np.float32)
            work[rows[switches], -1] = (new - cost)[switches]
            work[rows[~switches], place[~switches]] = (cost - new)[~switches]
            found[f"work{number}"], found[f"switches{number}"] = work, switches
        return found


def _assigned(case: Case) -> tuple[Array, Array]:
    """The nearest centre of each point, and what it costs to be there."""
    apart = case.coord[:, None].astype(np.float64) - case.coord[case.centres][None]
    squared = (apart**2).sum(axis=2)
    nearest = np.argmin(squared, axis=1)
    cost = squared[np.arange(len(squared)), nearest] * case.weight
    return case.centres[nearest], cost.astype(np.float32)
