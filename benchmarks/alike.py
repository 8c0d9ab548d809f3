"""How many of 100 conclusions would claim a gain of models' variants that are as fast as the unedited program.

    MODEL=mobilenet-small VARIANTS=8 TIMES=6 python -m benchmarks alike

A variant is made by scaling a constant: another program, compiled anew, that does the same work. Each is measured as a
validation does, in a process of its own, on whatever machine this is and under whatever load it has. From what was
measured conclusions are drawn: so many variants by chance, of each as many of its ratios as a validation asks for.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.stages import apart
from benchmarks.synthetic.noise import claims
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.worker.trial import Trial
from gevolve.patch import Patch
from gevolve.workload.locate import locate

MODEL = os.environ.get("MODEL", "mobilenet-small")
VARIANTS = int(os.environ.get("VARIANTS", "8"))
TIMES = int(os.environ.get("TIMES", "6"))
CONCLUSIONS = 100
ANY = 1e9
"""An error that every variant may have: its time is looked at alone."""


def neutral(name: str, count: int) -> tuple[str, list[str]]:
    """The text of a program, and patches that scale one of its constants each."""
    program = locate(name).load()
    rng = np.random.default_rng(0)
    found: dict[str, None] = {}
    for _ in range(100 * count):
        if len(found) == count:
            break
        if edit := program.propose("scale", rng, None):
            found[str(Patch((edit,)))] = None
    return program.text, list(found)


def measured(name: str, text: str, patches: list[str], times: int) -> list[list[float]]:
    """The ratios of each variant to the unedited program."""
    workload = locate(name)
    device = workload.device(workload.default_device)
    problem = Problem(workload, workload.restore(text), device, workload.cases("held-out"))
    trial = Trial(problem, "held-out", tolerance=ANY, patience=60.0)
    judged = [
        [trial.evaluate(Patch.parse(patch), {}).time for _ in range(times)] for patch in patches
    ]
    return [[ratio for ratio in ratios if ratio is not None] for ratios in judged]


def chance(logs: list[Any]) -> Callable[[np.random.Generator, int], Any]:
    """Noise as it was measured: all that is asked for at once is of one variant."""

    def draw(rng: np.random.Generator, count: int) -> Any:
        return rng.choice(logs[int(rng.integers(len(logs)))], count)

    return draw


def main() -> None:
    text, patches = apart(neutral, MODEL, VARIANTS)
    ratios = [one for one in apart(measured, MODEL, text, patches, TIMES) if len(one) > 1]
    logs = [np.log(one) for one in ratios]
    within = np.sqrt(np.mean([np.var(one, ddof=1) for one in logs]))
    means = np.exp([one.mean() for one in logs])
    print(
        f"{MODEL}: {len(logs)} variants, {TIMES} measurements each; one varies by {within:.1%},"
        f" means are {means.min():.3f} to {means.max():.3f}"
    )
    for variants in (1, 2, 8):
        found = sum(
            claims(chance(logs), np.random.default_rng([seed, variants]), variants) > 0
            for seed in range(CONCLUSIONS)
        )
        print(
            f"of {CONCLUSIONS} conclusions on {variants} variants {found} claim a gain", flush=True
        )


if __name__ == "__main__":
    main()
