"""Runs that were never searched: stores with the variants that a test wants, judged by real workers.

Where times are exact, one evaluator serves all runs of a test file: what it knows, it would find again.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path

import msgspec

from gevolve.evaluate.pool import Pool
from gevolve.patch import Patch
from gevolve.run.config import Config
from gevolve.run.seal import sealed
from gevolve.run.store import Store
from gevolve.workload.locate import Location
from tests.analyze import puzzle

PUZZLE = Location(puzzle.__name__, "Puzzle")


_open: list[Pool] = []


@cache
def _lasting(device: str, tolerance: float, workers: int) -> Pool:
    _open.append(Pool(PUZZLE, device=device, workers=workers, tolerance=tolerance))
    return _open[-1]


def close() -> None:
    """End all evaluators; who makes runs does so at the end of the file."""
    _lasting.cache_clear()
    while _open:
        _open.pop().close()


def _evaluator(device: str, tolerance: float, workers: int) -> AbstractContextManager[Pool]:
    if device == "noisy":
        return Pool(PUZZLE, device=device, workers=workers, tolerance=tolerance)
    return nullcontext(_lasting(device, tolerance, workers))


def make(folder: Path, *patches: str, device="puzzle", tolerance=0.0, workers=1) -> Path:
    """A run whose search asked for these patches, in one generation."""
    program = puzzle.PuzzleProgram()
    config = Config(
        workload="Puzzle", location=PUZZLE, rounding=1e-5, device=device, seed=1, tolerance=tolerance,
        preset="default", settings={"population": 8}, evals=len(patches), time=None, workers=workers,
        versions={"gevolve": "0"},
    )  # fmt: skip
    with (
        Store.create(
            folder, sealed(msgspec.to_builtins(config), program.text), program.digest, program.text
        ) as store,
        _evaluator(device, tolerance, workers) as evaluator,
    ):
        baseline = evaluator.prepare("search")
        store.set("bound", baseline.tolerance)
        store.add([(Patch(), baseline.evaluation, -1)])
        asked = [Patch.parse(text) for text in patches]
        for id_, patch in zip(store.reserve(asked, 0), asked, strict=True):
            evaluator.submit(id_, patch)
        for id_, evaluation in evaluator.results():
            store.add([(asked[id_ - 1], evaluation, 0)])
    return folder


def edits(*lines: str) -> str:
    """A patch of these edits, each with a seed of its own."""
    return "; ".join(f"{line} #{n + 1:x}" for n, line in enumerate(lines))
