"""What the parts of the search are worth, on made-up landscapes with known effects.

    python -m benchmarks.landscapes [LANDSCAPES] [EVALUATIONS]

Prints, for each form of the search, how much of the time the best exact variant saves on average
over the landscapes (with its standard error) and how many evaluations a second the search can feed.
"""

import sys
import time
from dataclasses import replace

import numpy as np

from benchmarks.synthetic.landscape import KINDS, Landscape
from gevolve.patch import Patch
from gevolve.search import PRESETS, Nsga2Search, Problem, Settings

DEFAULT = Settings()
FORMS: dict[str, Settings] = {
    "default": DEFAULT,
    "messy crossover": replace(DEFAULT, crossover_kind="messy"),
    "no crossover": replace(DEFAULT, crossover=0.0),
    "all edit kinds alike": replace(DEFAULT, adaptive=False),
    "no local search": replace(DEFAULT, local=0.0),
    "any new edit": replace(DEFAULT, drawn=1),
    "never widens": replace(DEFAULT, patience=1 << 30),
    "clones unlimited": replace(DEFAULT, clones=DEFAULT.population),
    "population 16": replace(DEFAULT, population=16),
    "population 64": replace(DEFAULT, population=64),
    "the paper's": Settings(**PRESETS["paper"]),
}


def search(program: Landscape, settings: Settings, seed: int, budget: int) -> float:
    evolution = Nsga2Search(
        Problem(program, program.profile, program.judge(Patch()), seed), settings
    )
    while program.judged < budget and (patches := evolution.ask()):
        evolution.tell([program.judge(patch) for patch in patches])
    return 1 - evolution.best.time


def random_patches(program: Landscape, seed: int, budget: int) -> float:
    rng = np.random.default_rng(seed)
    best = 1.0
    while program.judged < budget:
        kinds = (KINDS[rng.integers(len(KINDS))] for _ in range(rng.integers(1, 4)))
        edits = (program.propose(kind, rng, program.profile) for kind in kinds)
        best = min(best, program.judge(Patch(tuple(filter(None, edits)))).time or 1.0)
    return 1 - best


def main(landscapes: int = 16, budget: int = 1500) -> None:
    print(f"{landscapes} landscapes, {budget} evaluations each")
    print(f"{'form':<22}{'saved':>8}{'±':>7}{'evals/s':>10}")
    for name, settings in {"random patches": None, **FORMS}.items():
        began = time.perf_counter()
        saved: list[float] = []
        for seed in range(landscapes):
            program = Landscape(seed)
            saved.append(
                random_patches(program, seed, budget)
                if settings is None
                else search(program, settings, seed, budget)
            )
        rate = landscapes * budget / (time.perf_counter() - began)
        error = np.std(saved) / landscapes**0.5
        print(f"{name:<22}{np.mean(saved):>8.1%}{error:>7.1%}{rate:>10.0f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
