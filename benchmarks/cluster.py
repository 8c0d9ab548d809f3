"""What one driver can feed: evaluations a second on Ray, and its overhead against the local pool.

Patches that no verifier accepts cost nothing but the way to a worker and back: they show what the
driver can feed. Patches of a kernel show what that costs a real search. CPU seconds are those of this
process and of all that it started, and depend less than wall time on what else the machine does.
"""

import os
import time
from pathlib import Path

import numpy as np

from gevolve.evaluate.dispatcher.cluster import Cluster
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.ray import RayEvaluator
from gevolve.patch import Patch
from gevolve.testing.evaluators import patch, toy
from gevolve.workload.locate import locate, location_of

NOTHING = 20_000
"""Patches that cost nothing."""
KERNEL = ("tuned/hotspot", 120)
"""A workload, and how many patches of it."""
WORKERS = 2


def main() -> None:
    for actors in (1, 2, 4, 8):
        with (
            Cluster("ray", workers=actors) as cluster,
            RayEvaluator(toy(), cluster=cluster, device="toy") as evaluator,
        ):
            patches = [patch("invalid", number) for number in range(NOTHING)]
            wait_for_all(evaluator, actors)
            seconds, cpu = timed(evaluator, patches)
            rate, each = NOTHING / seconds, cpu / NOTHING * 1e6
            print(f"nothing, {actors} actors: {rate:,.0f}/s, {each:.0f} µs of CPU each", flush=True)
    compare()


def compare() -> None:
    """The same patches of a kernel with the pool and with Ray, in turn."""
    workload = locate(KERNEL[0])
    spec, program = location_of(workload), workload.load()
    rng = np.random.default_rng(7)
    patches = []
    while len(patches) < KERNEL[1]:
        edit = program.propose(program.kinds[len(patches) % len(program.kinds)], rng, None)
        patches.append(Patch() if edit is None else Patch((edit,)))
    spent: dict[str, list[tuple[float, float]]] = {"pool": [], "ray": []}
    options = {"program": program, "device": "sim:a100"}
    with Cluster("ray", workers=WORKERS) as cluster:
        for _ in range(3):
            with Pool(spec, workers=WORKERS, **options) as evaluator:
                evaluator.prepare()
                spent["pool"].append(timed(evaluator, patches))
            with RayEvaluator(spec, cluster=cluster, **options) as evaluator:
                wait_for_all(evaluator, WORKERS)
                spent["ray"].append(timed(evaluator, patches))
    best = {
        name: (min(w for w, _ in runs), min(c for _, c in runs)) for name, runs in spent.items()
    }
    for name, (wall, cpu) in best.items():
        rate = len(patches) / wall
        print(f"{KERNEL[0]}, {name}: {rate:.1f}/s, {cpu / len(patches) * 1e3:.1f} ms of CPU each")
    wall, cpu = (best["ray"][n] / best["pool"][n] - 1 for n in (0, 1))
    print(f"overhead of Ray: {wall:+.1%} of the time, {cpu:+.1%} of CPU")


def wait_for_all(evaluator: RayEvaluator, actors: int) -> None:
    """Wait until all actors have prepared."""
    evaluator.prepare()
    while sum(node.workers for node in evaluator.nodes) < actors:
        evaluator._step()


def timed(evaluator: Pool | RayEvaluator, patches: list[Patch]) -> tuple[float, float]:
    """Seconds, and seconds of CPU, that it takes to judge these patches, as a search submits them."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    queue = list(enumerate(patches))[::-1]
    outstanding = 0

    def submit() -> int:
        count = 0
        while queue and outstanding + count < evaluator.ahead:
            evaluator.submit(*queue.pop())
            count += 1
        return count

    outstanding += submit()
    judged = 0
    for _ in evaluator.results():
        judged += 1
        outstanding += submit() - 1
    assert judged == len(patches)
    return time.perf_counter() - wall, cpu_seconds() - cpu


def cpu_seconds() -> float:
    """Of this process and all that it started, living or not."""
    fields = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            fields[int(entry.name)] = (int(words[1]), sum(map(int, words[11:15])))
    below = {os.getpid()}
    while more := {pid for pid, (parent, _) in fields.items() if parent in below} - below:
        below |= more
    return sum(fields[pid][1] for pid in below if pid in fields) / os.sysconf("SC_CLK_TCK")
