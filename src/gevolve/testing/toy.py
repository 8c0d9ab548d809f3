"""Workloads for the suite of evaluators: their program does in a child whatever an edit's kind says.

Workers load this module the way they load a user's workload file.
"""

import hashlib
import os
import re
import signal
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from gevolve.device.base import Array, Device, Limits
from gevolve.errors import CompileError, DeviceError
from gevolve.patch import Edit, Patch
from gevolve.program import Change, Profile, Variant
from gevolve.testing.toy_gpu import ToyGpu
from gevolve.workload.base import Case, Split
from gevolve.workload.kernel import KernelWorkload

VERDICTS = {
    "right": "ok",
    "neutral": "ok",
    "prints": "ok",
    "strays": "ok",
    "escapes": "ok",
    "invalid": "invalid",
    "uncompilable": "compile",
    "build-abort": "compile",
    "unrunnable": "compile",
    "confuses": "crash",
    "bewilders": "crash",
    "wrong": "wrong",
    "wrong-on-large": "wrong",
    "shape": "wrong",
    "dtype": "wrong",
    "more": "wrong",
    "huge": "wrong",
    "nan": "nonfinite",
    "inf": "nonfinite",
    "writes": "inputs-changed",
    "poisoned": "flaky",
    "burns": "fuel",
    "hoards": "memory",
    "gulps": "memory",
    "nothing": "crash",
    "no-time": "crash",
    "traps": "crash",
    "raises": "crash",
    "exits": "crash",
    "leaves": "crash",
    "segv": "crash",
    "aborts": "crash",
    "fpe": "crash",
    "overflow": "crash",
    "scribble": "crash",
    "stamps": "crash",
    "garbles": "crash",
    "shouts": "crash",
    "lies": "crash",
    "nests": "crash",
    "floods": "crash",
    "magic": "wrong",
}
"""The verdict on each kind of edit of the toy program."""
NEED_ISOLATION = ("scribble", "stamps", "strays", "escapes")
"""Kinds that corrupt their process or leave others behind, which only its end repairs."""
MEMORY = ("allocates", "nibbles")
"""Kinds that take a while to reach the limit on memory."""
SLOW = (
    *("loops", "loops-in-c", "sleeps", "ignores", "stops", "threads", "strays-and-sleeps"),
    *("chatters", "drips"),
)
"""Kinds that only the deadline ends."""


class ToyProgram:
    """Its text is its patch."""

    text = "toy"
    kinds = ("right",)
    paper_kinds = ()
    loose_kinds = ()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def sweep(self, kinds: Sequence[str], profile: Profile | None) -> list[Patch]:
        return []

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit:
        return Edit(kind, (), int(rng.integers(1 << 32)))

    def apply(self, patch: Patch) -> Variant:
        if any(edit.kind == "confuses" for edit in patch):
            raise KeyError("i17")
        kept = [edit for edit in patch if edit.kind != "skip"]
        skipped = tuple((i, "told to") for i, edit in enumerate(patch) if edit.kind == "skip")
        # Like a compiler, it makes the same artefact of different edits that mean the same.
        lines = [f"{edit.kind} {' '.join(edit.args)}".strip() for edit in kept]
        return Variant(patch, "\n".join(["toy", *lines]), skipped)

    def verify(self, text: str) -> str | None:
        return "no such thing" if "\ninvalid" in text else None

    def instrumented(self) -> str:
        return "toy\nmarked"

    def rerounded(self, seed: int) -> str:
        return self.text

    def describe(self, edit: Edit) -> Change:
        return Change(str(edit))


class ToyDevice(Device):
    name = "toy"
    isolated = True

    def build(self, text: str) -> bytes:
        if "\nbewilders" in text:
            raise ValueError("out of registers")
        if "\nuncompilable" in text:
            raise CompileError("cannot select")
        if "\nbuild-abort" in text:
            os.write(2, b"LLVM ERROR: Cannot select: t7\n")
            os.abort()
        return text.encode()

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:
        if "\nunrunnable" in artefact.decode():
            raise CompileError("no such instruction")

    def open(
        self, artefact: bytes, limits: Limits, *, poison: int = 0, check: str | None = None
    ) -> ToyGpu:
        return ToyGpu(artefact.decode().split("\n")[1:], limits, poison)


