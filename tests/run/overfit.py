"""A program whose search finds what is right only where it looks, and builds on it."""

import numpy as np

from gevolve.patch import Edit
from gevolve.workload.base import Case
from tests.analyze import puzzle


class OverfitProgram(puzzle.PuzzleProgram):
    """``crib N`` saves much, and is right on the search cases only; ``save N`` is honest, and saves little."""

    kinds = ("save", "crib")

    def propose(self, kind, rng, profile):
        if kind == "crib":
            return Edit(kind, (str(rng.integers(40, 43)),), 1)
        return Edit(kind, (str(rng.integers(1, 20)),), int(rng.integers(1, 9)))


class OverfitGpu(puzzle.PuzzleGpu):
    def double(self, case):
        cribs = [line for line in self.lines if line.startswith("crib")]
        self.lines = [line.replace("crib", "save") for line in self.lines]
        y = super().double(case)
        if cribs and self.cribbed(case):
            y[0] = 0
        return y

    def cribbed(self, case):
        return case.x.size not in {one.x.size for one in Overfit().cases("search")}


class NarrowGpu(OverfitGpu):
    """Cribs are right wherever all numbers differ."""

    def cribbed(self, case):
        return np.unique(case.x).size < case.x.size


class NearGpu(OverfitGpu):
    """Cribs are exact where the search looks, and nearly right elsewhere."""

    def double(self, case):
        y = super().double(case)
        if self.nearly:
            y[1] *= 1.001
        return y

    def cribbed(self, case):
        self.nearly = super().cribbed(case)
        return False

    nearly = False


class OutgrownGpu(OverfitGpu):
    """Cribs are right on all but large cases."""

    def cribbed(self, case):
        return case.x.size > 1000


class SwollenGpu(OverfitGpu):
    """Cribs are right everywhere, and slow on large cases."""

    def double(self, case):
        cribs = [line for line in self.lines if line.startswith("crib")]
        self.lines += ["bloat 400" for _ in cribs]
        return super().double(case)

    def cribbed(self, case):
        return False


class OverfitDevice(puzzle.PuzzleDevice):
    gpu = OverfitGpu

    def open(self, artefact, limits, *, poison=0, check=None):
        return self.gpu(artefact.decode().split("\n")[1:], self.noise)


class NarrowDevice(OverfitDevice):
    gpu = NarrowGpu


class NearDevice(OverfitDevice):
    gpu = NearGpu


class OutgrownDevice(OverfitDevice):
    gpu = OutgrownGpu


class SwollenDevice(OverfitDevice):
    gpu = SwollenGpu


class Overfit(puzzle.Puzzle):
    def load(self):
        return OverfitProgram()

    def device(self, name):
        return OverfitDevice()

    def case(self, rng, size):
        count = {"search": 64, "held-out": 100, "large": 5000}[size]
        return Case(x=rng.random(count + int(rng.integers(1, 99))))


class Narrow(Overfit):
    """No case that is drawn as those of the search are shows what is wrong; varied ones do."""

    def device(self, name):
        return NarrowDevice()


class Near(Overfit):
    """With a tolerance of a hundredth nothing fails anywhere."""

    tolerance = 0.01

    def device(self, name):
        return NearDevice()


class Outgrown(Overfit):
    """Only the large case shows what is wrong."""

    def device(self, name):
        return OutgrownDevice()


class Swollen(Overfit):
    """Nothing is wrong anywhere, and what is fast is so on small cases only."""

    def device(self, name):
        return SwollenDevice()


class Honest(Overfit):
    """The same without anything to overfit with."""

    def load(self):
        program = OverfitProgram()
        program.kinds = ("save",)
        return program
