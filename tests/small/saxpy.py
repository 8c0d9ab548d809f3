"""A kernel so small that a whole search takes seconds: for tests of all that is around a search.

Neither of its barriers is needed, so there is something to find.
"""

from pathlib import Path

import numpy as np

import gevolve

SAXPY = str(Path(__file__))
"""What the command line is given."""


class Saxpy(gevolve.KernelWorkload):
    source = "saxpy.cu"

    def case(self, rng, size):
        n = {"search": 300, "held-out": 401, "large": 900}[size] + int(rng.integers(50))
        return gevolve.Case(x=rng.random(n, np.float32), y=rng.random(n, np.float32), a=2.5)

    def run(self, gpu, case):
        y, x = gpu.array(case.y), gpu.array(case.x)
        gpu.launch("saxpy", -(-case.x.size // 128), 128, y, x, case.a, case.x.size)
        return y.get()

    def reference(self, case):
        return np.float32(case.a) * case.x + case.y
