"""A program, a device and workloads that do in a child whatever an edit's kind says.

The file is loaded by workers the way a user's workload file is.
"""

import ctypes
import hashlib
import os
import re
import signal
import stat
import sys
import threading
import time
from pathlib import Path

import numpy as np

from gevolve.device.base import Device, Limits, Poisoned, Stopped, Usage
from gevolve.errors import CompileError, DeviceError
from gevolve.patch import Edit, Patch
from gevolve.program import Change, Variant
from gevolve.workload.base import Case, KernelWorkload


class ToyProgram:
    """Its text is its patch."""

    text = "toy"
    kinds = ("right",)

    @property
    def digest(self):
        return hashlib.sha256(self.text.encode()).hexdigest()

    def propose(self, kind, rng, profile):
        return Edit(kind, (), int(rng.integers(1 << 32)))

    def apply(self, patch: Patch) -> Variant:
        if any(edit.kind == "confuses" for edit in patch):
            raise KeyError("i17")
        kept = [edit for edit in patch if edit.kind != "skip"]
        skipped = tuple((i, "told to") for i, edit in enumerate(patch) if edit.kind == "skip")
        # Like a compiler, it makes the same artefact of different edits that mean the same.
        lines = [f"{edit.kind} {' '.join(edit.args)}".strip() for edit in kept]
        return Variant(patch, "\n".join(["toy", *lines]), skipped)

    def verify(self, text):
        return "no such thing" if "\ninvalid" in text else None

    def instrumented(self):
        return "toy\nmarked"

    def describe(self, edit):
        return Change(str(edit))


class ToyDevice(Device):
    name = "toy"
    isolated = True

    def build(self, text):
        if "\nbewilders" in text:
            raise ValueError("out of registers")
        if "\nuncompilable" in text:
            raise CompileError("cannot select")
        if "\nbuild-abort" in text:
            os.write(2, b"LLVM ERROR: Cannot select: t7\n")
            os.abort()
        return text.encode()

    def prepare(self, artefact, kernels):
        if "\nunrunnable" in artefact.decode():
            raise CompileError("no such instruction")

    def open(self, artefact, limits, *, poison=0, check=None):
        return ToyGpu(artefact.decode().split("\n")[1:], limits, poison)


