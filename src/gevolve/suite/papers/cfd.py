"""Air around a body: the Euler equations by finite volumes, on tetrahedra."""

from typing import Any

import numpy as np

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 128
GAMMA = 1.4
FACES = 4
STAGES = 3


class Cfd(KernelWorkload):
    """Density, momentum and energy of each element, a few time steps on from uniform flow."""

    source = "cfd.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (200, 700), "held-out": (300, 900), "large": (8_000, 12_000)}[size]
        count = draw(rng, span)
        neighbours = rng.integers(0, count, (FACES, count), dtype=np.int32)
        outside = rng.random((FACES, count))
        neighbours[outside < 0.06] = -1
        neighbours[outside > 0.94] = -2
        normals = rng.standard_normal((3, FACES, count))
        normals -= normals.mean(axis=1, keepdims=True)  # the faces of an element close it
        return Case(
            neighbours=neighbours,
            normals=(0.1 * normals).astype(np.float32),
            areas=rng.uniform(0.5, 2, count).astype(np.float32),
            mach=rng.uniform(0.3, 1.2),
            angle=rng.uniform(-0.1, 0.1),
            start=rng.uniform(0.97, 1.03, count).astype(np.float32),
            steps=int(rng.integers(1, 3)),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        far = _far_field(case)
        count = case.areas.size
        blocks = -(-count // BLOCK)
        for name, value in zip(("far_variable", *_FAR), far, strict=True):
            gpu.symbol(name, np.float32).set(value.astype(np.float32))
        neighbours, normals = gpu.array(case.neighbours), gpu.array(case.normals)
        areas = gpu.array(case.areas)
        variables, fluxes = gpu.empty((5, count)), gpu.empty((5, count))
        factors = gpu.empty(count)
        gpu.launch("initialize", blocks, BLOCK, count, variables)
        variables.set(variables.get() * case.start)
        for _ in range(case.steps):
            before = gpu.array(variables.get())
            gpu.launch("step_factor", blocks, BLOCK, count, variables, areas, factors)
            for stage in range(1, STAGES + 1):
                gpu.launch(
                    "compute_flux", blocks, BLOCK, count, neighbours, normals, variables, fluxes
                )
                gpu.launch(
                    "time_step", blocks, BLOCK, stage, count, before, variables, factors, fluxes
                )
        return variables.get()

    def reference(self, case: Case) -> Array:
        far = _far_field(case)
        now = far[0][:, None] * case.start.astype(np.float64)
        normals = case.normals.astype(np.float64)
        for _ in range(case.steps):
            before = now
            _, speed, _, sound = _state(now)
            factor = 0.5 / (np.sqrt(case.areas) * (speed + sound))
            for stage in range(1, STAGES + 1):
                now = before + factor / (4 - stage) * _flux(now, case.neighbours, normals, far)
        return now.astype(np.float32)


_FAR = ("far_momentum_x", "far_momentum_y", "far_momentum_z", "far_energy")


def _far_field(case: Case) -> list[Array]:
    """What comes in from far away: the five variables, and the flux of momentum and energy."""
    speed = case.mach * np.sqrt(GAMMA)
    velocity = speed * np.array([np.cos(case.angle), np.sin(case.angle), 0.0])
    density = 1.4
    energy = 1 / (GAMMA - 1) + 0.5 * density * speed**2
    momentum = density * velocity
    variables = np.array([density, *momentum, energy]).astype(np.float32).astype(np.float64)
    pressure = (GAMMA - 1) * (energy - 0.5 * density * speed**2)
    flux = np.outer(velocity, momentum) + pressure * np.eye(3)
    return [variables, *flux, velocity * (energy + pressure)]


def _state(variables: Array) -> tuple[Array, Array, Array, Array]:
    """Velocity, speed, pressure and speed of sound of each element."""
    velocity = variables[1:4] / variables[0]
    squared = (velocity**2).sum(axis=0)
    pressure = (GAMMA - 1) * (variables[4] - 0.5 * variables[0] * squared)
    return velocity, np.sqrt(squared), pressure, np.sqrt(GAMMA * pressure / variables[0])


def _through(variables: Array) -> Array:
    """What each element carries along x, y and z, of each variable."""
    velocity, _, pressure, _ = _state(variables)
    carried = velocity[None, :] * variables[:, None]
    carried[4] += velocity * pressure
    carried[1:4] += np.eye(3)[:, :, None] * pressure
    return carried


def _flux(now: Array, neighbours: Array, normals: Array, far: list[Array]) -> Array:
    _, speed, pressure, sound = _state(now)
    mine = _through(now)
    outside = np.stack([far[0][1:4], *far[1:4], far[4]])
    total = np.zeros_like(now)
    for face in range(FACES):
        other, normal = neighbours[face], normals[:, face]
        near, wall, away = other >= 0, other == -1, other == -2
        length = np.sqrt((normal**2).sum(axis=0))
        theirs, viscous = (
            now[:, other],
            -length * 0.1 * (speed + speed[other] + sound + sound[other]),
        )
        middle = 0.5 * (mine[:, :, other] + mine)
        passed = (middle * normal).sum(axis=1) + viscous * (now - theirs)
        total += np.where(near, passed, 0)
        total[1:4] += np.where(wall, normal * pressure, 0)
        edge = 0.5 * (outside[:, :, None] + mine)
        total += np.where(away, (edge * normal).sum(axis=1), 0)
    return total
