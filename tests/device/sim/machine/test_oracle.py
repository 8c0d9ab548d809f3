"""Machine code does what its PTX does: outputs of both, bit for bit."""

from contextlib import closing
from functools import cache

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.sim import Sim
from gevolve.suite import KERNELS
from gevolve.workload.locate import locate

ARCH = "sm_80"


@cache
def built(name: str):
    """A workload of the suite, and the PTX of its unedited source."""
    workload = locate(name)
    return workload, Sim().build(workload.load().text)


def outputs(device: Sim, workload, ptx: bytes, case, **options):
    with closing(device.open(ptx, Limits(), **options)) as gpu:
        return workload.run(gpu, case), gpu.usage()


def same(one, other) -> bool:
    """Bit for bit, but for the payload of what is no number."""
    one, other = np.asarray(one), np.asarray(other)
    equal_nan = one.dtype.kind == "f"
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=equal_nan)


@pytest.mark.parametrize("name", KERNELS)
def test_suite(name):
    workload, ptx = built(name)
    case = workload.case(np.random.default_rng(1), "search")
    want, _ = outputs(Sim(), workload, ptx, case)
    got, used = outputs(Sim(arch=ARCH), workload, ptx, case)
    assert same(got, want)
    assert used.fuel > 0 or name == "reduction"
