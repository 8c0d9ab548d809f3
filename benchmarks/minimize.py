"""What minimising leaves of a search's best: edits, gain, trials; and that every edit left is needed.

GEVOLVE_BENCH_EVALS sets the budget of each search, GEVOLVE_BENCH_KERNELS names some of the suite.
"""

import os
import tempfile
from pathlib import Path

import gevolve
from gevolve.analyze.minimize import minimize_variant
from gevolve.analyze.session import opened
from gevolve.patch import Patch

EVALS = int(os.environ.get("GEVOLVE_BENCH_EVALS", "1500"))
KERNELS = os.environ.get(
    "GEVOLVE_BENCH_KERNELS", "tuned/pathfinder tuned/reduction tuned/histogram tuned/bfs tuned/gemm"
).split()


def main() -> None:
    print(f"{EVALS} evaluations; gain is t0/t - 1")
    print(
        f"{'kernel':12} {'edits':>6} {'left':>5} {'gain':>7} {'kept':>7} {'trials':>7}"
        f" {'least lost without an edit':>27}"
    )
    for name in KERNELS:
        with tempfile.TemporaryDirectory() as folder:
            result = gevolve.optimize(
                name, evals=EVALS, seed=1, tolerance=0.01, device="sim:a100", out=Path(folder) / "r"
            )
            report(name, result)


def report(name: str, result: gevolve.Summary) -> None:
    if result.best is None:
        print(f"{name:12} no gain")
        return
    with opened(result.folder) as session:
        found = minimize_variant(session, session.run.variant(result.best.id))
        assert found is not None
        patch = session.run.variant(found.id).patch
        fewer = [Patch(patch.edits[:n] + patch.edits[n + 1 :]) for n in range(len(patch))]
        unedited = session.unedited.evaluation.time
        gains = [
            unedited / row.evaluation.time - 1 if row.evaluation.ok else None
            for row in session.judge(fewer)
        ]
    before, after = 1 / found.ratio_before - 1, 1 / found.ratio_after - 1
    lost = min((1 - gain / after for gain in gains if gain is not None), default=None)
    print(
        f"{name:12} {found.before:>6} {found.after:>5} {before:>7.2%} {after / before:>7.2%}"
        f" {found.evaluations:>7} {'all fail' if lost is None else f'{lost:.1%}':>27}",
        flush=True,
    )


if __name__ == "__main__":
    main()
