"""The live page's server: what it answers, whom, and that it follows whatever becomes of a run."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from benchmarks.synthetic.runs import Maker, make, validate
from gevolve.errors import OptionError
from gevolve.report.watch import Feed, watch
from gevolve.run.lock import Lock
from gevolve.run.store import LOCK, Store


def ask(feed, have=None):
    """What a page gets that has this already."""
    have = have or {"epoch": "", "points": {"id": []}, "edits": [], "version": 0}
    points, edits = len(have["points"]["id"]), len(have["edits"])
    return json.loads(feed.answer(have["epoch"], points, edits, have["version"]))


@pytest.fixture
def feed(tmp_path):
    feed = Feed(tmp_path / "run")
    yield feed
    feed.close()


def test_a_page_gets_what_is_new_only(tmp_path, feed):
    maker = Maker()
    feed.refresh()
    assert "no run in" in ask(feed)["waiting"]
    with maker.start(tmp_path / "run") as store:
        feed.refresh()
        first = ask(feed)
        assert first["running"]
        assert first["points"]["id"] == [0]
        feed.refresh()
        assert ask(feed, first) == {"same": True}
        store.add([maker.next() for _ in range(200)])
        feed.refresh()
        more = ask(feed, first)
        assert more["epoch"] == first["epoch"]
        assert 0 not in more["points"]["id"]
        assert more["evaluations"] == 200
        assert more["claim"] is None
        assert ask(feed)["points"]["id"] == [0, *more["points"]["id"]]
        validate(store)
        store.set("status", "finished")
        feed.refresh()
        assert ask(feed, more)["claim"] is not None
    feed.refresh()
    last = ask(feed, more)
    assert not last["running"]
    assert last["status"] == "finished"


def test_a_run_that_is_removed_and_started_again(tmp_path, feed):
    make(tmp_path / "run", 30)
    feed.refresh()
    first = ask(feed)
    shutil.rmtree(tmp_path / "run")
    feed.refresh()
    assert "gone" in ask(feed, first)["waiting"]
    make(tmp_path / "run", 20, seed=9)
    feed.refresh()
    again = ask(feed, first)
    assert again["epoch"] != first["epoch"]
    assert again["evaluations"] == 20
    assert again["points"]["id"][0] == 0


def test_a_damaged_run_is_said_to_be_one(tmp_path, feed):
    make(tmp_path / "run", 20)
    file = tmp_path / "run" / "run.sqlite"
    file.write_bytes(file.read_bytes()[:5000])
    feed.refresh()
    assert "damaged" in ask(feed)["waiting"]


def test_a_run_is_never_kept_waiting(tmp_path, feed):
    """A writer that may wait for nothing writes, and goes on, while the page is followed."""
    maker = Maker()
    with maker.start(tmp_path / "run") as store:
        store._database._connection.execute("PRAGMA busy_timeout = 0")
        for _ in range(30):
            store.add([maker.next()])
            feed.refresh()
            store.set("seconds", 1.0)
    with Store.open(tmp_path / "run") as store:
        store.add([maker.next()])
        feed.refresh()
    assert ask(feed)["evaluations"] == 31


def test_asking_whether_a_run_is_written_takes_nothing(tmp_path):
    lock = tmp_path / LOCK
    assert not Lock.held(lock)
    held = Lock(lock)
    code = "import sys, pathlib; from gevolve.run.lock import Lock; print(Lock.held(pathlib.Path(sys.argv[1])))"

    def elsewhere():
        command = [sys.executable, "-c", code, str(lock)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert Lock.held(lock)
    assert elsewhere() == "True"
    held.release()
    assert not Lock.held(lock)
    assert elsewhere() == "False"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """`gevolve watch` as people start it; gives its port."""
    folder = make(tmp_path_factory.mktemp("runs") / "run", 40)
    process = subprocess.Popen(
        [sys.executable, "-m", "gevolve", "watch", str(folder)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    yield int(address.rstrip("/").rpartition(":")[2])
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    process.stdout.close()


def request(port, path, method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def test_serves_the_page_and_its_data(server):
    status, headers, body = request(server, "/")
    assert status == 200
    assert body.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    status, headers, body = request(server, "/data", host=f"localhost:{server}")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert "waiting" in body or json.loads(body)["evaluations"] == 40


@pytest.mark.parametrize(
    "path", ["/run.sqlite", "/../run.sqlite", "/data/..", "//etc/passwd", "/%2e%2e/", "/assets/"]
)
def test_serves_nothing_else(server, path):
    assert request(server, path)[0] == 404


def test_serves_nobody_else(server):
    for host in ("evil.example", f"evil.example:{server}", "127.0.0.1", "[::1]"):
        assert request(server, "/data", host=host)[0] == 403
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert request(server, "/data", method)[0] == 501


@pytest.mark.parametrize(
    "query", ["points=-1", "points=x&edits=9e9", "epoch=%00&version=99", "a" * 900]
)
def test_odd_questions_are_answered_from_the_start(server, query):
    status, _, body = request(server, f"/data?{query}")
    assert status == 200
    answer = json.loads(body)
    assert "waiting" in answer or answer["points"]["id"][0] == 0


def test_a_port_that_cannot_be_had(tmp_path, server):
    with pytest.raises(OptionError, match="choose another"):
        watch(tmp_path, server)
    with pytest.raises(OptionError, match="must be from 0"):
        watch(tmp_path, 70_000)
