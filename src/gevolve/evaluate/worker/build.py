"""From a patch to an artefact: apply it, verify and build the variant.

The variant is built in the worker's process, whose compiler is warm. A compiler that crashes ends the
process. A patch that has done so is tried in a child first.
"""

from collections.abc import Generator
from contextlib import contextmanager

from gevolve.errors import MachineError, SourceError, one_line, shortage_of
from gevolve.evaluate.child.main import Problem, rehearse_build
from gevolve.evaluate.child.process import FAILURES, ChildEndedError
from gevolve.evaluate.child.runner import persist
from gevolve.evaluate.child.start import start
from gevolve.evaluate.protocol import Ran
from gevolve.evaluate.stopwatch import Stopwatch
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import judge
from gevolve.patch import Patch


def build(problem: Problem, patch: Patch, stopwatch: Stopwatch) -> tuple[bytes, int]:
    """The artefact of a patch, and how many of its edits could not be applied."""
    program, device = problem.program, problem.device
    with _compiler_faults(), stopwatch("apply"):
        variant = program.apply(patch)
    with _compiler_faults(), stopwatch("verify"):
        why = program.verify(variant.text)
    judge.check_valid(why)
    with _compiler_faults(), stopwatch("build"):
        return device.build(variant.text), len(variant.skipped)


def rehearse(problem: Problem, patch: Patch, seconds: float, main: int | None) -> None:
    """Build a variant in a child, which may crash; whoever calls has ended the child that runs variants."""
    persist(lambda: _rehearse_once(problem, patch, seconds, main))


def _rehearse_once(problem: Problem, patch: Patch, seconds: float, main: int | None) -> None:
    with start(
        lambda channel: rehearse_build(channel, problem, patch),
        seconds=seconds,
        main=main,
        device=problem.device,
    ) as child:
        try:
            child.expect(Ran)
        except ChildEndedError as ended:
            if ended.killed:
                raise
            how = judge.fault_of(ended, seconds).detail
            raise judge.Fault(Verdict.COMPILE, how) from None
        except FAILURES as failure:
            raise judge.fault_of(failure, seconds) from None


@contextmanager
def _compiler_faults() -> Generator[None]:
    """Turn what a compiler raises into a verdict: a variant must not end the search."""
    try:
        yield
    except SourceError as error:
        raise judge.Fault(Verdict.COMPILE, str(error)) from None
    except MachineError:
        raise
    except MemoryError:
        raise judge.Fault(Verdict.MEMORY, "out of memory") from None
    except Exception as error:
        if shortage := shortage_of(error):
            raise shortage from error
        raise judge.Fault(Verdict.CRASH, one_line(error)) from error
