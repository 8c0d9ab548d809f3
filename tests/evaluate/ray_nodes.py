"""Nodes of a Ray cluster on this machine, started as users start them, and killed as machines die."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.evaluate.processes import wait_for

_ENVIRONMENT = {
    "RAY_worker_niceness": "0",
    # A connection that is refused tells the head of a death within seconds; one that is slow does not.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "20000",
}


class RayNode:
    """A node that was started with ``ray start``; the first one is the head.

    With `wait=False` it may still be starting; `wait` waits for it.
    """

    def __init__(
        self, head: "RayNode | None" = None, *, port=0, cpus=1, gpus=0, env=None, wait=True
    ):
        self.address = head.address if head else f"127.0.0.1:{port or free_port()}"
        port = self.address.rpartition(":")[2]
        role = [f"--address={self.address}"] if head else ["--head", f"--port={port}"]
        options = [f"--num-cpus={cpus}", f"--num-gpus={gpus}"]
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *role]
        if not head:
            self.client = f"ray://127.0.0.1:{free_port()}"
            options += [
                "--include-dashboard=false",
                f"--ray-client-server-port={self.client.rpartition(':')[2]}",
            ]
        # Nobody reads what nodes print, and none is asked for: two processes less of each.
        without = ["--disable-usage-stats", "--include-log-monitor=false", "--no-monitor"]
        self._command = [*command, *options, *without]
        self._environment = os.environ | _ENVIRONMENT | (env or {})
        self._start()
        if wait:
            self.wait()

    def _start(self):
        self._log = os.fdopen(os.memfd_create("log"), "r+b")
        self._process = subprocess.Popen(
            self._command,
            stdout=self._log,
            stderr=self._log,
            env=self._environment,
            start_new_session=True,
        )

    def wait(self):
        """Wait until it is there; Ray gives up after 30 seconds, which a busy machine may need."""
        for tries in range(3):
            if tries:
                self._start()
            wait_for(lambda: self._started() or self._process.poll() is not None, 120)
            if self._started():
                return
            self.kill()
        raise RuntimeError(self._ended)

    def _text(self):
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def _started(self):
        return "Ray runtime started." in self._text()

    @property
    def processes(self):
        """All processes of the node, by id."""
        return descendants(self._process.pid)

    def kill(self):
        """Kill all its processes at once, as when a machine loses its power."""
        if self._log.closed:
            return
        for pid in [self._process.pid, *self.processes]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._ended = self._text()
        self._log.close()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def descendants(root):
    """The processes below one, by id; each with its name."""
    parents = {}
    names = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                names[int(entry.name)] = (entry / "cmdline").read_bytes().split(b"\0")[0].decode()
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return {pid: names[pid] for pid in below - {root}}


def actors(*nodes):
    """The processes of actors on some nodes."""
    return [
        pid
        for node in nodes
        for pid, name in node.processes.items()
        if name.startswith("ray::Actor")
    ]
