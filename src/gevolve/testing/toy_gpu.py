"""Everything that a kernel can do wrong in a child, as methods named like the edit kinds of `toy`."""

import ctypes
import os
import re
import signal
import stat
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from gevolve.device.base import Array, Limits, Poisoned, Stopped, Usage
from gevolve.evaluate.protocol import Prepare, frame

mines: list[bool] = []
"""What variants have left behind in their process."""


class ToyGpu:
    """A handle whose kernel does what the lines of its artefact say, one method for each kind."""

    def __init__(self, lines: list[str], limits: Limits, poison: int) -> None:
        self.lines, self.limits, self.poison = lines, limits, poison
        self.used = Usage(time=1000.0, fuel=10, launches=1, memory=1 << 20)

    def double(self, x: Array) -> Any:
        """The only kernel: gives 2 x, unless told otherwise."""
        y = 2 * x
        self.used.time += x.size
        for line in self.lines:
            kind, *args = line.split()
            # Any other kind takes arguments only so that each variant is an artefact of its own.
            y = getattr(self, kind.replace("-", "_"))(x, y, *(args if kind == "right" else ()))
        return y

    def usage(self, *, timed: bool = True) -> Usage:
        return self.used

    def close(self) -> None:
        pass

    # --- good ones

    def right(self, x: Array, y: Array, gain: str = "0") -> Any:
        self.used.time -= int(gain)
        return y

    def neutral(self, x: Array, y: Array) -> Any:
        return y

    def pid(self, x: Array, y: Array) -> Any:
        return y

    def alike(self, x: Array, y: Array) -> Any:
        return y

    def mines(self, x: Array, y: Array) -> Any:
        mines.append(True)
        return y

    def treads(self, x: Array, y: Array) -> Any:
        """It does no harm, but to it what others left in its process does."""
        if mines:
            os.abort()
        return y

    def marked(self, x: Array, y: Array) -> Any:
        self.used.marks = {"b0": 1, "b1": x.size}
        return y

    def prints(self, x: Array, y: Array) -> Any:
        for _ in range(300):
            print("o" * 1000)
            os.write(2, b"e" * 1000)
        return y

    def strays(self, x: Array, y: Array) -> Any:
        for _ in range(3):
            if os.fork() == 0:
                time.sleep(3600)
        return y

    def escapes(self, x: Array, y: Array) -> Any:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3600)
            os._exit(0)
        return y

    # --- wrong ones

    def wrong(self, x: Array, y: Array) -> Any:
        return y + 1

    def wrong_on_large(self, x: Array, y: Array) -> Any:
        return y + 1 if x.size > 64 else y

    def near(self, x: Array, y: Array) -> Any:
        return y * np.float32(1.001)

    def nan(self, x: Array, y: Array) -> Any:
        return np.where(np.arange(y.size) == 3, np.nan, y).astype(y.dtype)

    def inf(self, x: Array, y: Array) -> Any:
        return y / np.zeros_like(y)

    def shape(self, x: Array, y: Array) -> Any:
        return y[:-1]

    def dtype(self, x: Array, y: Array) -> Any:
        return y.astype(np.float64)

    def more(self, x: Array, y: Array) -> Any:
        return (y, y)

    def huge(self, x: Array, y: Array) -> Any:
        return np.zeros(1 << 23)

    def nothing(self, x: Array, y: Array) -> Any:
        return None

    def writes(self, x: Array, y: Array) -> Any:
        self.used.changed = (0,)
        return y

    def poisoned(self, x: Array, y: Array) -> Any:
        return y + np.float32(1e-6) * self.poison

    def chance(self, x: Array, y: Array) -> Any:
        y[0] += np.float32(1e-6) * os.urandom(1)[0]
        y[1] += np.float32(1e-6) * os.urandom(1)[0]
        return y

    def no_time(self, x: Array, y: Array) -> Any:
        self.used.time = float("nan")
        return y

    # --- bad ones

    def burns(self, x: Array, y: Array) -> Any:
        raise Stopped("fuel", f"more than {self.limits.fuel} iterations")

    def hoards(self, x: Array, y: Array) -> Any:
        raise Stopped("memory", f"more than {self.limits.memory} bytes")

    def traps(self, x: Array, y: Array) -> Any:
        raise Stopped("crash", "trap")

    def poisons(self, x: Array, y: Array) -> Any:
        raise Poisoned("crash", "an illegal memory access")

    def raises(self, x: Array, y: Array) -> Any:
        raise ValueError("no such\nluck")

    def reveals(self, x: Array, y: Array) -> Any:
        raise ValueError(" ".join(sorted(os.environ)))

    def exits(self, x: Array, y: Array) -> Any:
        sys.exit(0)

    def leaves(self, x: Array, y: Array) -> Any:
        os._exit(0)

    def segv(self, x: Array, y: Array) -> Any:
        ctypes.string_at(8)

    def aborts(self, x: Array, y: Array) -> Any:
        os.write(2, b"malloc(): invalid size\n")
        os.abort()

    def fpe(self, x: Array, y: Array) -> Any:
        os.kill(os.getpid(), signal.SIGFPE)
        time.sleep(3600)

    def overflow(self, x: Array, y: Array) -> Any:
        sys.setrecursionlimit(1 << 30)
        ctypes.CFUNCTYPE(None)(lambda: self.overflow(x, y))()

    def scribble(self, x: Array, y: Array) -> Any:
        for offset in range(0, 1 << 24, 1 << 16):
            ctypes.memset(id(y) - offset, 0xA5, 1 << 16)

    def stamps(self, x: Array, y: Array) -> Any:
        """Wild stores that hit what is there, and do not fault at once."""
        ctypes.memset(id(self.used), 0xA5, 256)
        ctypes.memset(id(y), 0xA5, 64)
        return y

    def allocates(self, x: Array, y: Array) -> Any:
        held: list[object] = []
        while True:
            held.append(bytearray(1 << 20))

    def nibbles(self, x: Array, y: Array) -> Any:
        held: list[object] = []
        while True:
            held.append([None] * 2048)

    def gulps(self, x: Array, y: Array) -> Any:
        np.ones(1 << 40)

    # --- slow ones

    def loops(self, x: Array, y: Array) -> Any:
        while True:
            pass

    def loops_in_c(self, x: Array, y: Array) -> Any:
        re.match(r"(a+)+$", "a" * 64 + "b")  # 2**64 steps, none of them in Python

    def sleeps(self, x: Array, y: Array) -> Any:
        time.sleep(3600)

    def ignores(self, x: Array, y: Array) -> Any:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(3600)

    def slain(self, x: Array, y: Array) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    def stops(self, x: Array, y: Array) -> Any:
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)

    def threads(self, x: Array, y: Array) -> Any:
        for _ in range(4):
            threading.Thread(target=time.sleep, args=(3600,)).start()
        time.sleep(3600)

    def strays_and_sleeps(self, x: Array, y: Array) -> Any:
        self.strays(x, y)
        self.escapes(x, y)
        time.sleep(3600)

    def chatters(self, x: Array, y: Array) -> Any:
        while True:
            os.write(2, b"e" * 4096)

    # --- those that go for the worker

    def closes(self, x: Array, y: Array) -> Any:
        for fd in _sockets():
            os.close(fd)
        time.sleep(3600)

    def garbles(self, x: Array, y: Array) -> Any:
        for fd in _sockets():
            os.write(fd, bytes(range(256)) * 16)
        time.sleep(3600)

    def shouts(self, x: Array, y: Array) -> Any:
        for fd in _sockets():
            os.write(fd, b"\xff\xff\xff\xff")
        time.sleep(3600)

    def lies(self, x: Array, y: Array) -> Any:
        """A well-formed message of the wrong kind."""
        for fd in _sockets():
            os.write(fd, frame(Prepare("search")))
        time.sleep(3600)

    def nests(self, x: Array, y: Array) -> Any:
        for fd in _sockets():
            os.write(fd, (1 << 19).to_bytes(4, "little") + b"\x91" * (1 << 19))
        time.sleep(3600)

    def drips(self, x: Array, y: Array) -> Any:
        """Half a message, for ever."""
        for fd in _sockets():
            os.write(fd, (1 << 19).to_bytes(4, "little"))
            while True:
                os.write(fd, b"\x91")
                time.sleep(0.01)

    def floods(self, x: Array, y: Array) -> Any:
        """Ends the stream with more than any pipe holds, and nobody reads."""
        for fd in _sockets():
            while True:
                os.write(fd, bytes(1 << 16))

    def magic(self, x: Array, y: Array) -> Any:
        return np.full_like(y, 666)

    def hunts(self, x: Array, y: Array) -> Any:
        """Kills its own worker, as no variant should be able to."""
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)


def _sockets() -> list[int]:
    fds = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    found: list[int] = []
    for fd in fds:
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                found.append(fd)
        except OSError:
            pass
    return found