class ToyGpu:
    def __init__(self, lines, limits: Limits, poison):
        self.lines, self.limits, self.poison = lines, limits, poison
        self.used = Usage(time=1000.0, fuel=10, launches=1, memory=1 << 20)

    def double(self, x):
        """The only kernel: gives 2 x, unless told otherwise."""
        y = 2 * x
        self.used.time += x.size
        for line in self.lines:
            kind, *args = line.split()
            # Any other kind takes arguments only so that each variant is an artefact of its own.
            y = getattr(self, kind.replace("-", "_"))(x, y, *(args if kind == "right" else ()))
        return y

    def usage(self, *, timed=True):
        return self.used

    def close(self):
        pass

    # --- good ones

    def right(self, x, y, gain="0"):
        self.used.time -= int(gain)
        return y

    def neutral(self, x, y):
        return y

    def pid(self, x, y):
        return y

    def alike(self, x, y):
        return y

    def marked(self, x, y):
        self.used.marks = {"b0": 1, "b1": x.size}
        return y

    def prints(self, x, y):
        for _ in range(300):
            print("o" * 1000)
            os.write(2, b"e" * 1000)
        return y

    def strays(self, x, y):
        for _ in range(3):
            if os.fork() == 0:
                time.sleep(3600)
        return y

    def escapes(self, x, y):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3600)
            os._exit(0)
        return y

    # --- wrong ones

    def wrong(self, x, y):
        return y + 1

    def wrong_on_large(self, x, y):
        return y + 1 if x.size > 64 else y

    def near(self, x, y):
        return y * np.float32(1.001)

    def nan(self, x, y):
        return np.where(np.arange(y.size) == 3, np.nan, y).astype(y.dtype)

    def inf(self, x, y):
        return y / np.zeros_like(y)

    def shape(self, x, y):
        return y[:-1]

    def dtype(self, x, y):
        return y.astype(np.float64)

    def more(self, x, y):
        return (y, y)

    def huge(self, x, y):
        return np.zeros(1 << 23)

    def nothing(self, x, y):
        return None

    def writes(self, x, y):
        self.used.changed = (0,)
        return y

    def poisoned(self, x, y):
        return y + np.float32(1e-6) * self.poison

    def chance(self, x, y):
        y[0] += np.float32(1e-6) * os.urandom(1)[0]
        y[1] += np.float32(1e-6) * os.urandom(1)[0]
        return y

    def no_time(self, x, y):
        self.used.time = float("nan")
        return y

    # --- bad ones

    def burns(self, x, y):
        raise Stopped("fuel", f"more than {self.limits.fuel} iterations")

    def hoards(self, x, y):
        raise Stopped("memory", f"more than {self.limits.memory} bytes")

    def traps(self, x, y):
        raise Stopped("crash", "trap")

    def poisons(self, x, y):
        raise Poisoned("crash", "an illegal memory access")

    def raises(self, x, y):
        raise ValueError("no such\nluck")

    def exits(self, x, y):
        sys.exit(0)

    def leaves(self, x, y):
        os._exit(0)

    def segv(self, x, y):
        ctypes.string_at(8)

    def aborts(self, x, y):
        os.write(2, b"malloc(): invalid size\n")
        os.abort()

    def fpe(self, x, y):
        os.kill(os.getpid(), signal.SIGFPE)
        time.sleep(3600)

    def overflow(self, x, y):
        sys.setrecursionlimit(1 << 30)
        ctypes.CFUNCTYPE(None)(lambda: self.overflow(x, y))()

    def scribble(self, x, y):
        for offset in range(0, 1 << 24, 1 << 16):
            ctypes.memset(id(y) - offset, 0xA5, 1 << 16)

    def stamps(self, x, y):
        """Wild stores that hit what is there, and do not fault at once."""
        ctypes.memset(id(self.used), 0xA5, 256)
        ctypes.memset(id(y), 0xA5, 64)
        return y

    def allocates(self, x, y):
        held = []
        while True:
            held.append(bytearray(1 << 20))

    def nibbles(self, x, y):
        held = []
        while True:
            held.append([None] * 2048)

    def gulps(self, x, y):
        np.ones(1 << 40)

    # --- slow ones

    def loops(self, x, y):
        while True:
            pass

    def loops_in_c(self, x, y):
        re.match(r"(a+)+$", "a" * 64 + "b")  # 2**64 steps, none of them in Python

    def sleeps(self, x, y):
        time.sleep(3600)

    def ignores(self, x, y):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(3600)

    def stops(self, x, y):
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)

    def threads(self, x, y):
        for _ in range(4):
            threading.Thread(target=time.sleep, args=(3600,)).start()
        time.sleep(3600)

    def strays_and_sleeps(self, x, y):
        self.strays(x, y)
        self.escapes(x, y)
        time.sleep(3600)

    def chatters(self, x, y):
        while True:
            os.write(2, b"e" * 4096)

    # --- those that go for the worker

    def closes(self, x, y):
        for fd in _sockets():
            os.close(fd)
        time.sleep(3600)

    def garbles(self, x, y):
        for fd in _sockets():
            os.write(fd, bytes(range(256)) * 16)
        time.sleep(3600)

    def shouts(self, x, y):
        for fd in _sockets():
            os.write(fd, b"\xff\xff\xff\xff")
        time.sleep(3600)

    def lies(self, x, y):
        """A well-formed message of the wrong kind."""
        from gevolve.evaluate.protocol import Prepare, frame

        for fd in _sockets():
            os.write(fd, frame(Prepare("search")))
        time.sleep(3600)

    def nests(self, x, y):
        for fd in _sockets():
            os.write(fd, (1 << 19).to_bytes(4, "little") + b"\x91" * (1 << 19))
        time.sleep(3600)

    def drips(self, x, y):
        """Half a message, for ever."""
        for fd in _sockets():
            os.write(fd, (1 << 19).to_bytes(4, "little"))
            while True:
                os.write(fd, b"\x91")
                time.sleep(0.01)

    def floods(self, x, y):
        """Ends the stream with more than any pipe holds, and nobody reads."""
        for fd in _sockets():
            while True:
                os.write(fd, bytes(1 << 16))

    def magic(self, x, y):
        return np.full_like(y, 666)

    def hunts(self, x, y):
        """Kills its own worker, as no variant should be able to."""
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)


