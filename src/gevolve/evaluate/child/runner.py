"""Where artefacts run: each in a fork of its own, or one after another in a child that lasts.

Both give the worker the same thing, a child that goes through the runs of one artefact. A fork is
killed at the end. A child that lasts is told to drop what it is at, and waits for its next turn; if
it does not answer, or says that it cannot go on, it is killed too, and another takes its place.
"""

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

from gevolve.evaluate.child import sandbox, tasks
from gevolve.evaluate.clock import Clock
from gevolve.evaluate.protocol import Prepared, Ran, Run, Turn

_Expected = TypeVar("_Expected")
_TURNS = 1000
"""So many artefacts run in one child, lest what each of them leaves behind add up."""


class Running(Protocol):
    """A child at work, as `sandbox.Child`."""

    @property
    def pid(self) -> int: ...
    def ready(self, clock: Clock) -> str:
        """Wait until the artefact is ready to run; gives its fingerprint. `go` starts each run."""
        ...

    def go(self) -> None: ...
    def expect(self, kind: type[_Expected]) -> _Expected: ...
    def fill(self, buffer: memoryview) -> None: ...
    def end(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...


class Runner(Protocol):
    """Starts children."""

    def begin(
        self,
        artefact: bytes,
        runs: Sequence[Run],
        *,
        kernels: Sequence[str] = (),
        seconds: float,
        room: int | None = None,
    ) -> Running:
        """Have these runs made, within so many seconds and bytes of address space."""
        ...

    @property
    def worn(self) -> bool:
        """Whether the last artefact ran where others had run before it."""
        ...

    def rest(self) -> None:
        """End what lasts; it starts again when it is needed."""
        ...


class Forks:
    """A fresh fork of the worker for each artefact."""

    def __init__(self, bench: tasks.Bench, against: tasks.Against, main: int | None) -> None:
        self._bench = bench
        self._against = against
        self._main = main

    def begin(
        self,
        artefact: bytes,
        runs: Sequence[Run],
        *,
        kernels: Sequence[str] = (),  # noqa: ARG002  (they are ready)
        seconds: float,
        room: int | None = None,
    ) -> Running:
        return _Fork(
            sandbox.start(
                lambda channel: tasks.try_artefact(
                    channel, self._bench, Turn(artefact, list(runs)), self._against
                ),
                seconds=seconds,
                room=room,
                main=self._main,
            )
        )

    @property
    def worn(self) -> bool:
        return False

    def rest(self) -> None:
        """Nothing lasts."""


class _Running:
    """What the two kinds of children have in common."""

    def __init__(self, running: sandbox.Child) -> None:
        self._child = running

    @property
    def pid(self) -> int:
        return self._child.pid

    def go(self) -> None:
        self._child.go()

    def expect(self, kind: type[_Expected]) -> _Expected:
        return self._child.expect(kind)

    def fill(self, buffer: memoryview) -> None:
        self._child.fill(buffer)

    def end(self) -> None:
        self._child.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class _Fork(_Running):
    def ready(self, clock: Clock) -> str:  # noqa: ARG002  (a fork inherits what it is to run)
        return ""


class Lasting:
    """One child for many artefacts; a new one for each if they must not leave traces (`fresh`)."""

    def __init__(
        self, bench: tasks.Bench, against: tasks.Against, main: int | None, *, fresh: bool
    ) -> None:
        self._bench = bench
        self._against = against
        self._main = main
        self._fresh = fresh
        self._child: sandbox.Child | None = None
        self._room: int | None = None
        self._turns = 0

    @property
    def worn(self) -> bool:
        return self._turns > 1

    def begin(
        self,
        artefact: bytes,
        runs: Sequence[Run],
        *,
        kernels: Sequence[str] = (),
        seconds: float,
        room: int | None = None,
    ) -> Running:
        if self._fresh or room != self._room or self._turns >= _TURNS:
            self.rest()
        if self._child is None:
            self._turns = 0
            self._bench.device.check_fork()
            self._room = room
            self._child = sandbox.start(
                lambda channel: tasks.serve(channel, self._bench, self._against),
                seconds=seconds,
                room=room,
                main=self._main,
            )
        self._turns += 1
        self._child.turn(Turn(artefact, list(runs), list(kernels)), seconds)
        return _Turn(self, self._child)

    def rest(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


class _Turn(_Running):
    """A lasting child's work on one artefact."""

    def __init__(self, runner: Lasting, running: sandbox.Child) -> None:
        super().__init__(running)
        self._runner = runner
        self._spoiled = False
        """Whether the child is not where we could tell it to stop."""
        self._over = False
        """Whether the child has given up this artefact by itself."""
        self._owed = 0
        """Bytes of outputs that it has announced and that were not read."""

    def ready(self, clock: Clock) -> str:
        prepared = self.expect(Prepared)
        clock.add(prepared.seconds)
        return prepared.fingerprint

    def expect(self, kind: type[_Expected]) -> _Expected:
        spoiled, self._spoiled = self._spoiled, True
        try:
            message = self._child.expect(kind)
        except sandbox.GaveUpError as gave_up:
            self._over, self._spoiled = True, gave_up.message.last
            raise
        self._spoiled = spoiled
        if isinstance(message, Ran):
            self._owed += sum(header.nbytes for header in message.outputs)
        return message

    def fill(self, buffer: memoryview) -> None:
        self._child.fill(buffer)
        self._owed -= len(buffer)

    def end(self) -> None:
        if self._spoiled or self._owed:
            self._runner.rest()
        elif not self._over:
            self._over = True
            self._child.drop()
