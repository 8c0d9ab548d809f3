"""The suite for kernel devices: `sim`, a named GPU, `cuda` over a double of the driver, a real GPU."""

import subprocess
import sys
from functools import cache

import pytest

from gevolve.device.cuda import Cuda
from gevolve.device.cuda.query import gpus
from gevolve.device.registry import open_device
from gevolve.errors import DeviceError
from gevolve.testing import devices
from gevolve.testing.devices import DeviceConformance
from tests.device.cuda.double import Double


@cache
def why_no_gpu():
    try:
        return "" if gpus() else "no NVIDIA GPU"
    except DeviceError as error:
        return str(error)


class TestSim(DeviceConformance):
    def open(self):
        return open_device("sim")


class TestNamedGpu(DeviceConformance):
    def open(self):
        return open_device("sim:a100")


class TestCudaOverADouble(DeviceConformance):
    @pytest.mark.parametrize("name", devices.CHECKS)
    def test_check(self, name):
        double = Double()
        device = Cuda("0", double)
        devices.CHECKS[name](device)
        device.close()
        assert double.leaks() == []
        assert (double._last is not None) == (name in devices.BREAKING)


class TestCuda(DeviceConformance):
    @pytest.mark.parametrize("name", devices.CHECKS)
    def test_check(self, name):
        if why_no_gpu():
            pytest.skip(why_no_gpu())
        done = subprocess.run(
            [sys.executable, "-m", "gevolve.testing.devices", "cuda:0", name],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("device", "machine"),
    [(open_device("sim"), False), (open_device("sim:a100"), True), (Cuda("0", Double()), False)],
)
def test_only_machine_code_that_was_read_has_a_fingerprint(device, machine):
    """Different PTX may be the same machine code; PTX is only told apart by its text."""
    assert bool(device.fingerprint(devices.artefact_of(device))) is machine