def _sockets():
    fds = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    found = []
    for fd in fds:
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                found.append(fd)
        except OSError:
            pass
    return found


class Toy(KernelWorkload):
    source = "toy.py"
    rounding = 1e-5

    def load(self):
        return ToyProgram()

    def restore(self, text):
        return self.load()

    def device(self, name):
        if name != "toy":
            raise DeviceError(f"no device {name!r}; use toy")
        return ToyDevice()

    def case(self, rng, size):
        count = {"search": 64, "held-out": 100, "large": 5000}[size]
        return Case(x=rng.random(count + int(rng.integers(1, 9)), np.float32))

    def run(self, gpu, case):
        return gpu.double(case.x)


class Referred(Toy):
    def reference(self, case):
        return 2.0 * case.x.astype(np.float64)


class BadReference(Toy):
    def reference(self, case):
        return 2.5 * case.x


class OddReference(Toy):
    def reference(self, case):
        return case.x[1:]


class RaisingReference(Toy):
    def reference(self, case):
        raise RuntimeError("no reference today")


class CrashingReference(Toy):
    def reference(self, case):
        os.abort()


class NanReference(Toy):
    """NaN where it should be; a variant must have it there too."""

    def run(self, gpu, case):
        y = gpu.double(case.x)
        y[7] = np.nan
        return {"y": y, "sum": y.sum()}

    def reference(self, case):
        y = np.where(np.arange(case.x.size) == 7, np.nan, 2 * case.x)
        return {"sum": np.nan, "y": y}


class NanOutput(Toy):
    """NaN, and no reference that says so."""

    def run(self, gpu, case):
        return gpu.double(case.x) * np.float32(np.nan)


class Uninitialised(Toy):
    def run(self, gpu, case):
        return gpu.double(case.x) + np.float32(gpu.poison * 1e-7)


class BadCase(Toy):
    def case(self, rng, size):
        return Case(x=rng.random(-1))


class NoCase(Toy):
    search_cases = 0


class BadRun(Toy):
    def run(self, gpu, case):
        return gpu.triple(case.x)


class NoOutput(Toy):
    def run(self, gpu, case):
        gpu.double(case.x)


class BadProgram(Toy):
    def load(self):
        raise CompileError("toy.cu:3:1: error: expected expression\n  y = ;\n      ^")


class Disagreeing(Toy):
    def case(self, rng, size):
        return Case(x=np.frombuffer(os.urandom(64), np.uint8).astype(np.float32))


class FragileJudge(Toy):
    """Its error() takes the worker down when it sees a certain output."""

    def error(self, got, want):
        if got.flat[0] == 666:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().error(got, want)


class HangingJudge(Toy):
    def error(self, got, want):
        if got.flat[0] == 666:
            re.match(r"(a+)+$", "a" * 64 + "b")
        return super().error(got, want)


class RaisingJudge(Toy):
    def error(self, got, want):
        if got.flat[0] == 666:
            raise ZeroDivisionError("judge")
        return super().error(got, want)


class NanJudge(Toy):
    def error(self, got, want):
        return float("nan") if got.flat[0] == 666 else 0.0


class DyingWorker(Toy):
    """Its worker is killed before it is ready."""

    def restore(self, text):
        os.kill(os.getpid(), signal.SIGKILL)


class Brief(Toy):
    """A worker that takes a while, for tests that interrupt it."""

    def run(self, gpu, case):
        time.sleep(0.2)
        return gpu.double(case.x)


class LastingDevice(ToyDevice):
    """One process for all variants; its compiler tells some artefacts from others only by length."""

    deterministic = False
    isolated = False

    def prepare(self, artefact, kernels):
        super().prepare(artefact, kernels)
        self.prepared = artefact

    def fingerprint(self, artefact):
        assert self.prepared == artefact
        if b"\npid" in artefact:
            return f"{os.getpid()} {artefact}"
        return "alike" if b"\nalike" in artefact else ""


class Lasting(Toy):
    def device(self, name):
        super().device(name)
        return LastingDevice()


class Chance(Toy):
    """On a device that is not deterministic."""

    def device(self, name):
        device = super().device(name)
        device.deterministic = False
        return device
