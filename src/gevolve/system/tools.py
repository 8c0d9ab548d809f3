"""Runs compilers, assemblers and other programs: each has a deadline, and dies with this process.

A tool that someone kills, as the kernel does when memory runs out, is started again. That says
nothing about what the tool was given.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gevolve.errors import GevolveError, MachineError
from gevolve.system import linux

_STARTS = 6
"""How often a tool is started that is killed each time."""


class ToolTimeoutError(GevolveError):
    """A tool was not done in time. Whoever ran it says what that means."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a tool ended, and what it wrote."""

    status: int
    """0 if it is content; negative if a signal ended it."""
    out: bytes
    errors: str
    """What it wrote to stderr."""

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def how(self) -> str:
        """How it ended, in words."""
        if self.status >= 0:
            return f"exit status {self.status}"
        try:
            return signal.Signals(-self.status).name
        except ValueError:
            return f"signal {-self.status}"

    @property
    def said(self) -> str:
        """What it wrote to stderr; if that is nothing, how it ended."""
        return self.errors.strip() or f"it ended with {self.how} and said nothing"


def run(
    command: Sequence[str],
    *,
    seconds: float,
    stdin: bytes = b"",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Done:
    """Run a tool to its end; raises `ToolTimeoutError`, and OSError if it cannot be started."""
    for times in range(_STARTS):
        done = _once(command, seconds, stdin, folder, environment)
        if done.status != -signal.SIGKILL:
            return done
        time.sleep(0.05 * 2**times)
    name = Path(command[0]).name
    raise MachineError(
        f"{name} was killed {_STARTS} times (SIGKILL, which gevolve did not send); most likely"
        " memory runs out: free some, then try again"
    )


def _once(
    command: Sequence[str],
    seconds: float,
    stdin: bytes,
    folder: Path | None,
    environment: Mapping[str, str] | None,
) -> Done:
    parent = os.getpid()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=None if environment is None else os.environ | dict(environment),
        process_group=0,
        preexec_fn=lambda: linux.die_with_parent(parent, signal.SIGKILL),  # noqa: PLW1509  (one system call)
    ) as process:
        try:
            out, errors = process.communicate(stdin or None, timeout=seconds)
        except BaseException as error:
            linux.kill(process.pid)  # with all of its group
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                name = Path(command[0]).name
                raise ToolTimeoutError(f"{name} was not done after {seconds:g} s") from None
            raise
    return Done(process.returncode, out, errors.decode(errors="replace"))
