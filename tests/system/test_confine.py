"""What a confined process cannot do any more, and what it still can."""

import os
import socket
import subprocess
import threading
import time

import pytest

from gevolve.system.confine import OFF, SCRATCH, confine, enforced

pytestmark = pytest.mark.skipif(
    len(enforced()) < 3, reason="this kernel has no Landlock with scopes, or no seccomp"
)


def confined(action, *writes, sockets="none"):
    """What an action gives, or raises, in a confined process."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.environ[SCRATCH] = "/dev/null"
            confine(writes, sockets)
            said = str(action())
        except OSError as error:
            said = type(error).__name__
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read) as file:
        return file.read()


def opened(family, kind=socket.SOCK_DGRAM):
    socket.socket(family, kind).close()
    return "opened"


def test_it_has_no_network():
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
        assert confined(lambda family=family: opened(family)) == "PermissionError"
    local = [confined(lambda f=f: opened(f), sockets="local") for f in (socket.AF_UNIX, 16, 2, 10)]
    assert local == ["opened", "opened", "PermissionError", "PermissionError"]
    assert confined(lambda: opened(socket.AF_INET), sockets="all") == "opened"


def test_it_writes_no_file_but_where_it_may(tmp_path):
    (tmp_path / "old").write_text("old")
    (tmp_path / "mine").mkdir()
    attempts = {
        "new": lambda: (tmp_path / "new").write_text("x"),
        "changed": lambda: (tmp_path / "old").write_text("x"),
        "truncated": lambda: os.truncate(tmp_path / "old", 0),
        "removed": (tmp_path / "old").unlink,
        "renamed": lambda: (tmp_path / "old").rename(tmp_path / "other"),
        "folder": (tmp_path / "folder").mkdir,
        "link": lambda: (tmp_path / "link").symlink_to("old"),
    }
    for what, attempt in attempts.items():
        assert confined(attempt, str(tmp_path / "mine")) == "PermissionError", what
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "old"]
    assert (tmp_path / "old").read_text() == "old"
    assert confined(lambda: (tmp_path / "mine" / "a").write_text("x"), str(tmp_path / "m*")) == "1"


def test_what_it_starts_is_confined_too(tmp_path):
    target = tmp_path / "file"
    command = ["sh", "-c", f"echo hello; echo x > {target}"]
    said = confined(lambda: subprocess.run(command, capture_output=True, check=False).stdout)
    assert said == str(b"hello\n")
    assert not target.exists()


def test_it_still_computes(tmp_path):
    (tmp_path / "data").write_text("data")

    def work():
        with (tmp_path / "data").open() as file:
            read = file.read()
        threading.Thread(target=os.getpid).start()
        one, other = socket.socketpair()
        one.send(b"x")
        return read + other.recv(1).decode()

    assert confined(work) == "datax"


def test_it_signals_nobody_else():
    assert confined(lambda: os.kill(os.getppid(), 0)) == "PermissionError"


def test_it_costs_little():
    def work():
        began = time.thread_time()
        confine()
        return time.thread_time() - began

    assert min(float(confined(work)) for _ in range(5)) < 0.005


def test_it_can_be_switched_off(monkeypatch, tmp_path):
    monkeypatch.setenv(OFF, "1")
    assert enforced() == []
    assert confined(lambda: (tmp_path / "new").write_text("x")) == "1"
