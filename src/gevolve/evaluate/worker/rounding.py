"""The unedited program's own rounding: it is run again with every inexact result rounded otherwise.

What changes, element by element, is what its last digits are worth (`gevolve.workload.error`). A variant
whose outputs differ by no more than that is exact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gevolve.device.base import Limits, Usage
from gevolve.errors import GevolveError
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.child.process import FAILURES, ChildEndedError
from gevolve.evaluate.child.runner import Runner
from gevolve.evaluate.protocol import CaseRun, Prepared, Ran
from gevolve.evaluate.worker.outputs import Outputs
from gevolve.workload.base import Array

Rerounded = list[list[Mapping[str, Array]]]
"""By case, the outputs of every run that rounds otherwise."""


def rounds(problem: Problem, outputs: Mapping[str, Array]) -> bool:
    """Whether a program gives numbers that are rounded."""
    if all(array.dtype.kind in "iub" for array in outputs.values()):
        return False
    return problem.program.rerounded(1) != problem.program.text


def reround(
    problem: Problem,
    plain: Sequence[tuple[Outputs, Usage]],
    *,
    seeds: Sequence[int],
    check: str | None,
    seconds: float,
    runner: Runner,
) -> Rerounded:
    """Run the program on all cases once for each seed, with its threads in the order of a check too.

    A run that fails says nothing of rounding and is left out: what then counts as exact is stricter.
    """
    found: Rerounded = [[] for _ in plain]
    for seed in seeds:
        try:
            artefact = problem.device.build(problem.program.rerounded(seed))
        except GevolveError:
            continue
        plan = [
            CaseRun(case, _patient(Limits.like(usage)), check=check, timed=False)
            for case, (_, usage) in enumerate(plain)
        ]
        with runner.run(artefact, plan, seconds=seconds) as child:
            try:
                child.expect(Prepared)
                for run in plan:
                    child.go()
                    ran = child.expect(Ran)
                    outputs = Outputs(ran.outputs)
                    outputs.fill(child.fill)
                    if outputs.headers == plain[run.case][0].headers:
                        found[run.case].append(outputs.arrays)
            except FAILURES as failure:
                if isinstance(failure, ChildEndedError) and failure.killed:
                    raise  # which says nothing of the program
                continue
        if seed == seeds[0]:  # on every split
            problem.device.warm(artefact, plain[0][1].kernels)
    return found


def _patient(limits: Limits) -> Limits:
    """A program that rounds otherwise calls a function wherever it rounds."""
    return replace(limits, fuel=64 * limits.fuel)
