"""What the dispatcher process does: it connects to Ray, and keeps actors busy until it is told to end.

Started as ``python -m gevolve.evaluate.dispatcher.main FD PARENT``. It talks over the socket FD, and
ends when the process PARENT ends; Ray ends its actors then.
"""

import asyncio
import importlib
import os
import signal
import socket
import sys
import time
from typing import Any

from gevolve.errors import EvaluationError, GevolveError, OptionError, one_line
from gevolve.evaluate.dispatcher.crew import Crew, Hand, Node
from gevolve.evaluate.dispatcher.messages import (
    Begin,
    Connect,
    Connected,
    End,
    FromDispatcher,
    News,
    Status,
    ToDispatcher,
    encode,
    refusal,
)
from gevolve.evaluate.dispatcher.session import Session
from gevolve.evaluate.protocol import LARGEST, Inbox, Job, Prepare, frame
from gevolve.system import linux

_TICK = 0.5
"""Seconds between two looks at what is late."""
_LOOK = 2.0
"""Seconds between two looks at the nodes."""
_STATUS = 1.0
"""Seconds between two messages about the nodes."""


class EndedError(Exception):
    """The main process has hung up."""


class Dispatcher:
    """A crew, and the session that it works for."""

    def __init__(
        self,
        ray: Any,
        wanted: Connect,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        inbox: Inbox[ToDispatcher],
    ) -> None:
        self._ray = ray
        self._wanted = wanted
        self._reader, self._writer = streams
        self._inbox = inbox
        self._crew = Crew(ray, wanted)
        self._session: Session | None = None
        self._order: list[Any] = []
        self._most: int | None = None
        self._news = 0
        """How many more `News` belong to the order."""
        self._placed = time.monotonic()
        """When there was an actor last."""

    async def run(self) -> None:
        """Work until the main process hangs up."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            group.create_task(self._look())
            group.create_task(self._watch())
            group.create_task(self._report())
            while data := await self._reader.read(1 << 16):
                self._inbox.feed(data)
                for message in self._inbox.messages():
                    self._receive(message)
                if self._session is not None:
                    self._session.hand_out()
            raise EndedError

    def _send(self, message: FromDispatcher) -> None:
        self._writer.write(frame(message))

    def _receive(self, message: ToDispatcher) -> None:
        match message:
            case Begin(workers=most, news=news):
                self._most, self._news = most, news
                self._order = [self._ray.put(encode(message))]
                self._begin()
            case News():
                self._order.append(self._ray.put(encode(message)))
                self._news -= 1
                self._begin()
            case End():
                self._end()
                self._send(message)
            case Prepare(split) if self._session is not None:
                self._session.prepare(split)
            case Job() if self._session is not None:
                self._session.add(message)
            case _:
                pass  # it was for a session that has ended

    def _begin(self) -> None:
        if self._news == 0:
            self._placed = time.monotonic()
            self._session = Session(self._crew, self._group, self._send, self._order, self._most)
            self._staff()

    def _end(self) -> None:
        if self._session is not None:
            self._session.closed = True
            self._session = None
        for hand in self._crew.hands.copy():
            if hand.batches:
                self._crew.dismiss(hand)  # it may take long to come to an end
            elif hand.placed:
                hand.actor.end.remote()

    # --- what goes on all the time ---------------------------------------------------------------

    async def _look(self) -> None:
        while True:
            for node in await self._crew.look():
                self._group.create_task(self._meet(node))
            await asyncio.sleep(_LOOK)

    async def _meet(self, node: Node) -> None:
        """Hire on a node as soon as it has told what it has, whatever becomes of the others."""
        await self._crew.ask(node)
        self._staff()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            if self._session is not None:
                self._session.recruit()
                self._session.check_late()
                self._staff()
                self._check_room()

    async def _report(self) -> None:
        before = time.monotonic()
        while True:
            now = time.monotonic()
            nodes = self._crew.statuses(now - before)
            before = now
            self._send(Status(nodes, self._session.ahead if self._session else 0))
            await asyncio.sleep(_STATUS)

    def _staff(self) -> None:
        if self._session is not None:
            for hand in self._crew.hire():
                self._group.create_task(self._place(hand))

    async def _place(self, hand: Hand) -> None:
        """Wait until an actor runs; then it takes part."""
        try:
            await hand.actor.place.remote()
        except self._crew.errors:
            if not hand.gone:
                self._crew.dismiss(hand)
            return
        hand.placed = True
        if self._session is not None:
            self._session.recruit()

    def _check_room(self) -> None:
        """Give up if there is no actor for long, or if there can be none."""
        crew = self._crew
        if not crew.looked or any(hand.placed for hand in crew.hands):
            self._placed = time.monotonic()
        hopeless = crew.looked and not any(node.fits and node.slots for node in crew.nodes.values())
        first = all(node.status.state != "lost" for node in crew.nodes.values())
        patience = 0.0 if hopeless and first else self._wanted.patience
        if time.monotonic() - self._placed > patience:
            self._send(refusal(EvaluationError(crew.no_room())))
            self._placed = time.monotonic()


def connect(wanted: Connect) -> Any:
    """Ray, connected; raises `GevolveError` if that is not possible."""
    ray: Any = importlib.import_module("ray")  # nothing else in gevolve needs it
    importlib.import_module("ray.util.scheduling_strategies")
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        if wanted.address == "ray":
            cores = wanted.workers or len(os.sched_getaffinity(0))
            ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)
        else:
            ray.init(address=wanted.address, **quiet)
    except ConnectionAbortedError as error:  # its last line says why, the others where
        reason = str(error).strip().splitlines()[-1]
        raise EvaluationError(
            f"--cluster is {wanted.address}, whose head cannot take another client now ({reason});"
            " it may be busy: try again, or look at its logs"
        ) from error
    except ConnectionError as error:
        if wanted.address == "auto":
            raise OptionError(
                "--cluster is auto, and no Ray cluster runs here; start one with `ray start --head`,"
                " or give its address"
            ) from error
        raise OptionError(f"--cluster is {wanted.address}: {one_line(error)}") from error
    except ray.exceptions.AuthenticationError as error:
        raise OptionError(
            f"--cluster is {wanted.address}, which wants another token; set RAY_AUTH_MODE=token and"
            " RAY_AUTH_TOKEN as on its head"
        ) from error
    except RuntimeError as error:  # Ray says so of other versions of Python and of itself
        words = " ".join(str(error).split())
        raise OptionError(
            f"--cluster is {wanted.address}, which cannot be used: {words}"
        ) from error
    return ray


async def serve(main: socket.socket) -> None:
    """Answer messages from the main process until it hangs up."""
    main.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=main)
    inbox: Inbox[ToDispatcher] = Inbox(ToDispatcher, LARGEST)
    while (first := inbox.take()) is None:
        data = await reader.read(1 << 16)
        if not data:
            return
        inbox.feed(data)
    assert isinstance(first, Connect)
    try:
        ray = connect(first)
    except GevolveError as error:
        writer.write(frame(refusal(error)))
        await writer.drain()
        return
    writer.write(frame(Connected()))
    try:
        await Dispatcher(ray, first, (reader, writer), inbox).run()
    except* EndedError:
        ray.shutdown()
    except* Exception as errors:  # noqa: BLE001  (whatever it is, this process has to end)
        # Ray may hang now, and so may threads that wait for it. The main process starts another.
        print(one_line(errors.exceptions[0]), file=sys.stderr, flush=True)
        os._exit(1)


def run(fd: int, parent: int) -> None:
    """The life of the dispatcher."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    linux.die_with_parent(parent, signal.SIGKILL)
    asyncio.run(serve(socket.socket(fileno=fd)))


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
