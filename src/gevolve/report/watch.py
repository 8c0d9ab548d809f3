"""Serves the page of a run in progress on this machine, without ever making the run wait.

One thread reads the store, a page of rows at a time and with nothing open in between; the others
answer browsers from memory. A page says what it has and gets what is new, so a long run costs no
more to follow than a short one.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import msgspec

from gevolve.errors import GevolveError, OptionError
from gevolve.report.html.facts import facts
from gevolve.report.html.follow import Follower
from gevolve.report.html.page import policy, render
from gevolve.report.html.subject import Describer, newest, take_apart
from gevolve.run.run import Run
from gevolve.run.store import FILE

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESS = "127.0.0.1"
SECONDS = 1.0
"""How often the store is read."""
WORDS = 20_000
"""So many characters of edits in words are sent each time; of other variants, their patches."""
PATIENCE = 15.0
"""Without a question from a page for this long, the store is left alone."""


@dataclass(slots=True)
class _Open:
    """A run that is being followed."""

    file: tuple[int, int]
    """Which file it is: a run that was removed and started again is another one."""
    run: Run
    follower: Follower
    words: Describer
    epoch: str
    subject: dict[str, Any] | None = None
    version: object = None
    """Of the subject."""
    shown: object = None
    """What pages were told of its status."""


class Feed:
    """What is known of the run in a folder: read by one thread, asked by any."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._open: _Open | None = None
        self._answer: dict[str, Any] = {"waiting": f"There is no run in {folder} yet."}
        self._version = 0
        self._asked = time.monotonic()

    def refresh(self) -> None:
        """Read what is new; a store that is not there, or not yet whole, is waited for."""
        try:
            self._follow()
        except GevolveError as error:
            self._close()
            self._tell({"waiting": str(error)})

    def close(self) -> None:
        self._close()

    @property
    def wanted(self) -> bool:
        """Whether a page has asked lately."""
        return time.monotonic() - self._asked < PATIENCE

    def _follow(self) -> None:
        file = self._file()
        if self._open is not None and file != self._open.file:
            self._close()
            if file is None:
                self._tell({"waiting": f"The run in {self._folder} is gone."})
        if file is None:
            return
        if self._open is None:
            self._begin(file)
        current = self._open
        assert current is not None
        with self._lock:
            fresh = current.follower.read()
        running = current.run.active
        status = (running, current.run.store.get("status", str, ""))
        if not fresh and status == current.shown:
            return
        current.shown = status
        if current.follower.standings.started:
            self._tell(self._summary(current, running=running))

    def _file(self) -> tuple[int, int] | None:
        try:
            found = (self._folder / FILE).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _begin(self, file: tuple[int, int]) -> None:
        run = Run.open(self._folder)
        try:
            follower, words = Follower(run), Describer(run)
        except BaseException:
            run.close()
            raise
        self._open = _Open(file, run, follower, words, secrets.token_hex(4))
        self._tell(
            {"waiting": f"The run in {self._folder} has begun; its first verdict is to come."}
        )

    def _summary(self, current: _Open, *, running: bool) -> dict[str, Any]:
        follower = current.follower
        version = newest(follower)
        if version != current.version:
            current.version = version
            current.subject = current.run.guarded(
                lambda: take_apart(follower, current.words) or {}, dict[str, Any]
            )
        return {
            "kind": "run",
            "live": True,
            "running": running,
            "epoch": current.epoch,
            "run": facts(current.run),
            **follower.summary(current.words, WORDS),
            "subject": current.subject or None,
        }

    def _tell(self, answer: dict[str, Any]) -> None:
        with self._lock:
            self._version += 1
            self._answer = answer

    def _close(self) -> None:
        if self._open is not None:
            with self._lock:
                run, self._open = self._open.run, None
            run.close()

    def answer(self, epoch: str, points: int, edits: int, version: int) -> bytes:
        """What is new to a page that has this many points and edits, and this version of the rest."""
        with self._lock:
            self._asked = time.monotonic()
            current = self._open
            if current is None or "epoch" not in self._answer:
                return msgspec.json.encode(self._answer)
            if epoch == current.epoch and version == self._version:
                return b'{"same":true}'
            if epoch != current.epoch:
                points = edits = 0
            answer = {
                **self._answer,
                "version": self._version,
                "points": current.follower.points.since(points),
                "edits": current.follower.edits[edits:],
            }
        return msgspec.json.encode(answer)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle of an answer is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    """Two addresses, asked for with GET: the page, and its data."""

    feed: ClassVar[Feed]
    timeout = 20  # a browser may open a connection and say nothing
    server_version = "gevolve"
    sys_version = ""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if not self._is_local():
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"This page is for this machine only.\n")
        elif address.path == "/":
            page = render("gevolve watch", {"kind": "run", "live": True}, live=True)
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", page.encode())
        elif address.path == "/data":
            self._send(HTTPStatus.OK, "application/json", self._data(parse_qs(address.query)))
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"There is nothing here.\n")

    def _is_local(self) -> bool:
        """Whether the request was meant for this server: a page elsewhere may name it otherwise."""
        assert isinstance(self.server, _Server)
        port = self.server.server_port
        return self.headers.get("Host") in {f"{ADDRESS}:{port}", f"localhost:{port}"}

    def _data(self, query: dict[str, list[str]]) -> bytes:
        def number(name: str) -> int:
            text = query.get(name, ["0"])[0]
            return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0

        epoch = query.get("epoch", [""])[0]
        return self.feed.answer(epoch, number("points"), number("edits"), number("version"))

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", f"{policy(live=True)}; frame-ancestors 'none'")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (http.server's name)
        """Say nothing: the terminal may show the run itself."""


def watch(run: Run | str | Path, port: int = 0, say: Callable[[str], None] = print) -> None:
    """Serve the page of a run, begun or not, until interrupted; tells the address with `say`."""
    if not 0 <= port < 1 << 16:
        raise OptionError(f"--port is {port}; it must be from 0 to 65535")
    feed = Feed(run.folder if isinstance(run, Run) else Path(run))
    handler = type("Handler", (_Handler,), {"feed": feed})
    try:
        server = _Server((ADDRESS, port), handler)
    except OSError as error:
        raise OptionError(
            f"--port is {port}, which cannot be had ({error.strerror}); choose another, or 0 for any"
        ) from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    try:
        feed.refresh()  # what it imports is not interrupted later
        thread.start()
        say(f"http://{ADDRESS}:{server.server_port}/")
        while True:
            if feed.wanted:
                feed.refresh()
            time.sleep(SECONDS)
    except KeyboardInterrupt:
        pass
    finally:
        server.shutdown()
        server.server_close()
        feed.close()
