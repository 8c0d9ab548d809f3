"""Breadth-first search in a graph, level by level."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 256
UNREACHED = -1


class Bfs(KernelWorkload):
    """The distance of each node from a source."""

    source = "bfs.cu"
    rounding = 0.0  # distances are integers

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (400, 2_000), "held-out": (500, 2_500), "large": (20_000, 40_000)}[size]
        nodes = draw(rng, span)
        edges = rng.integers(0, int(rng.integers(6, 10)), nodes)
        first = np.cumsum(edges) - edges
        return Case(
            nodes=np.stack([first, edges], axis=1).astype(np.int32),
            edges=rng.integers(0, nodes, int(edges.sum()), dtype=np.int32),
            source=int(np.argmax(edges)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        count = len(case.nodes)
        start = np.zeros(count, np.bool_)
        start[case.source] = True
        nodes, edges = gpu.array(case.nodes), gpu.array(case.edges)
        frontier, visited, reached = gpu.array(start), gpu.array(start), gpu.zeros(count, np.int32)
        cost = gpu.array(np.where(start, 0, UNREACHED).astype(np.int32))
        over = gpu.zeros(1, np.int32)
        blocks = -(-count // BLOCK)
        while True:
            over.fill(0)
            gpu.launch(
                "visit", blocks, BLOCK, nodes, edges, frontier, reached, visited, cost, count
            )
            gpu.launch("advance", blocks, BLOCK, frontier, reached, visited, over, count)
            if not over.get()[0]:
                return cost.get()

    def reference(self, case: Case) -> Array:
        count = len(case.nodes)
        tails = np.repeat(np.arange(count), case.nodes[:, 1])
        distance = np.full(count, count)
        distance[case.source] = 0
        while True:
            closer = distance.copy()
            np.minimum.at(closer, case.edges, distance[tails] + 1)
            if np.array_equal(closer, distance):
                return np.where(distance < count, distance, UNREACHED).astype(np.int32)
            distance = closer
