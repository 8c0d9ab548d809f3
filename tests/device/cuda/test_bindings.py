"""NVIDIA's own bindings, on a library that ends in the double: what `cuda` passes is what they take."""

import importlib.util
import subprocess
import sys

import pytest

from gevolve.testing import devices
from tests import ROOT

HARMLESS = [name for name in devices.CHECKS if name not in devices.BREAKING]


def has_bindings():
    return importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.bindings")


pytestmark = pytest.mark.skipif(not has_bindings(), reason="cuda-bindings is not installed")


@pytest.mark.slow
@pytest.mark.parametrize("checks", [HARMLESS, *([name] for name in sorted(devices.BREAKING))])
def test_the_bindings_take_what_cuda_passes(checks, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.device.cuda.libcuda", tmp_path, *checks],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_nothing_of_cuda_is_imported_unless_asked_for():
    asked = "import gevolve, gevolve.cli, sys; gevolve.open_device('sim'); print([m for m in sys.modules if m.partition('.')[0] == 'cuda' or 'device.cuda' in m])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
