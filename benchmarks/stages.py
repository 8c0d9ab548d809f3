"""What an evaluation of a model costs in stages, and all at once.

    GEVOLVE_DATA=... MODELS=2fcnet,mobilenet PATCHES=60 python -m benchmarks stages

The same patches are judged twice: as a search does it, and with everything done for each variant (compiled as for
good, run on all parts and once more for other poison, timed by the clock). Half of them open a search, half are
random. Processor time, so that a machine that others use says the same; shares of stages are of the time that passed.
"""

import os
import resource
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from typing import Any, TypeVar
from unittest import mock

from benchmarks.evaluation import draw
from gevolve.device.xla import Xla
from gevolve.evaluate.child import main as child
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.protocol import CaseRun
from gevolve.evaluate.verdict import Evaluation
from gevolve.evaluate.worker import growing, plan
from gevolve.evaluate.worker.trial import Trial
from gevolve.patch import Patch
from gevolve.program import Program
from gevolve.workload.locate import locate

T = TypeVar("T")
MODELS = os.environ.get("MODELS", "2fcnet,mobilenet").split(",")
PATCHES = int(os.environ.get("PATCHES", "60"))


@contextmanager
def all_at_once() -> Generator[None]:
    """Do everything for each variant, whatever the first of it shows."""
    with (
        mock.patch.object(Xla, "hasten", return_value=None),
        mock.patch.object(growing, "planned", lambda _, __, case, limits: [CaseRun(case, limits)]),
        mock.patch.object(plan, "_poisons", lambda device, *_: device.poisons),
        mock.patch.object(child, "_modelled", return_value=None),
    ):
        yield


def patches_of(program: Program, count: int) -> list[Patch]:
    """Half of them are what opens a search, the other half random."""
    half = count // 2
    return [*program.sweep(program.kinds, {})[:half], *draw(program, {}, count - half)]


def processor() -> float:
    """Seconds of processor time of this process and of all its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def drawn(name: str, count: int) -> tuple[str, list[str]]:
    """The text of a program, and patches of it."""
    program = locate(name).load()
    return program.text, list(map(str, patches_of(program, count)))


def judge(
    name: str, text: str, patches: Sequence[str], *, staged: bool
) -> tuple[float, list[Evaluation]]:
    """Seconds of processor time that these patches take, and the evaluations."""
    with nullcontext() if staged else all_at_once():
        workload = locate(name)
        device = workload.device(workload.default_device)
        problem = Problem(workload, workload.restore(text), device, workload.cases("search"))
        trial = Trial(problem, "search", tolerance=None, patience=20.0)
        trial.end_child()
        known: dict[str, Evaluation] = {}
        began, found = processor(), list[Evaluation]()
        for patch in patches:
            one = trial.evaluate(Patch.parse(patch), known)
            known |= {one.artefact: one, one.identity: one} if one.reusable else {}
            found.append(one)
        trial.end_child()
        return processor() - began, found


def apart(function: Callable[..., T], *args: Any, **named: Any) -> T:
    """What a function gives in a process of its own: one that has computed with JAX cannot fork."""
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        return processes.submit(function, *args, **named).result()


def main() -> None:
    print(f"{PATCHES} patches; seconds are of the processor")
    print(f"{'model':14} {'':12} {'s each':>7} {'s an ok':>8}  verdicts; stages")
    for name in MODELS:
        text, patches = apart(drawn, name, PATCHES)
        whole, staged = (
            report(name, how, *apart(judge, name, text, patches, staged=staged))
            for how, staged in (("all at once", False), ("in stages", True))
        )
        print(f"{name:14} {whole / staged:.1f} times as many evaluations a second", flush=True)


def report(name: str, how: str, seconds: float, found: list[Evaluation]) -> float:
    passed = sum(one.ok for one in found)
    verdicts = Counter(one.verdict.value for one in found).most_common()
    said = ", ".join(f"{count} {verdict}" for verdict, count in verdicts)
    spent = Counter[str]()
    for one in found:
        spent.update({stage: value for stage, value in one.seconds.items() if stage != "total"})
    total = max(1e-9, spent.total())
    where = ", ".join(f"{stage} {value / total:.0%}" for stage, value in spent.most_common(5))
    print(
        f"{name:14} {how:12} {seconds / len(found):>7.2f} {seconds / max(1, passed):>8.2f}  {said}; {where}",
        flush=True,
    )
    return seconds


if __name__ == "__main__":
    main()
