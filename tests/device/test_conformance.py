"""The suite for kernel devices: `sim`, a named GPU, `cuda` over a double of the driver and over a driver."""

import subprocess
import sys
from functools import cache

import pytest

from gevolve.device.cuda import Cuda
from gevolve.device.cuda.driver import installed
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


HARMLESS = tuple(name for name in devices.CHECKS if name not in devices.BREAKING)


@cache
def on_a_gpu(*checks):
    """How checks went in a process of their own: on a GPU if there is one, else on the virtual GPU."""
    command = [sys.executable, "-m", "gevolve.testing.devices", "cuda:0", *checks]
    if why_no_gpu():
        command = [sys.executable, "-m", "gevolve", "gpu", "--device", "t4", "--", *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.skipif(not installed(), reason="cuda-bindings is not installed")
class TestCuda(DeviceConformance):
    @pytest.mark.parametrize("name", devices.CHECKS)
    def test_check(self, name):
        # A faulty kernel leaves its process unusable; the others can share one.
        done = on_a_gpu(*(HARMLESS if name in HARMLESS else (name,)))
        assert f"passed {name}\n" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("device", "machine"),
    [(open_device("sim"), False), (open_device("sim:a100"), True), (Cuda("0", Double()), False)],
)
def test_only_machine_code_that_was_read_has_a_fingerprint(device, machine):
    """Different PTX may be the same machine code; PTX is only told apart by its text."""
    assert bool(device.fingerprint(devices.artefact_of(device))) is machine
