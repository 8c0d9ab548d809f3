"""Stars that attract each other, all pairs."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 64
SOFTENING = 1e-3


class Nbody(KernelWorkload):
    """Positions and velocities, a few steps on."""

    source = "nbody.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (64, 160), "held-out": (80, 200), "large": (800, 1_200)}[size]
        count = draw(rng, span)
        return Case(
            position=rng.standard_normal((3, count)).astype(np.float32),
            velocity=(0.1 * rng.standard_normal((3, count))).astype(np.float32),
            mass=rng.uniform(0.5, 2, count).astype(np.float32),
            step=float(np.float32(rng.uniform(1e-4, 1e-3))),
            steps=int(rng.integers(1, 3)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        count = case.mass.size
        blocks = -(-count // BLOCK)
        position = [gpu.array(axis) for axis in case.position]
        velocity = [gpu.array(axis) for axis in case.velocity]
        mass = gpu.array(case.mass)
        for _ in range(case.steps):
            gpu.launch("accelerate", blocks, BLOCK, *position, mass, *velocity, count, case.step)
            gpu.launch("move", blocks, BLOCK, *position, *velocity, count, case.step)
        return {
            "position": np.stack([axis.get() for axis in position]),
            "velocity": np.stack([axis.get() for axis in velocity]),
        }

    def reference(self, case: Case) -> dict[str, Array]:
        position, velocity = case.position.astype(np.float64), case.velocity.astype(np.float64)
        for _ in range(case.steps):
            apart = position[:, None, :] - position[:, :, None]
            squared = (apart**2).sum(axis=0) + SOFTENING
            velocity = velocity + case.step * (apart * (case.mass / squared**1.5)).sum(axis=2)
            position = position + case.step * velocity
        return {
            "position": position.astype(np.float32),
            "velocity": velocity.astype(np.float32),
        }