class Toy(KernelWorkload):
    source = "toy.py"
    rounding = 1e-5

    def load(self) -> Any:
        return ToyProgram()

    def restore(self, text: str) -> Any:
        return self.load()

    def device(self, name: str) -> Device:
        if name != "toy":
            raise DeviceError(f"no device {name!r}; use toy")
        return ToyDevice()

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        count = {"search": 64, "held-out": 100, "large": 5000}[size]
        return Case(x=rng.random(count + int(rng.integers(1, 9)), np.float32))

    def run(self, gpu: Any, case: Case) -> Any:
        return gpu.double(case.x)


class Referred(Toy):
    def reference(self, case: Case) -> Any:
        return 2.0 * case.x.astype(np.float64)


class BadReference(Toy):
    def reference(self, case: Case) -> Any:
        return 2.5 * case.x


class OddReference(Toy):
    def reference(self, case: Case) -> Any:
        return case.x[1:]


class RaisingReference(Toy):
    def reference(self, case: Case) -> Any:
        raise RuntimeError("no reference today")


class CrashingReference(Toy):
    def reference(self, case: Case) -> Any:
        os.abort()


class NanReference(Toy):
    """NaN where it should be; a variant must have it there too."""

    def run(self, gpu: Any, case: Case) -> Any:
        y = gpu.double(case.x)
        y[7] = np.nan
        return {"y": y, "sum": y.sum()}

    def reference(self, case: Case) -> Any:
        y = np.where(np.arange(int(case.x.size)) == 7, np.nan, 2 * case.x)
        return {"sum": np.nan, "y": y}


class NanOutput(Toy):
    """NaN, and no reference that says so."""

    def run(self, gpu: Any, case: Case) -> Any:
        return gpu.double(case.x) * np.float32(np.nan)


class Uninitialized(Toy):
    def run(self, gpu: Any, case: Case) -> Any:
        return gpu.double(case.x) + np.float32(gpu.poison * 1e-7)


class BadCase(Toy):
    def case(self, rng: np.random.Generator, size: Split) -> Case:
        return Case(x=rng.random(-1))


class NoCase(Toy):
    search_cases = 0


class BadRun(Toy):
    def run(self, gpu: Any, case: Case) -> Any:
        return gpu.triple(case.x)


class NoOutput(Toy):
    def run(self, gpu: Any, case: Case) -> Any:
        gpu.double(case.x)


class BadProgram(Toy):
    def load(self) -> Any:
        raise CompileError("toy.cu:3:1: error: expected expression\n  y = ;\n      ^")


class Disagreeing(Toy):
    def case(self, rng: np.random.Generator, size: Split) -> Case:
        return Case(x=np.frombuffer(os.urandom(64), np.uint8).astype(np.float32))


class FragileJudge(Toy):
    """Its error() takes the worker down when it sees a certain output."""

    def error(self, got: Array, want: Array) -> float:
        if got.flat[0] == 666:
            os.abort()
        return super().error(got, want)


class HangingJudge(Toy):
    def error(self, got: Array, want: Array) -> float:
        if got.flat[0] == 666:
            re.match(r"(a+)+$", "a" * 64 + "b")
        return super().error(got, want)


class RaisingJudge(Toy):
    def error(self, got: Array, want: Array) -> float:
        if got.flat[0] == 666:
            raise ZeroDivisionError("judge")
        return super().error(got, want)


class NanJudge(Toy):
    def error(self, got: Array, want: Array) -> float:
        return float("nan") if got.flat[0] == 666 else 0.0


class DyingWorker(Toy):
    """Its worker is killed before it is ready."""

    def restore(self, text: str) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Brief(Toy):
    """A worker that takes a while, for tests that interrupt it."""

    def run(self, gpu: Any, case: Case) -> Any:
        time.sleep(0.2)
        return gpu.double(case.x)


class ReusedDevice(ToyDevice):
    """One process for all variants, and times that vary; its compiler maps some artefacts to one code."""

    deterministic = False
    isolated = False

    def prepare(self, artefact: bytes, kernels: Sequence[str]) -> None:
        super().prepare(artefact, kernels)
        self.prepared = artefact

    def fingerprint(self, artefact: bytes) -> str:
        assert self.prepared == artefact
        if b"\npid" in artefact:
            return f"{os.getpid()} {artefact}"
        return "alike" if b"\nalike" in artefact else ""


class Reused(Toy):
    def device(self, name: str) -> Device:
        super().device(name)
        return ReusedDevice()


class Chance(Toy):
    """On a device that is not deterministic."""

    def device(self, name: str) -> Device:
        device = super().device(name)
        device.deterministic = False
        return device
