"""Evaluations per second with one and two workers, in turns, and where the time goes.

    WORKLOAD=papers/cfd DEVICE=sim:t4 PATCHES=50 python -m benchmarks evaluation

The rate of a core is by the processor's own time, which says the same on a machine that others use.
"""

import os
import resource
import time
from collections import Counter

import numpy as np

from gevolve.evaluate.pool import Pool
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.program import Profile, Program
from gevolve.workload.locate import Location, locate, location_of

WORKLOAD = os.environ.get("WORKLOAD", "tuned/hotspot")
DEVICE = os.environ.get("DEVICE", "sim:a100")
PATCHES = int(os.environ.get("PATCHES", "200"))
ROUNDS = int(os.environ.get("ROUNDS", "2"))
STAGES = ("fork", "apply", "verify", "build", "compile", "open", "run", "check", "judge", "end")
COMPILE = ("verify", "build", "compile", "open")
"""The module that is parsed to be verified is the one that the back end takes."""
USEFUL = (*COMPILE, "run", "check")


def draw(program: Program, profile: Profile, count: int) -> list[Patch]:
    """Patches of one to three random edits."""
    rng = np.random.default_rng(1)
    patches: list[Patch] = []
    while len(patches) < count:
        kinds = rng.choice(program.kinds, size=rng.integers(1, 4))
        edits = [program.propose(str(kind), rng, profile) for kind in kinds]
        patches.append(Patch(tuple(edit for edit in edits if edit is not None)))
    return patches


def processor() -> float:
    """Seconds of processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def judge(
    location: Location, program: Program, workers: int, count: int = PATCHES
) -> tuple[float, list[Evaluation]]:
    """Seconds to judge patches once all workers are ready, and the evaluations."""
    with Pool(location, device=DEVICE, workers=workers) as evaluator:
        profile = evaluator.prepare().profile
        for key in range(4 * workers):
            evaluator.submit(key, Patch())  # so that all of them are
        list(evaluator.results())
        patches = draw(program, profile, count)
        began = time.perf_counter()
        for key, patch in enumerate(patches):
            evaluator.submit(key, patch)
        evaluations = [evaluation for _, evaluation in evaluator.results()]
        return time.perf_counter() - began, evaluations


def main() -> None:
    workload = locate(WORKLOAD)
    location = location_of(workload)
    program = workload.load()
    began = processor()
    judge(location, program, 1, 0)
    ready = processor() - began
    judge(location, program, 1)
    spent = processor() - began - 2 * ready
    print(f"{WORKLOAD} on {DEVICE}, {len(program.text.splitlines())} lines of IR")
    print(f"{PATCHES / spent:.1f} evaluations a second and core, by processor time")
    best = {1: float("inf"), 2: float("inf")}
    every: list[Evaluation] = []
    for _ in range(ROUNDS):
        for workers in (1, 2):
            seconds, evaluations = judge(location, program, workers)
            best[workers] = min(best[workers], seconds)
            if workers == 1:
                every += evaluations
            print(f"{workers} worker(s): {PATCHES / seconds:6.1f} evaluations/s")
    if ROUNDS:
        print(f"two workers give {best[1] / best[2]:.2f} times one")
    if every:
        report(every)


def report(evaluations: list[Evaluation]) -> None:
    verdicts = Counter(evaluation.verdict.value for evaluation in evaluations)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    seconds: Counter[str] = Counter()
    for evaluation in evaluations:
        seconds.update(evaluation.seconds)
    total = seconds["total"]
    seconds["other"] = total - sum(seconds[stage] for stage in STAGES)
    for stage in (*STAGES, "other"):
        each = seconds[stage] / len(evaluations) * 1000
        print(f"  {stage:7} {each:7.2f} ms  {seconds[stage] / total:6.1%}")
    outside = 1 - sum(seconds[stage] for stage in USEFUL) / total
    print(f"  outside {', '.join(USEFUL)}: {outside:.1%} (at most 15 % is the aim)")
