"""Where IREE is not installed nothing of it is imported, and who asks for it is told what to install."""

import importlib.util
import json
import subprocess
import sys

import pytest

ABSENT = """
import json, sys
sys.modules["iree"] = None  # it is not found, and an import of it fails
import gevolve, gevolve.cli
from gevolve.device.registry import devices

device = gevolve.open_device("xla:cpu")
device.build("module { func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> } }")
parts = "gevolve.device.iree", "gevolve.device.virtual", "gevolve.device.sim.", "iree."
found = {"loaded": sorted(name for name in sys.modules if name.startswith(parts))}
found["listed"] = [line for name, line in devices() if name.startswith("iree")]
try:
    gevolve.open_device("iree:a100")
except gevolve.GevolveError as error:
    found["refused"] = str(error)
print(json.dumps(found))
"""


@pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="models need JAX; pip install 'gevolve[ml]'"
)
def test_without_iree_nothing_of_it_is_imported():
    done = subprocess.run(
        [sys.executable, "-c", ABSENT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "[iree]'" in found["refused"]
    assert len(found["listed"]) == 1
    assert "without IREE" in found["listed"][0]
    assert found["loaded"] == []
