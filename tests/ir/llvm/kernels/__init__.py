"""Kernels that the project was not built around: what a stranger might bring.

Each is a workload with one small case, so that whatever loads, edits, translates or runs programs
can be tried on all of them: ``for workload in KERNELS``.
"""

from typing import ClassVar

import numpy as np

from gevolve.workload.base import Case
from gevolve.workload.kernel import KernelWorkload


class Kernel(KernelWorkload):
    """A workload of one small case."""

    search_cases: ClassVar[int] = 1
    held_out_cases: ClassVar[int] = 1

    def case(self, rng, size):
        return Case(**self.inputs(rng))

    def inputs(self, rng):
        raise NotImplementedError


def blocks(threads, block):
    return -(-threads // block)


class Transpose(Kernel):
    source = "transpose.cu"
    rounding = 0.0

    def inputs(self, rng):
        return {"matrix": rng.random((70, 45), np.float32)}

    def run(self, gpu, case):
        rows, cols = case.matrix.shape
        out = gpu.empty((cols, rows))
        grid = (blocks(cols, 32), blocks(rows, 32))
        gpu.launch("transpose", grid, (32, 8), gpu.array(case.matrix), out, rows, cols)
        return out.get()

    def reference(self, case):
        return case.matrix.T


class Scan(Kernel):
    source = "scan.cu"
    rounding = 0.0

    def inputs(self, rng):
        return {"values": rng.integers(0, 2**32, 1000, dtype=np.uint32)}

    def run(self, gpu, case):
        n, block = case.values.size, 64
        grid = blocks(n, 2 * block)
        values, out = gpu.array(case.values), gpu.empty(n, np.uint32)
        totals, scanned = gpu.empty(grid, np.uint32), gpu.empty(grid, np.uint32)
        gpu.launch("scan_blocks", grid, block, values, out, totals, n, shared=8 * block)
        gpu.launch("scan_blocks", 1, block, totals, scanned, 0, grid, shared=8 * block)
        gpu.launch("add_offsets", grid, block, out, scanned, n)
        return out.get()

    def reference(self, case):
        return np.cumsum(case.values, dtype=np.uint32)


class Nbody(Kernel):
    source = "nbody.cu"
    rounding = 5e-6

    setup = np.dtype([("step", "f4"), ("softening", "f4"), ("bodies", "i4")])

    def inputs(self, rng):
        return {
            "positions": rng.uniform(0.5, 1.5, (200, 4)).astype(np.float32),
            "velocities": rng.uniform(-1, 1, (200, 4)).astype(np.float32),
            "step": 0.01,
            "softening": 0.1,
        }

    def run(self, gpu, case):
        bodies = len(case.positions)
        moved, velocities = gpu.empty((bodies, 4)), gpu.array(case.velocities)
        setup = np.array((case.step, case.softening, bodies), self.setup)
        positions = gpu.array(case.positions)
        gpu.launch("advance_bodies", blocks(bodies, 128), 128, positions, moved, velocities, setup)
        return {"positions": moved.get(), "velocities": velocities.get()}

    def reference(self, case):
        place, mass = case.positions[:, :3].astype(np.float64), case.positions[:, 3]
        apart = place[None, :, :] - place[:, None, :]
        squared = (apart**2).sum(axis=2) + case.softening**2
        velocities = case.velocities.astype(np.float64)
        pull = (apart * (mass[None, :] * squared**-1.5)[:, :, None]).sum(axis=1)
        velocities[:, :3] += case.step * pull
        moved = np.column_stack((place + case.step * velocities[:, :3], mass))
        return {
            "positions": moved.astype(np.float32),
            "velocities": velocities.astype(np.float32),
        }


class BlackScholes(Kernel):
    source = "blackscholes.cu"
    rounding = 5e-6  # the fit is good to seven digits, and prices are differences of larger numbers

    def inputs(self, rng):
        n = 500
        return {
            "spot": rng.uniform(5, 30, n).astype(np.float32),
            "strike": rng.uniform(1, 100, n).astype(np.float32),
            "years": rng.uniform(0.25, 10, n).astype(np.float32),
            "rate": 0.02,
            "volatility": 0.3,
        }

    def run(self, gpu, case):
        n = case.spot.size
        given = [gpu.array(case[name]) for name in ("spot", "strike", "years")]
        exact, fitted = gpu.empty((n, 2)), gpu.empty((n, 2))
        rest = (case.rate, case.volatility, n)
        gpu.launch("price_options", 3, 96, *given, exact, fitted, *rest)
        return exact.get(), fitted.get()

    def reference(self, case):
        from math import erfc

        spot, strike, years = (case[k].astype(np.float64) for k in ("spot", "strike", "years"))
        root = case.volatility * np.sqrt(years)
        d1 = (np.log(spot / strike) + (case.rate + case.volatility**2 / 2) * years) / root
        normal = np.vectorize(lambda x: erfc(-x / np.sqrt(2)) / 2)
        discounted = strike * np.exp(-case.rate * years)
        call = spot * normal(d1) - discounted * normal(d1 - root)
        prices = np.column_stack((call, call + discounted - spot)).astype(np.float32)
        return prices, prices


class Mandelbrot(Kernel):
    source = "mandelbrot.cu"
    rounding = (
        0.002  # a point on the brink may leave a step sooner or later: fused or not, both right
    )

    def inputs(self, rng):
        return {"width": 61, "height": 37, "left": -2.1, "top": 0.93, "pitch": 0.05, "limit": 60}

    def run(self, gpu, case):
        out = gpu.empty((case.height, case.width), np.uint16)
        grid = (blocks(case.width, 16), blocks(case.height, 8))
        window = (case.width, case.height, case.left, case.top, case.pitch, case.limit)
        gpu.launch("mandelbrot", grid, (16, 8), out, *window)
        return out.get()

    def reference(self, case):
        x = case.left + case.pitch * np.arange(case.width)
        y = case.top - case.pitch * np.arange(case.height)
        c = x[None, :] + 1j * y[:, None]
        z = np.zeros_like(c)
        steps = np.zeros(c.shape, np.uint16)
        for _ in range(case.limit):
            inside = z.real**2 + z.imag**2 <= 4
            steps += inside
            z = np.where(inside, z * z + c, z)
        return steps


class Bitonic(Kernel):
    source = "bitonic.cu"
    rounding = 0.0

    def inputs(self, rng):
        n = 1024
        # Distinct keys: the sort is not stable.
        return {
            "keys": rng.permutation(n * 97)[:n].astype(np.uint32),
            "values": rng.integers(0, 1000, n, dtype=np.uint32),
        }

    def run(self, gpu, case):
        n, tile = case.keys.size, 256
        keys, values = gpu.array(case.keys), gpu.array(case.values)
        gpu.launch("sort_tiles", n // tile, tile // 2, keys, values, 2, tile)
        span = 2 * tile
        while span <= n:
            distance = span // 2
            while distance >= tile:
                gpu.launch("merge_step", n // 2 // 64, 64, keys, values, n // 2, span, distance)
                distance //= 2
            gpu.launch("sort_tiles", n // tile, tile // 2, keys, values, span, span)
            span *= 2
        return keys.get(), values.get()

    def reference(self, case):
        order = np.argsort(case.keys)
        return case.keys[order], case.values[order]


class Triangular(Kernel):
    source = "triangular.cu"
    rounding = 1e-11

    def inputs(self, rng):
        systems, n = 5, 21
        # A heavy diagonal, so that no pivoting is needed.
        matrices = rng.uniform(-1, 1, (systems, n, n)) + n * np.eye(n)
        return {"matrices": matrices, "sides": rng.uniform(1, 2, (systems, n))}

    def run(self, gpu, case):
        systems, n = case.sides.shape
        factors, sides = gpu.array(case.matrices), gpu.array(case.sides)
        flipped = gpu.array(case.sides)
        gpu.launch("lu_factor", systems, 32, factors, n)
        for triangle in (0, 1):  # L then U: the matrix
            gpu.launch("triangular_solve", systems, 32, factors, sides, n, triangle)
        for triangle in (3, 2):  # the transpose of U then that of L: the matrix transposed
            gpu.launch("triangular_solve", systems, 32, factors, flipped, n, triangle)
        return sides.get(), flipped.get()

    def reference(self, case):
        sides = case.sides[:, :, None]
        straight = np.linalg.solve(case.matrices, sides)
        flipped = np.linalg.solve(case.matrices.transpose(0, 2, 1), sides)
        return straight[:, :, 0], flipped[:, :, 0]


class Spmv(Kernel):
    source = "spmv.cu"
    rounding = 2e-6

    def inputs(self, rng):
        n = 150
        begin = np.concatenate(([0], np.cumsum(rng.integers(0, 20, n)))).astype(np.int32)
        return {
            "begin": begin,
            "column": rng.integers(0, n, begin[-1], dtype=np.int32),
            "value": rng.uniform(0.5, 1.5, begin[-1]),
            "x": rng.uniform(0.5, 1.5, n),
        }

    def run(self, gpu, case):
        n = case.x.size
        begin, column = gpu.array(case.begin), gpu.array(case.column)
        single = [gpu.array(case[name].astype(np.float32)) for name in ("value", "x")]
        double = [gpu.array(case[name]) for name in ("value", "x")]
        scalar, vector = gpu.empty(n), gpu.empty(n, np.float64)
        sums = gpu.empty(n, np.int64)
        gpu.launch("spmv_scalar", blocks(n, 64), 64, begin, column, *single, scalar, n)
        gpu.launch("spmv_vector", blocks(8 * n, 128), 128, begin, column, *double, vector, n)
        gpu.launch("row_checksum", blocks(n, 64), 64, begin, column, sums, n)
        return {"scalar": scalar.get(), "vector": vector.get(), "sums": sums.get()}

    def reference(self, case):
        n = case.x.size
        rows = np.repeat(np.arange(n), np.diff(case.begin))
        y = np.zeros(n)
        np.add.at(y, rows, case.value * case.x[case.column])
        sums = np.zeros(n, np.int64)
        with np.errstate(over="ignore"):
            for row, column in zip(rows, case.column, strict=True):
                sums[row] = sums[row] * 31 + column + (row if row % 3 == 0 else -row)
        return {"scalar": y.astype(np.float32), "vector": y, "sums": sums}


class Kmeans(Kernel):
    source = "kmeans.cu"
    rounding = 5e-6

    def inputs(self, rng):
        centres = rng.uniform(-5, 5, (7, 3)).astype(np.float32)
        points = centres[rng.integers(0, 7, 500)] + rng.normal(0, 0.3, (500, 3))
        return {
            "points": np.ascontiguousarray(points.T.astype(np.float32)),
            "centres": centres + rng.uniform(-0.5, 0.5, (7, 3)).astype(np.float32),
        }

    def run(self, gpu, case):
        n, count = case.points.shape[1], len(case.centres)
        points, cluster = gpu.array(case.points), gpu.array(np.zeros(n, np.int16))
        sums, members = gpu.zeros((count, 3)), gpu.zeros(count, np.int32)
        constant = np.zeros((16, 3), np.float32)
        constant[:count] = case.centres
        gpu.symbol("centres", np.float32).set(constant.ravel())
        gpu.symbol("moved_points", np.uint32).fill(0)
        gpu.launch("assign", blocks(n, 128), 128, points, cluster, n, count)
        gpu.launch("accumulate", blocks(n, 128), 128, points, cluster, sums, members, n, count)
        return {
            "cluster": cluster.get(),
            "sums": sums.get(),
            "members": members.get(),
            "moved": gpu.symbol("moved_points", np.uint32).get(),
        }

    def reference(self, case):
        points = case.points.T.astype(np.float64)
        cluster = ((points[:, None] - case.centres) ** 2).sum(axis=2).argmin(axis=1)
        sums = np.zeros((len(case.centres), 3))
        np.add.at(sums, cluster, points)
        return {
            "cluster": cluster.astype(np.int16),
            "sums": sums.astype(np.float32),
            "members": np.bincount(cluster, minlength=len(case.centres)).astype(np.int32),
            "moved": np.array([np.count_nonzero(cluster)], np.uint32),
        }


KERNELS = tuple(
    kind()
    for kind in (
        Transpose,
        Scan,
        Nbody,
        BlackScholes,
        Mandelbrot,
        Bitonic,
        Triangular,
        Spmv,
        Kmeans,
    )
)
