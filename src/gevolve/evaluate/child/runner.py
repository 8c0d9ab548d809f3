"""Runs artefacts in children: one after the other in the same, until it ends or must not be reused."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from gevolve.evaluate.child.main import Comparison, Problem, serve
from gevolve.evaluate.child.process import Child, ChildEndedError
from gevolve.evaluate.child.start import start
from gevolve.evaluate.protocol import Assignment, CaseRun
from gevolve.evaluate.stopwatch import Stopwatch
from gevolve.evaluate.verdict import KILLS, backoff

_Result = TypeVar("_Result")
_REUSE = 1000
"""A child is replaced after this many artefacts, in case leftovers of each add up."""


def persist(attempt: Callable[[], _Result]) -> _Result:
    """Do what needs a child, and do it again if the child is killed from outside."""
    for times in range(1, KILLS):
        try:
            return attempt()
        except ChildEndedError as ended:
            if not ended.killed:
                raise
            time.sleep(backoff(times))
    return attempt()


class Runner:
    """Runs artefacts in a child, which it starts when needed, reuses, and replaces.

    With `isolated` each artefact gets a child of its own.
    """

    def __init__(
        self, problem: Problem, comparison: Comparison, main: int | None, *, isolated: bool
    ) -> None:
        self._problem = problem
        self._comparison = comparison
        self._main = main
        self._isolated = isolated or problem.device.isolated
        self._child: Child | None = None
        self._memory: int | None = None
        self._count = 0

    @property
    def reused(self) -> bool:
        """Whether the last artefact ran in a child that had run others before."""
        return self._count > 1

    @contextmanager
    def run(
        self,
        artefact: bytes,
        runs: Sequence[CaseRun],
        *,
        kernels: Sequence[str] = (),
        seconds: float,
        memory: int | None = None,
        stopwatch: Stopwatch | None = None,
    ) -> Generator[Child]:
        """A child that makes these runs, within so many seconds and bytes of address space."""
        stopwatch = stopwatch or Stopwatch()
        if memory != self._memory or self._count >= _REUSE:
            self.end()
        if self._child is None:
            self._problem.device.check_fork()
            self._count, self._memory = 0, memory
            self._child = start(
                lambda channel: serve(channel, self._problem, self._comparison),
                seconds=seconds,
                memory=memory,
                main=self._main,
                device=self._problem.device,
            )
        self._count += 1
        self._child.assign(Assignment(artefact, list(runs), list(kernels)), seconds)
        try:
            yield self._child
        finally:
            with stopwatch("end"):
                if self._isolated or not self._child.stop():
                    self.end()

    def end(self) -> None:
        """End the child; the next run starts another."""
        if self._child is not None:
            self._child.end()
            self._child = None
