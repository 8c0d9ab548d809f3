"""Kernels of the suite on small inputs: what is looked at is their patches, not how they scale."""

from pathlib import Path

import numpy as np

from gevolve.suite import papers
from gevolve.suite.papers import nn, scan
from gevolve.workload.base import Case

FOLDER = Path(papers.__file__).parent


class Scan(scan.Scan):
    source = str(FOLDER / "scan.cu")

    def case(self, rng, size):
        n = {"search": 700, "held-out": 1_100, "large": 2_500}[size] + int(rng.integers(200))
        return Case(values=rng.random(n, np.float32))


class Nn(nn.Nn):
    source = str(FOLDER / "nn.cu")

    def case(self, rng, size):
        return super().case(rng, "held-out" if size == "large" else size)
