"""What an evaluation of a model costs on a virtual GPU, and on the CPU, of the same variants in turns.

    GEVOLVE_DATA=... MODEL=mobilenet DEVICE=iree:a100 PATCHES=24 python -m benchmarks gpu_models

Half of the patches open a search, half are random. Seconds are of the processor, those of IREE's process and of the
GPU's among them, so that a machine that others use says the same. Times of launches that earlier runs have kept are not used.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.stages import apart, drawn
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.verdict import Evaluation
from gevolve.evaluate.worker.trial import Trial
from gevolve.patch import Patch
from gevolve.workload.locate import locate

MODEL = os.environ.get("MODEL", "mobilenet")
DEVICES = ("xla:cpu", os.environ.get("DEVICE", "iree:a100"))
PATCHES = int(os.environ.get("PATCHES", "24"))
TICKS = os.sysconf("SC_CLK_TCK")
_trial: Trial | None = None
_known: dict[str, Evaluation] = {}


def processor() -> float:
    """Seconds of processor time of this process and of all that it has started, ended ones included."""
    used = 0
    spent: dict[int, tuple[int, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        spent[int(path.parent.name)] = int(words[1]), sum(map(int, words[11:15]))
    for pid, (_, own) in spent.items():
        above = pid
        while above in spent and above != os.getpid():
            above = spent[above][0]
        used += own if above == os.getpid() else 0
    return used / TICKS


def begin(name: str, device: str, text: str) -> float:
    """Make ready to judge variants; the seconds of the processor that it took."""
    global _trial  # noqa: PLW0603  (it lasts as long as the process)
    began = processor()
    workload = locate(name)
    opened = workload.device(device)
    opened.setup = 3600.0  # seconds of the clock, which says little on a machine that others use
    problem = Problem(workload, workload.restore(text), opened, workload.cases("search"))
    _trial = Trial(problem, "search", tolerance=None, patience=20.0)
    return processor() - began


def judge(patch: str) -> tuple[float, float, Evaluation]:
    """Seconds of the processor and of the clock, and the evaluation."""
    assert _trial is not None
    began, clock = processor(), time.perf_counter()
    one = _trial.evaluate(Patch.parse(patch), _known)
    _known.update({key: one for key in (one.artefact, one.identity) if one.reusable})
    return processor() - began, time.perf_counter() - clock, one


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="gevolve-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        compare()


def compare() -> None:
    text, patches = apart(drawn, MODEL, PATCHES)
    pools = {device: ProcessPoolExecutor(1, get_context("spawn")) for device in DEVICES}
    for device, pool in pools.items():
        seconds = pool.submit(begin, MODEL, device, text).result()
        print(f"{MODEL} on {device}: ready after {seconds:.1f} s", flush=True)
    found: dict[str, list[tuple[float, float, Evaluation]]] = {device: [] for device in DEVICES}
    for patch in patches:
        for device, pool in pools.items():
            found[device].append(pool.submit(judge, patch).result())
            if "VERBOSE" in os.environ:
                spent, took, one = found[device][-1]
                stages = {
                    name: round(value, 2) for name, value in one.seconds.items() if value >= 0.01
                }
                print(f"{device:10} {spent:6.2f} {took:6.2f} {one.verdict.value:8} {stages} {one.detail[:60]}", flush=True)  # fmt: skip
    for device, pool in pools.items():
        report(device, found[device])
        pool.shutdown()
    cpu, gpu = (sum(one[0] for one in found[device]) for device in DEVICES)
    print(f"{DEVICES[1]} judges {cpu / gpu:.2f} times as many variants as {DEVICES[0]}")


def report(device: str, found: Sequence[tuple[float, float, Evaluation]]) -> None:
    verdicts = Counter(one.verdict.value for _, _, one in found)
    for what in ("all", *verdicts):
        some = [one for one in found if what in ("all", one[2].verdict.value)]
        spent, took = (sum(one[which] for one in some) / len(some) for which in (0, 1))
        print(f"{device:10} {what:10} {len(some):4} variants: {spent:6.2f} s of the processor each, {took:6.2f} s of the clock")  # fmt: skip


if __name__ == "__main__":
    main()
