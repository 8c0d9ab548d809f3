"""Forces between particles in a box and in the boxes beside it."""

import itertools
from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

PARTICLES = 32
THREADS = 32


class Lavamd(KernelWorkload):
    """A cube of boxes, each with as many particles, in double precision."""

    source = "lavamd.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        low, high = {"search": (1, 4), "held-out": (2, 4), "large": (4, 6)}[size]
        shape = tuple(int(n) for n in rng.integers(low, high, 3))
        count = int(np.prod(shape)) * PARTICLES
        return Case(
            shape=np.array(shape),
            position=rng.uniform(0.1, 1.0, (count, 4)),
            charge=rng.uniform(0.1, 1.0, count),
            alpha=rng.uniform(0.3, 0.7),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        boxes = _boxes(case.shape)
        force = gpu.zeros(case.position.shape, np.float64)
        gpu.launch(
            "forces",
            len(boxes),
            THREADS,
            case.alpha,
            len(boxes),
            gpu.array(boxes),
            gpu.array(case.position),
            gpu.array(case.charge),
            force,
        )
        return force.get()

    def reference(self, case: Case) -> Array:
        position = case.position.reshape(-1, PARTICLES, 4)
        charge = case.charge.reshape(-1, PARTICLES)
        force = np.zeros_like(position)
        for home, row in enumerate(_boxes(case.shape)):
            for other in (home, *row[2 : 2 + row[1]]):
                mine, theirs = position[home][:, None], position[other][None]
                dot = (mine[..., 1:] * theirs[..., 1:]).sum(axis=2)
                near = np.exp(-2 * case.alpha**2 * (mine[..., 0] + theirs[..., 0] - dot))
                weight = charge[other] * near
                apart = mine[..., 1:] - theirs[..., 1:]
                force[home, :, 0] += weight.sum(axis=1)
                force[home, :, 1:] += (2 * weight[..., None] * apart).sum(axis=1)
        return force.reshape(-1, 4)


def _boxes(shape: Array) -> Array:
    """For each box where its particles begin, how many boxes are beside it, and which."""
    cells = list(itertools.product(*(range(n) for n in shape)))
    number = {cell: index for index, cell in enumerate(cells)}
    rows = np.zeros((len(cells), 28), np.int32)
    for index, cell in enumerate(cells):
        steps = itertools.product((-1, 0, 1), repeat=3)
        near = [
            tuple(c + s for c, s in zip(cell, step, strict=True)) for step in steps if any(step)
        ]
        beside = [number[other] for other in near if other in number]
        rows[index, :2] = index * PARTICLES, len(beside)
        rows[index, 2 : 2 + len(beside)] = beside
    return rows
