"""An agent-based model of an infection in lung tissue."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 128
STATES = 5


class Lung(KernelWorkload):
    """Virus, tissue and T cells on a grid, some steps on from a few infected places."""

    source = "lung.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (16, 36), "held-out": (20, 42), "large": (120, 160)}[size]
        height, width = draw(rng, span), draw(rng, span)
        virus = np.where(rng.random((height, width)) < 0.03, rng.uniform(5, 20), 0)
        return Case(
            virus=virus.astype(np.float32),
            tcells=rng.poisson(0.05, (height, width)).astype(np.int32),
            spread=float(np.float32(rng.uniform(0.1, 0.4))),
            decay=float(np.float32(rng.uniform(0.002, 0.02))),
            infectivity=float(np.float32(rng.uniform(0.05, 0.2))),
            production=float(np.float32(rng.uniform(1, 4))),
            incubation=int(rng.integers(1, 4)),
            lifetime=int(rng.integers(2, 6)),
            seed=int(rng.integers(1, 1 << 30)),
            steps=int(rng.integers(3, 7)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        height, width = case.virus.shape
        count = height * width
        blocks = -(-count // BLOCK)
        virus, next_virus = gpu.array(case.virus), gpu.empty((height, width))
        signal, next_signal = gpu.zeros((height, width)), gpu.empty((height, width))
        state, timer = gpu.zeros(count, np.int32), gpu.zeros(count, np.int32)
        tcells, next_tcells = gpu.array(case.tcells), gpu.empty((height, width), np.int32)
        counts = gpu.zeros((case.steps, STATES), np.int32)
        for step in range(case.steps):
            gpu.launch(
                "diffuse",
                blocks,
                BLOCK,
                virus,
                next_virus,
                signal,
                next_signal,
                width,
                height,
                case.spread,
                case.decay,
            )
            virus, next_virus, signal, next_signal = next_virus, virus, next_signal, signal
            gpu.launch(
                "update_cells",
                blocks,
                BLOCK,
                state,
                timer,
                virus,
                signal,
                tcells,
                count,
                case.infectivity,
                case.production,
                case.incubation,
                case.lifetime,
                case.seed,
                step,
            )
            next_tcells.fill(0)
            gpu.launch(
                "move_tcells",
                blocks,
                BLOCK,
                tcells,
                next_tcells,
                signal,
                width,
                height,
                case.seed,
                step,
            )
            tcells, next_tcells = next_tcells, tcells
            at = counts.ptr + step * STATES * 4
            gpu.launch("count_states", blocks, BLOCK, state, at, count)
        return {"virus": virus.get(), "tcells": tcells.get(), "counts": counts.get()}

    def reference(self, case: Case) -> dict[str, Array]:
        tissue = _Tissue(case)
        counts = [tissue.step(step) for step in range(case.steps)]
        return {
            "virus": tissue.virus.astype(np.float32),
            "tcells": tissue.tcells,
            "counts": np.array(counts, np.int32),
        }


class _Tissue:
    """The same model over whole arrays. Values are rounded to floats where the kernels store them."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.virus: Array = case.virus
        self.signal: Array = np.zeros_like(case.virus)
        self.tcells: Array = case.tcells
        self.state: Array = np.zeros(case.virus.shape, np.int32)
        self.timer: Array = np.zeros(case.virus.shape, np.int32)
        self.place: Array = np.arange(case.virus.size, dtype=np.uint32).reshape(case.virus.shape)

    def step(self, step: int) -> Array:
        self.virus, self.signal = self._diffused(self.virus), self._diffused(self.signal)
        self._update(step)
        self._move(step)
        return np.bincount(self.state.ravel(), minlength=STATES)

    def _diffused(self, field: Array) -> Array:
        padded, inside = np.pad(field.astype(np.float64), 1), np.pad(np.ones(field.shape), 1)
        rows, cols = field.shape
        around, near = np.zeros(field.shape), np.zeros(field.shape)
        for dy in range(3):
            for dx in range(3):
                if (dy, dx) != (1, 1):
                    around += padded[dy : dy + rows, dx : dx + cols]
                    near += inside[dy : dy + rows, dx : dx + cols]
        spread, decay = self.case.spread, self.case.decay
        mixed = (1 - spread) * field.astype(np.float64) + spread * around / near
        return (mixed * (1 - decay)).astype(np.float32)

    def _update(self, step: int) -> None:
        case, state, timer = self.case, self.state, self.timer
        drawn = _hashed(case.seed, step, self.place)
        was = state.copy()
        chance = self.virus * np.float32(case.infectivity)
        caught = (was == 0) & ((drawn >> np.uint32(8)) / 16777216.0 < chance)
        state[caught] = 1
        timer[caught] = case.incubation + (drawn[caught] % 3).astype(np.int32)
        running = (was == 1) | (was == 2)
        timer[running] -= 1
        expressing = was == 2
        self.virus[expressing] += np.float32(case.production)
        self.signal[expressing] = np.minimum(self.signal[expressing] + 0.5, 1.0)
        over = running & (timer <= 0)
        state[(was == 1) & over] = 2
        timer[(was == 1) & over] = case.lifetime
        state[expressing & (self.tcells > 0)] = 3
        state[(expressing & over) | (was == 3)] = 4

    def _move(self, step: int) -> None:
        rows, cols = self.tcells.shape
        moved = np.zeros_like(self.tcells)
        for y, x in zip(*np.nonzero(self.tcells), strict=True):
            for t in range(self.tcells[y, x]):
                to_y, to_x = int(y), int(x)
                if self.signal[y, x] < 0.2:
                    place = np.array([y * cols + x]).astype(np.uint32) * np.uint32(16) + np.uint32(
                        t
                    )
                    way = int(_hashed(self.case.seed ^ 0x5BD1E995, step, place)[0] % 9)
                    to_x = min(max(to_x + way % 3 - 1, 0), cols - 1)
                    to_y = min(max(to_y + way // 3 - 1, 0), rows - 1)
                moved[to_y, to_x] += 1
        self.tcells = moved


def _hashed(seed: int, step: int, place: Array) -> Array:
    start = (seed * 747796405 + step * 2891336453) & 0xFFFFFFFF
    h = (np.uint64(start) + place.astype(np.uint64) * np.uint64(277803737)).astype(np.uint32)
    h = ((h >> ((h >> np.uint32(28)) + np.uint32(4))) ^ h).astype(np.uint64) * np.uint64(277803737)
    h = h.astype(np.uint32)
    return (h >> np.uint32(22)) ^ h
