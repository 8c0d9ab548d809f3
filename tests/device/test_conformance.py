"""One suite for all kernel devices: `sim`, a named GPU, `cuda` over a double of the driver, a real GPU."""

import subprocess
import sys
from functools import cache

import pytest

from gevolve.device.cuda import Cuda
from gevolve.device.cuda.query import gpus
from gevolve.device.registry import open_device
from gevolve.errors import DeviceError
from tests import ROOT
from tests.device import conformance
from tests.device.cuda.double import Double


@cache
def why_no_gpu():
    try:
        return "" if gpus() else "no NVIDIA GPU"
    except DeviceError as error:
        return str(error)


@pytest.mark.parametrize("name", ["sim", "sim:p100"])
@pytest.mark.parametrize("check", conformance.CHECKS)
def test_sim(name, check):
    conformance.CHECKS[check](open_device(name))


@pytest.mark.parametrize("check", conformance.CHECKS)
def test_cuda_over_a_double(check):
    double = Double()
    device = Cuda("0", double)
    conformance.CHECKS[check](device)
    device.close()
    assert double.leaks() == []
    assert (double._last is not None) == (check in conformance.BREAKING)


@pytest.mark.parametrize("check", conformance.CHECKS)
def test_cuda(check):
    if why_no_gpu():
        pytest.skip(why_no_gpu())
    done = subprocess.run(
        [sys.executable, "-m", conformance.__name__, "cuda:0", check],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
