"""What an evaluation of the suite's models costs, and what a search finds: faster prediction, better training.

The costs are those of `benchmarks.stages`. `python -m benchmarks models` needs `GEVOLVE_DATA` and takes an hour;
GEVOLVE_BENCH_TIME (seconds of each search; 0 for none), GEVOLVE_BENCH_SEEDS and GEVOLVE_BENCH_MODELS (names with commas)
say otherwise. Three lots of
images stand behind each line: the first chooses the variant, the second must confirm it, and the
errors in the last columns are of a third that the search never saw: the 8,000 other test images for
`mobilenet`, trainings from other starts and images for `2fcnet`.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gevolve
from benchmarks import stages
from gevolve.suite.datasets import cifar10
from gevolve.suite.models.prediction import CifarPrediction
from gevolve.suite.models.twofcnet import TwoFCNet
from gevolve.workload.locate import locate

TIME = float(os.environ.get("GEVOLVE_BENCH_TIME", "1800"))
SEEDS = int(os.environ.get("GEVOLVE_BENCH_SEEDS", "1"))
MODELS = os.environ.get("GEVOLVE_BENCH_MODELS", "mobilenet,2fcnet").split(",")
LOST = 0.02
"""So much more error than the unedited program's prediction may have."""
TURNS = 31


def main() -> None:
    stages.main()
    if not TIME:
        return
    print(f"{TIME:g} s a search, {SEEDS} seed(s); ratio is time over the unedited program's")
    print(
        f"{'model':16} {'seed':>4} {'evals':>6} {'':9} {'ratio':>6} {'error':>13} "
        f"{'held-out':>8} {'error':>6}   {'again':>6} {'fresh error':>16}"
    )
    for name in MODELS:
        for seed in range(SEEDS):
            with tempfile.TemporaryDirectory() as folder:
                result = gevolve.optimize(
                    name, time=TIME, seed=seed, tolerance=LOST, out=Path(folder) / "run"
                )
            for label, entry in chosen(result).items():
                print(f"{name:16} {seed:>4} {result.evaluations:>6} {label:9} ", end="")
                print(line(name, result, entry) if entry else "nothing found", flush=True)


def chosen(result: gevolve.Summary) -> dict[str, gevolve.VariantSummary | None]:
    """The fastest within the tolerance, and the most accurate that takes no more time."""
    sound = [e for e in result.front if e.validated and e.held_out is not None]
    better = [e for e in sound if e.ratio <= 1 and e.error < result.baseline["error"]]
    return {"faster": result.best, "better": min(better, key=lambda e: e.error, default=None)}


def line(name: str, result: gevolve.Summary, entry: gevolve.VariantSummary) -> str:
    ratio, before, after = again(name, entry.patch)
    return (
        f"{entry.ratio:>6.3f} {result.baseline['error']:>6.4f}>{entry.error:.4f} "
        f"{entry.held_out or 0:>8.3f} {entry.held_out_error or 0:>6.4f}   "
        f"{ratio:>6.3f} {before:>7.4f}>{after:.4f}  {entry.edits} edits"
    )


def again(name: str, patch: str) -> tuple[float, float, float]:
    """The ratio in turns, and the mean errors of both programs on images that are new to all."""
    workload: Any = locate(name)
    program = workload.load()
    device = workload.device(workload.default_device)
    texts = (program.text, program.apply(gevolve.Patch.parse(patch)).text)
    handles = [device.open(device.build(text)) for text in texts]
    errors = np.array([[error(workload, handle, c) for handle in handles] for c in fresh(workload)])
    case = fresh(workload)[0]
    times = np.array(
        [[seconds(workload, handle, case) for handle in handles] for _ in range(TURNS)]
    )
    one, other = times.min(0)
    return float(other / one), *(float(mean) for mean in errors.mean(0))


def fresh(workload: Any) -> Sequence[gevolve.Case]:
    if isinstance(workload, CifarPrediction):
        count, images = workload.count, cifar10("test_batch")
        return [workload.case(images.part(n * count, count)) for n in range(2, 10)]
    if isinstance(workload, TwoFCNet):
        return [workload.case(number) for number in (2, 3, 4)]
    return [workload.data("held-out")]


def error(workload: Any, handle: Any, case: gevolve.Case) -> float:
    outputs = workload.run(handle, case)
    named = {str(n): array for n, array in enumerate(outputs)}
    return workload.measure(named, named, case)


def seconds(workload: Any, handle: Any, case: gevolve.Case) -> float:
    before = handle.usage().time
    workload.run(handle, case)
    return handle.usage().time - before


if __name__ == "__main__":
    main()
