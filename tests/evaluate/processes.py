"""Finding the processes that an evaluator has started, and left behind."""

import os
import time
from pathlib import Path


def workers_of(main: int) -> list[int]:
    """All living workers of a main process, and their forked children, wherever they have gone."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            continue
        if (
            b"gevolve.evaluate.worker.main" in words
            and words[-2] == str(main).encode()
            and state != "Z"
        ):
            found.append(int(entry.name))
    return found


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children_of(main: int) -> list[int]:
    """The forked children of the workers of a main process."""
    workers = workers_of(main)
    return [pid for pid in workers if parent_of(pid) in workers]


def wait_for(condition, seconds=20.0):
    """Wait until a condition holds; say whether it came to hold."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def all_gone(main: int | None = None) -> bool:
    return wait_for(lambda: not workers_of(main or os.getpid()))
