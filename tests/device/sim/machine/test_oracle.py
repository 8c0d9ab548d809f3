"""Machine code does what its PTX does: outputs of both, bit for bit."""

import re
from contextlib import closing
from functools import cache

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.sim import Sim
from gevolve.suite import KERNELS, PAPERS
from gevolve.workload.locate import locate

ARCH = "sm_80"
_FREE = re.compile(rb"\b(add|sub|mul)\.((?:ftz\.)?(?:sat\.)?f(?:32|64))\b")


def exact(ptx: bytes) -> bytes:
    """PTX whose products and sums are rounded one by one; else the assembler may fuse two."""
    return _FREE.sub(rb"\1.rn.\2", ptx)


@cache
def built(name: str):
    """A workload of the suite, and the PTX of its unedited source."""
    workload = locate(name)
    return workload, exact(Sim().build(workload.load().text))


def outputs(device: Sim, workload, ptx: bytes, case, **options):
    with closing(device.open(ptx, Limits(), **options)) as gpu:
        return workload.run(gpu, case), gpu.usage()


def same(one, other) -> bool:
    """Bit for bit, but for the payload of what is no number."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    one, other = np.asarray(one), np.asarray(other)
    equal_nan = one.dtype.kind == "f"
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=equal_nan)


@pytest.mark.parametrize("name", [*KERNELS, *(n for n in PAPERS if not n.startswith("papers/svm"))])
def test_suite(name):
    workload, ptx = built(name)
    case = workload.case(np.random.default_rng(1), "search")
    want, _ = outputs(Sim(), workload, ptx, case)
    got, _ = outputs(Sim(arch=ARCH), workload, ptx, case)
    assert same(got, want)
