"""Points of a heart's wall followed through ultrasound images, by template matching."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gevolve.device.base import Gpu
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

TEMPLATE = 11
REACH = 6
SHIFTS = 2 * REACH + 1
THREADS = 192
MARGIN = REACH + TEMPLATE // 2


class Tracking(KernelWorkload):
    """Where each point went between two images, and how well every shift would fit."""

    source = "tracking.cu"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        span = {"search": (40, 70), "held-out": (45, 80), "large": (200, 260)}[size]
        rows, cols = draw(rng, span), draw(rng, span)
        points = draw(rng, {"search": (3, 8), "held-out": (4, 9), "large": (60, 80)}[size])
        before = _smoothed(rng.random((rows, cols)))
        shift = rng.integers(-3, 4, 2)
        noise = rng.uniform(0, 0.02) * rng.standard_normal((rows, cols))
        return Case(
            before=before.astype(np.float32),
            image=(np.roll(before, shift, (0, 1)) + noise).astype(np.float32),
            at_row=rng.integers(MARGIN, rows - MARGIN, points, dtype=np.int32),
            at_col=rng.integers(MARGIN, cols - MARGIN, points, dtype=np.int32),
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        rows, cols = case.image.shape
        points = case.at_row.size
        scores = gpu.empty((points, SHIFTS * SHIFTS))
        new_row, new_col = gpu.empty(points, np.int32), gpu.empty(points, np.int32)
        gpu.launch(
            "track",
            points,
            THREADS,
            gpu.array(case.image),
            rows,
            cols,
            gpu.array(_templates(case)),
            gpu.array(case.at_row),
            gpu.array(case.at_col),
            scores,
            new_row,
            new_col,
        )
        return {"scores": scores.get(), "row": new_row.get(), "col": new_col.get()}

    def reference(self, case: Case) -> dict[str, Array]:
        windows = sliding_window_view(case.image.astype(np.float64), (TEMPLATE, TEMPLATE))
        scores: list[Array] = []
        for own, row, col in zip(_templates(case), case.at_row, case.at_col, strict=True):
            top, left = row - MARGIN, col - MARGIN
            near = windows[top : top + SHIFTS, left : left + SHIFTS].reshape(-1, TEMPLATE**2)
            deviation = own.ravel().astype(np.float64) - own.mean(dtype=np.float64)
            centred = near - near.mean(axis=1, keepdims=True)
            spread = np.sqrt((centred**2).sum(axis=1) + 1e-6)
            scores.append(centred @ deviation / (np.sqrt((deviation**2).sum()) * spread))
        best = np.argmax(scores, axis=1)
        return {
            "scores": np.array(scores, np.float32),
            "row": (case.at_row + best // SHIFTS - REACH).astype(np.int32),
            "col": (case.at_col + best % SHIFTS - REACH).astype(np.int32),
        }


def _templates(case: Case) -> Array:
    """What the first image has around each point."""
    windows = sliding_window_view(case.before, (TEMPLATE, TEMPLATE))
    half = TEMPLATE // 2
    return np.ascontiguousarray(windows[case.at_row - half, case.at_col - half])


def _smoothed(image: Array) -> Array:
    for axis in (0, 1):
        image = (np.roll(image, 1, axis) + 2 * image + np.roll(image, -1, axis)) / 4
    return image
