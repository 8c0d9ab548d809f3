"""Look-ups of keys and ranges in a B+ tree."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

ORDER = 64
LARGEST = 2**31 - 1


class Btree(KernelWorkload):
    """A tree whose nodes hold up to 64 keys, and many queries at once."""

    source = "btree.cu"
    rounding = 0.0  # integers

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        records = draw(
            rng,
            {"search": (1_000, 6_000), "held-out": (1_500, 8_000), "large": (100_000, 200_000)}[
                size
            ],
        )
        queries = draw(
            rng, {"search": (40, 100), "held-out": (50, 120), "large": (2_000, 4_000)}[size]
        )
        fill = int(rng.integers(ORDER // 2, ORDER))
        step = int(rng.integers(2, 5))
        keys = np.cumsum(rng.integers(1, step, records), dtype=np.int32)
        first = rng.integers(0, records, queries)
        last = np.minimum(first + rng.integers(0, 200, queries), records - 1)
        return Case(
            keys=keys,
            fill=fill,
            values=rng.integers(0, 1 << 20, records, dtype=np.int32),
            wanted=keys[rng.integers(0, records, queries)],
            start=keys[first],
            end=keys[last],
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        nodes, height, root = _tree(case.keys, case.fill)
        queries = case.wanted.size
        at_root = np.full(queries, root, np.int32)
        tree = gpu.array(nodes)
        records = gpu.array(case.values)
        answers = gpu.array(np.full(queries, -1, np.int32))
        current, offset = gpu.array(at_root), gpu.array(at_root)
        gpu.launch(
            "find_key",
            queries,
            ORDER,
            height,
            tree,
            records,
            current,
            offset,
            gpu.array(case.wanted),
            answers,
        )
        start, length = gpu.zeros(queries, np.int32), gpu.zeros(queries, np.int32)
        gpu.launch(
            "find_range",
            queries,
            ORDER,
            height,
            tree,
            *(gpu.array(at_root) for _ in range(4)),
            gpu.array(case.start),
            gpu.array(case.end),
            start,
            length,
        )
        return {"answers": answers.get(), "start": start.get(), "length": length.get()}

    def reference(self, case: Case) -> dict[str, Array]:
        keys: Array = case.keys
        start, end = _found(keys, case.start), _found(keys, case.end)
        return {
            "answers": case.values[_found(keys, case.wanted)],
            "start": start,
            "length": end - start + 1,
        }


def _found(keys: Array, wanted: Array) -> Array:
    return np.searchsorted(keys, wanted).astype(np.int32)


def _tree(keys: Array, fill: int) -> tuple[Array, int, int]:
    """The nodes of a tree over sorted keys, leaves first, as the kernels' struct has them."""
    nodes: list[Array] = []
    level, children, leaf = keys, np.arange(keys.size), True
    height = 0
    while True:
        heads: list[int] = []
        first = len(nodes)
        for begin in range(0, level.size, fill):
            part, below = level[begin : begin + fill], children[begin : begin + fill]
            node = np.zeros(2 * (ORDER + 1) + 2, np.int32)
            node[: part.size] = below
            node[ORDER + 1 : 2 * ORDER + 2] = LARGEST
            node[ORDER + 1 : ORDER + 1 + part.size] = part
            node[-2:] = leaf, part.size
            heads.append(int(part[0]))
            nodes.append(node)
        if len(heads) == 1:
            return np.stack(nodes), height, len(nodes) - 1
        level, children, leaf = np.array(heads), np.arange(first, len(nodes)), False
        height += 1
