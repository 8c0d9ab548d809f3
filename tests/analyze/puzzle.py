"""A program whose every edit has a known effect, for real workers to judge.

The file is loaded by workers the way a user's workload file is. Edits:

    save N         takes N off the time, which is 1000
    idle           does nothing
    skip           is not applied
    lock K, key K  a lock makes the output wrong unless its key comes along; together they save 100
    twin N         saves N, but two twins save no more than one
    rote           is right only on cases that it has seen: those of search and held-out
    outgrown       is wrong on large cases
    blur N         makes the output N thousandths too large
    waste N        adds N to the time
    bloat N        adds N to the time on large cases
"""

import hashlib
import os

import numpy as np

from gevolve.device.base import Device, Usage
from gevolve.patch import Edit, Patch
from gevolve.program import Change, Variant
from gevolve.workload.base import Case
from gevolve.workload.kernel import KernelWorkload


class PuzzleProgram:
    """Its text is its patch."""

    text = "puzzle"
    kinds = ("save", "idle", "waste")
    digest = hashlib.sha256(b"puzzle").hexdigest()

    paper_kinds = kinds
    loose_kinds = ()

    def sweep(self, kinds, profile):
        return []

    def propose(self, kind, rng, profile):
        args = () if kind == "idle" else (str(rng.integers(1, 20)),)
        return Edit(kind, args, int(rng.integers(1, 1 << 32)))

    def apply(self, patch: Patch) -> Variant:
        kept = [" ".join((edit.kind, *edit.args)) for edit in patch if edit.kind != "skip"]
        skipped = tuple((n, "told to") for n, edit in enumerate(patch) if edit.kind == "skip")
        effective = (line for line in kept if line != "idle")
        return Variant(patch, "\n".join(["puzzle", *effective]), skipped)

    def verify(self, text):
        return None

    def rerounded(self, seed):
        return self.text

    def instrumented(self):
        return "puzzle"

    def describe(self, edit):
        line = f"puzzle.cu:{len(edit.args)}"
        return Change(f"{edit.kind} ({line})", lines=(line,))

    def difference(self, before, after):
        new = [edit for edit in after if edit not in before.edits]
        return Change(f"does {new[0].kind}", f"{new[0].kind}d") if new else None


class PuzzleDevice(Device):
    name = "puzzle"

    def build(self, text):
        return text.encode()

    def open(self, artefact, limits, *, poison=0, check=None):
        return PuzzleGpu(artefact.decode().split("\n")[1:], self.noise)

    def noise(self):
        return 1.0


class BlindDevice(PuzzleDevice):
    """Locks do no harm here, so another device must have a look."""

    name = "blind"
    referee = "puzzle"

    def open(self, artefact, limits, *, poison=0, check=None):
        lines = artefact.decode().split("\n")[1:]
        return PuzzleGpu([line for line in lines if not line.startswith("lock")], self.noise)


class NoisyDevice(PuzzleDevice):
    """Each run is off by some per cent, now and then by many, and each process is by some more."""

    name = "noisy"
    deterministic = False

    def __init__(self):
        self._made = 0

    def noise(self):
        if self._made != os.getpid():
            self._made = os.getpid()
            self._rng = np.random.default_rng()
            self._bias = self._rng.normal(0, 0.004)
        rare = abs(self._rng.standard_t(2)) * 0.01
        return float(np.exp(self._bias + rare))


class PuzzleGpu:
    def __init__(self, lines, noise):
        self.lines, self.noise = lines, noise
        self.used = Usage(time=0.0, fuel=10, launches=1, memory=1 << 20)

    def double(self, case):
        edits = [line.split() for line in self.lines]
        kinds = {kind for kind, *_ in edits}
        time = 1000.0
        for kind, *args in edits:
            time -= int(args[0]) if kind == "save" else 0
            time += int(args[0]) if kind == "waste" else 0
            time += int(args[0]) if kind == "bloat" and case.x.size > 1000 else 0
        time -= max((int(args[0]) for kind, *args in edits if kind == "twin"), default=0)
        locks, keys = ({a[0] for kind, *a in edits if kind == word} for word in ("lock", "key"))
        time -= 100 * len(locks & keys)
        y = 2 * case.x * (1 + sum(int(args[0]) for kind, *args in edits if kind == "blur") / 1000)
        known = "rote" not in kinds or float(case.x[0]) in seen()
        grown = "outgrown" in kinds and case.x.size > 1000
        if locks - keys or not known or grown:
            y[-1] += 1
        self.used.time += time * case.x.size / 100 * self.noise()
        return y

    def usage(self, *, timed=True):
        return self.used

    def close(self):
        pass


def seen():
    """The first numbers of all cases that a search uses."""
    return {float(case.x[0]) for split in ("search", "held-out") for case in Puzzle().cases(split)}


class Puzzle(KernelWorkload):
    source = "puzzle.py"
    rounding = 1e-5
    default_device = "puzzle"

    def load(self):
        return PuzzleProgram()

    def restore(self, text):
        return self.load()

    def device(self, name):
        return {"puzzle": PuzzleDevice, "noisy": NoisyDevice, "blind": BlindDevice}[name]()

    def case(self, rng, size):
        count = {"search": 64, "held-out": 100, "large": 5000}[size]
        return Case(x=rng.random(count + int(rng.integers(1, 9))))

    def run(self, gpu, case):
        return gpu.double(case)


class Misjudged(Puzzle):
    """Its reference is wrong on large cases."""

    def reference(self, case):
        return (2.0 if case.x.size < 1000 else 2.5) * case.x
