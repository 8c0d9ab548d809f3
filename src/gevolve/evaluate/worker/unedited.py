"""What a trial is set up with: the unedited program's verdict, profile, outputs and what is to be said of them."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from gevolve.errors import EvaluationError, WorkloadError
from gevolve.evaluate.child.main import Comparison, Problem
from gevolve.evaluate.child.runner import Runner
from gevolve.evaluate.child.timing import QUICK, THOROUGH
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.evaluate.worker import dependence
from gevolve.evaluate.worker.baseline import BaselineRun, Expected, Unedited
from gevolve.workload.base import Split

_MEASURED: tuple[Split, ...] = ("held-out", "fresh", "large")
"""Splits on which a clock measures what is reported."""


def runner_for(problem: Problem, split: Split, unedited: bytes, main: int | None) -> Runner:
    """A runner that is quick on the search split; results must not depend on a reused process."""
    searching = split == "search"
    comparison = Comparison(
        unedited, QUICK if searching else THOROUGH, modelled=split not in _MEASURED
    )
    return Runner(problem, comparison, main, isolated=not searching)


def profile_of(
    problem: Problem, unedited: Unedited, idle: Runner, seconds: float, main: int | None
) -> dict[str, float]:
    """How often each block runs, and what each source line costs; on the referee if the device cannot count marks.

    The child of an `idle` runner is ended first: children disturb each other.
    """
    marked = problem.program.instrumented()
    if marked == problem.program.text:
        return {}
    if problem.device.referee:
        referee = problem.workload.device(problem.device.referee)
        problem = replace(problem, device=referee)
    artefact = problem.device.build(marked)
    idle.end()
    runner = runner_for(problem, "search", artefact, main)
    baseline = BaselineRun(problem, runner, seconds=seconds, main=main)
    profile = baseline.profile(artefact)
    runner.end()
    return profile | {f"line {line}": spent for line, spent in unedited.lines.items()}


def check_verdict(problem: Problem, unedited: Evaluation, artefact: bytes) -> None:
    """The unedited program is judged like a variant; its error must be within the rounding."""
    about = f"{problem.workload.name}: the unedited program"
    if unedited.verdict is Verdict.FLAKY:
        raise WorkloadError(
            f"{about} reads memory that nothing has written ({unedited.detail}); initialise it"
        )
    if unedited.verdict in (Verdict.WRONG, Verdict.NONFINITE):
        raise WorkloadError(
            f"{about} differs from its own reference ({unedited.detail});"
            f" correct the kernel or reference(), or raise `rounding`"
        )
    if not unedited.ok:
        raise WorkloadError(f"{about} is judged {unedited.verdict}: {unedited.detail}")
    if unedited.artefact != hashlib.sha256(artefact).hexdigest():
        raise EvaluationError(
            f"{about} gives another artefact each time it is built for {problem.device.name}"
        )


def follows(problem: Problem, unedited: Unedited) -> dependence.Follows | None:
    """The unedited program's errors by case, if they are not differences from it."""
    if problem.workload.compares:
        return None
    errors = [
        unedited.meter.error(case, one.want, one.want, f"case {case}")
        for case, one in enumerate(unedited.expected)
    ]
    return dependence.Follows(errors, problem.cases)


def warnings_of(
    problem: Problem, unedited: Unedited, split: Split, tolerance: float
) -> tuple[str, ...]:
    """What must be said beside results."""
    if split != "search" or problem.workload.compares:
        doubt = (unedited.doubt,) if unedited.doubt else ()
        return *doubt, *(unedited.remarks if split == "search" else ())
    want = unedited.expected[0].want
    repeated = problem.workload.repeats(problem.cases[0])
    return *unedited.remarks, *dependence.warnings(
        unedited.meter, want, tolerance, repeated=repeated
    )


def digest_of(expected: Sequence[Expected]) -> str:
    """A hash of all expected outputs."""
    digest = hashlib.sha256()
    for one in expected:
        for name, array in one.want.items():
            digest.update(f"{name} {array.dtype} {array.shape};".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()
