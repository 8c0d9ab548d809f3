"""NVIDIA's own bindings, on the virtual GPU: what `cuda` passes is what they take, and what it does is right."""

import subprocess
import sys

import pytest

from gevolve.device.cuda.driver import installed


@pytest.mark.slow
@pytest.mark.skipif(not installed(), reason="cuda-bindings is not installed")
def test_the_self_check_is_content():
    check = (sys.executable, "-m", "gevolve.testing.selfcheck", "cuda:0", "tuned/reduction")
    done = subprocess.run(
        [sys.executable, "-m", "gevolve", "gpu", "--", *check],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "all kernels do on this GPU what they do on sim" in done.stdout, done.stderr


def test_nothing_of_cuda_is_imported_unless_asked_for():
    asked = "import gevolve, gevolve.cli, sys; gevolve.open_device('sim'); print([m for m in sys.modules if m.partition('.')[0] in {'cuda', 'iree'} or 'device.cuda' in m or 'device.virtual.serve' in m])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
