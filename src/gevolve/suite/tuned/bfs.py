"""Breadth-first search in a graph."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 128
UNREACHED = -1


class Bfs(KernelWorkload):
    """The distance of each node from a source, level by level."""

    source = "bfs.cu"
    rounding = 0.0  # distances are integers

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        nodes = draw(
            rng, {"search": (200, 2_000), "held-out": (300, 2500), "large": (20_000, 40_000)}[size]
        )
        # Degrees from zero to seven: a few nodes are never reached, and the levels number ten or so.
        degree = rng.integers(0, 8, nodes)
        begin = np.concatenate(([0], np.cumsum(degree))).astype(np.int32)
        return Case(
            begin=begin,
            neighbours=rng.integers(0, nodes, begin[-1], dtype=np.int32),
            source=int(np.argmax(degree)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        nodes = case.begin.size - 1
        start = np.zeros(nodes, np.uint8)
        start[case.source] = 1
        begin, neighbours = gpu.array(case.begin), gpu.array(case.neighbours)
        frontier, visited, reached = gpu.array(start), gpu.array(start), gpu.zeros(nodes, np.int32)
        distance = gpu.array(np.where(start, 0, UNREACHED).astype(np.int32))
        more = gpu.zeros(1, np.int32)
        graph, blocks = (begin, neighbours), -(-nodes // BLOCK)
        while True:
            more.fill(0)
            gpu.launch("expand", blocks, BLOCK, *graph, frontier, reached, visited, distance, nodes)
            gpu.launch("advance", blocks, BLOCK, frontier, reached, visited, more, nodes)
            if not more.get()[0]:
                return distance.get()

    def reference(self, case: Case) -> Array:
        # Relax every edge at once until nothing changes: slower than a frontier, and unlike it.
        nodes: int = case.begin.size - 1
        tails = np.repeat(np.arange(nodes), case.begin[1:] - case.begin[:-1])
        distance = np.full(nodes, nodes)
        distance[case.source] = 0
        while True:
            closer = distance.copy()
            np.minimum.at(closer, case.neighbours, distance[tails] + 1)
            if np.array_equal(closer, distance):
                return np.where(distance < nodes, distance, UNREACHED).astype(np.int32)
            distance = closer
