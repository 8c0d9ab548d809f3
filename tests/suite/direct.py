"""The suite's computations once more, one element at a time, with a tiny case for each.

They are as plain as can be, so that they can be read and believed; the NumPy references, which
judge every variant, are compared with them.
"""

import numpy as np

from gevolve.workload.base import Case


def hotspot(case):
    rows, cols = case.temperature.shape
    now = case.temperature.tolist()
    for _ in range(case.launches * case.steps):
        following = [row[:] for row in now]
        for r in range(rows):
            for c in range(cols):
                here = now[r][c]
                flow = 0.0
                for weight, y, x in (
                    (case.along_y, r - 1, c),
                    (case.along_y, r + 1, c),
                    (case.along_x, r, c - 1),
                    (case.along_x, r, c + 1),
                ):
                    if 0 <= y < rows and 0 <= x < cols:
                        flow += weight * (now[y][x] - here)
                gained = float(case.power[r, c]) + flow + case.to_air * (25.0 - here)
                following[r][c] = here + case.capacity * gained
        now = following
    return np.array(now, np.float32)


def pathfinder(case):
    rows, cols = case.wall.shape

    def cheapest(row, col):
        cost = int(case.wall[row, col])
        if row == 0:
            return cost
        steps = [c for c in (col - 1, col, col + 1) if 0 <= c < cols]
        return cost + min(cheapest(row - 1, c) for c in steps)

    return np.array([cheapest(rows - 1, col) for col in range(cols)], np.int32)


def gemm(case):
    (m, k), n = case.a.shape, case.b.shape[1]
    out = np.empty((m, n), np.float32)
    for i in range(m):
        for j in range(n):
            product = sum(float(case.a[i, p]) * float(case.b[p, j]) for p in range(k))
            out[i, j] = case.alpha * product + case.beta * float(case.c[i, j])
    return out


def reduction(case):
    total = 0.0
    for value in case.values.tolist():
        total += value
    return np.array([total], np.float32)


def histogram(case):
    counts = [0] * 256
    for byte in case.data.tobytes():
        counts[byte] += 1
    return np.array(counts, np.uint32)


def bfs(case):
    distance = {case.source: 0}
    queue = [case.source]
    for node in queue:
        for edge in range(case.begin[node], case.begin[node + 1]):
            neighbour = int(case.neighbours[edge])
            if neighbour not in distance:
                distance[neighbour] = distance[node] + 1
                queue.append(neighbour)
    return np.array([distance.get(node, -1) for node in range(case.begin.size - 1)], np.int32)


def tiny(name):
    """A case small enough for loops in Python, smaller than one block of the kernel."""
    rng = np.random.default_rng(3)
    return {
        "hotspot": lambda: Case(
            temperature=rng.uniform(40, 90, (5, 7)).astype(np.float32),
            power=rng.uniform(0, 20, (5, 7)).astype(np.float32),
            along_x=1.25,
            along_y=1.75,
            to_air=0.05,
            capacity=0.0625,
            launches=2,
            steps=2,
        ),
        "pathfinder": lambda: Case(wall=rng.integers(0, 10, (6, 8), dtype=np.int32), height=3),
        "gemm": lambda: Case(
            a=rng.random((3, 5), np.float32),
            b=rng.random((5, 4), np.float32),
            c=rng.random((3, 4), np.float32),
            alpha=1.5,
            beta=-0.5,
        ),
        "reduction": lambda: Case(values=rng.random(77, np.float32), blocks=2),
        "histogram": lambda: Case(data=rng.integers(0, 256, 999).astype(np.uint8), blocks=2),
        "bfs": lambda: Case(
            begin=np.array([0, 2, 3, 3, 5, 6, 6], np.int32),
            neighbours=np.array([1, 3, 2, 4, 0, 1], np.int32),
            source=0,
        ),
    }[name]()
