"""A workload whose device `cuda:0` is the double, so that a whole search runs through it.

GEVOLVE_TEST_RATE says how many of the driver's calls fail, from the first variant of the search on (the
file GEVOLVE_TEST_MARK tells other processes) and until the front is checked on other cases: on a GPU that
fails like that no search can begin, and none can end.
"""

import os
from pathlib import Path

import numpy as np

import gevolve
from gevolve.device.cuda import Cuda
from tests.device.cuda.double import ASSEMBLED, Double, demand


class Failing(Double):
    """A double whose calls fail at random, once a variant has been seen."""

    def __init__(self, unedited):
        super().__init__(gpus=2)
        self._unedited = unedited
        self._mark = Path(os.environ["GEVOLVE_TEST_MARK"])

    def _cuInit(self, flags):  # noqa: N802  (the driver's name)
        self.rng = np.random.default_rng(os.getpid())
        self._arm()
        return super()._cuInit(flags)

    def _cuModuleLoadDataEx(self, image, *rest):  # noqa: N802
        ptx, _ = ASSEMBLED.get(image[:-1], (image[:-1], ""))
        if ptx != self._unedited:
            self._mark.touch()
            self._arm()
        # One run and the scratch area at most: what a run that failed left must not pile up.
        demand(len(self._blocks) <= 3, f"{len(self._blocks)} blocks of memory are held")
        demand(len(self._modules) <= 3, f"{len(self._modules)} modules are loaded")
        demand(len(self._events) <= 8, f"there are {len(self._events)} events")
        return super()._cuModuleLoadDataEx(image, *rest)

    def _arm(self):
        failing = self._mark.exists() and Smooth.searching
        self.rate = float(os.environ["GEVOLVE_TEST_RATE"]) if failing else 0.0


class Smooth(gevolve.KernelWorkload):
    source = "searched.cu"
    searching = True

    def device(self, name):
        if not name.startswith("cuda"):
            return super().device(name)
        index = name.partition(":")[2]
        Path(os.environ["GEVOLVE_TEST_MARK"]).with_name(f"gpu{index}").touch()
        return Cuda(index, Failing(Cuda().build(self.load().text)))

    def cases(self, split, *rest):
        Smooth.searching = split == "search"
        return super().cases(split, *rest)

    def case(self, rng, size):
        n = {"search": 100, "held-out": 150}.get(size, 300)
        return gevolve.Case(x=rng.random(n, np.float32))

    def run(self, gpu, case):
        n = case.x.size
        out = gpu.empty(n)
        gpu.launch("smooth", -(-n // 64), 64, gpu.array(case.x), out, n)
        return out.get()
