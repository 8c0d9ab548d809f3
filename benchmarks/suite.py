"""What a search of the suite's kernels finds: the best exact variant, checked on unseen cases.

`python -m benchmarks suite` takes a quarter of an hour; GEVOLVE_BENCH_EVALS and GEVOLVE_BENCH_SEEDS set
the budget of each search and how many there are for each kernel.
"""

import os
import statistics
import tempfile
from pathlib import Path

import gevolve
from gevolve.suite import TUNED

EVALS = int(os.environ.get("GEVOLVE_BENCH_EVALS", "2000"))
SEEDS = int(os.environ.get("GEVOLVE_BENCH_SEEDS", "1"))
DEVICE = os.environ.get("GEVOLVE_BENCH_DEVICE", gevolve.Options().device)


def main() -> None:
    print(f"{EVALS} evaluations, {SEEDS} seed(s), {DEVICE}; times as fast as the unedited kernel")
    print(
        f"{'kernel':12} {'search':>8} {'held-out':>9} {'large':>7} {'edits':>6} {'ok':>5} {'eval/s':>7}"
    )
    factors: list[float] = []
    for name in TUNED:
        for seed in range(SEEDS):
            with tempfile.TemporaryDirectory() as folder:
                result = gevolve.optimize(
                    name, evals=EVALS, seed=seed, device=DEVICE, out=Path(folder) / "run"
                )
            best = result.best_exact
            factors.append(1 / best.ratio if best else 1.0)
            ok = result.verdicts.get("ok", 0) / result.evaluations
            rate = result.evaluations / result.seconds
            cells = [factor(best and value) for value in (
                best and best.ratio, best and best.held_out, best and best.large
            )]  # fmt: skip
            print(
                f"{name:12} {cells[0]:>8} {cells[1]:>9} {cells[2]:>7} {best.edits if best else 0:>6}"
                f" {ok:>5.0%} {rate:>7.1f}",
                flush=True,
            )
    print(f"geometric mean {statistics.geometric_mean(factors):.3f}x")


def factor(ratio: float | None) -> str:
    return f"{1 / ratio:.3f}x" if ratio else "-"
