"""From a patch to an artefact that is ready to run; what goes wrong on the way is the variant's fault.

All this happens in the worker: its compiler is warm, and what it touches need not be copied for a
child. A compiler that crashes takes the worker with it, so a patch that has done that is tried in a
child first.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from gevolve.errors import SourceError, one_line
from gevolve.evaluate.child.tasks import Bench
from gevolve.evaluate.clock import Clock
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker.judge import Fault
from gevolve.patch import Patch
from gevolve.program import Variant


def materialise(bench: Bench, patch: Patch, clock: Clock) -> Variant:
    """Apply a patch; the IR's own verifier must accept what comes of it."""
    with _faults(), clock("apply"):
        variant = bench.program.apply(patch)
    with _faults(), clock("verify"):
        why = bench.program.verify(variant.text)
    if why is not None:
        raise Fault(Verdict.INVALID, why)
    return variant


def build(bench: Bench, text: str, clock: Clock) -> bytes:
    """Make the artefact."""
    with _faults(), clock("build"):
        return bench.device.build(text)


def warm(bench: Bench, artefact: bytes, kernels: Sequence[str], clock: Clock) -> None:
    """Do what a child would have to do before it can launch these kernels."""
    with _faults(), clock("open"):
        bench.device.prepare(artefact, kernels)


@contextmanager
def _faults() -> Generator[None]:
    try:
        yield
    except SourceError as error:
        raise Fault(Verdict.COMPILE, str(error)) from None
    except MemoryError:
        raise Fault(Verdict.MEMORY, "out of memory") from None
    except Exception as error:  # a variant that confuses the compiler must not end the search
        raise Fault(Verdict.CRASH, one_line(error)) from error
