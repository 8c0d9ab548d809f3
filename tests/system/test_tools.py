import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gevolve.errors import MachineError, shortage_of
from gevolve.system import tools
from tests import ROOT
from tests.evaluate.processes import wait_for


def test_what_a_tool_says():
    done = tools.run(["sh", "-c", "cat; echo oops >&2; exit 3"], seconds=20, stdin=b"given")
    assert (done.status, done.text, done.said) == (3, "given", "oops")
    assert tools.run(["sh", "-c", "exit 4"], seconds=20).said == (
        "it ended with exit status 4 and said nothing"
    )
    assert "SIGSEGV" in tools.run(["sh", "-c", "kill -SEGV $$"], seconds=20).said


def test_a_deadline_ends_it_and_all_that_it_started(tmp_path):
    script = f"sleep 99999 & echo $! > {tmp_path}/pid; sleep 99999"
    with pytest.raises(tools.ToolTimeoutError, match=r"sh was not done after 1 s"):
        tools.run(["sh", "-c", script], seconds=1.0)  # which would never end otherwise
    inner = Path("/proc", (tmp_path / "pid").read_text().strip())
    assert wait_for(lambda: not inner.exists() or "Z" in (inner / "stat").read_text().split()[2])


def test_a_tool_that_was_killed_is_started_again(tmp_path):
    script = f"echo x >> {tmp_path}/n; [ $(wc -l < {tmp_path}/n) -ge 3 ] || kill -KILL $$; echo ok"
    assert tools.run(["sh", "-c", script], seconds=20).text == "ok\n"


def test_one_that_is_always_killed(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(MachineError, match="memory runs out"):
        tools.run(["sh", "-c", "kill -KILL $$"], seconds=20)


def test_a_tool_dies_with_whoever_runs_it():
    script = "from gevolve.system import tools; tools.run(['sleep', '613'], seconds=700)"
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT) as process:
        assert wait_for(lambda: sleepers("613"), 60)
        process.send_signal(signal.SIGKILL)
    assert wait_for(lambda: not sleepers("613"))


def sleepers(seconds):
    """All processes that sleep for so long."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(entry.name)
    return found


def test_a_shortage_is_told_from_a_mistake():
    assert "No space left" in str(shortage_of(OSError(28, os.strerror(28), "/tmp/x")))
    assert shortage_of(FileNotFoundError(2, "No such file")) is None
    assert shortage_of(ValueError("28")) is None
