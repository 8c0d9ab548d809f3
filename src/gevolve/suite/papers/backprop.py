"""A layer of a neural network: forward pass and weight update."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

UNITS = 16
ROWS = 16
RATE = 0.3
MOMENTUM = 0.3


class Backprop(KernelWorkload):
    """Hidden units from inputs and weights; weights from the errors of the hidden units."""

    source = "backprop.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        blocks = draw(rng, {"search": (8, 40), "held-out": (10, 50), "large": (1000, 2000)}[size])
        inputs = blocks * ROWS
        scale = rng.uniform(0.05, 0.5)
        return Case(
            input=rng.random(inputs + 1, np.float32),
            weights=(scale * rng.standard_normal((inputs + 1, UNITS + 1))).astype(np.float32),
            previous=(0.01 * rng.standard_normal((inputs + 1, UNITS + 1))).astype(np.float32),
            target=rng.random(UNITS),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        blocks = (case.input.size - 1) // ROWS
        grid, block = (1, blocks), (UNITS, ROWS)
        inputs, weights = gpu.array(case.input), gpu.array(case.weights)
        previous = gpu.array(case.previous)
        partial = gpu.empty((blocks, UNITS))
        gpu.launch("forward", grid, block, inputs, weights, partial)
        hidden = _squashed(partial.get().sum(axis=0, dtype=np.float64) + case.weights[0, 1:])
        delta = gpu.array(_errors(hidden, case.target))
        gpu.launch("adjust", grid, block, delta, inputs, weights, previous)
        return {"hidden": hidden, "weights": weights.get(), "previous": previous.get()}

    def reference(self, case: Case) -> dict[str, Array]:
        inputs = np.concatenate(([1.0], case.input[1:]))
        weights = case.weights.astype(np.float64)
        hidden = _squashed(inputs @ weights[:, 1:])
        step = RATE * np.outer(inputs, _errors(hidden, case.target)[1:])
        step = step + MOMENTUM * case.previous[:, 1:]
        previous = case.previous.copy()
        weights[:, 1:] += step
        previous[:, 1:] = step
        return {"hidden": hidden, "weights": weights.astype(np.float32), "previous": previous}


def _squashed(sums: Array) -> Array:
    return 1 / (1 + np.exp(-sums))


def _errors(hidden: Array, target: Array) -> Array:
    errors = hidden * (1 - hidden) * (target - hidden)
    return np.concatenate(([0.0], errors)).astype(np.float32)
