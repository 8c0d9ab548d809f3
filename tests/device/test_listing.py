"""`gevolve devices`: what there is, and what to install for what is not."""

import subprocess
import sys

import pytest

from gevolve.cli import main
from gevolve.device import cuda, xla
from gevolve.device.cuda import query
from gevolve.device.registry import devices
from gevolve.errors import DeviceError

GPU = query.GpuInfo(index=1, title="Tesla P100", sm="sm_60", memory=16 << 30, driver="12.8")


def test_every_family_has_a_line(capsys):
    with pytest.raises(SystemExit) as left:
        main(["devices"])
    assert not left.value.code
    said = capsys.readouterr()
    assert said.err.startswith("limits of a process that runs variants here: ")
    lines = said.out.splitlines()
    families = [line.split()[0].partition(":")[0] for line in lines]
    assert list(dict.fromkeys(families)) == ["sim", "ptx", "cuda", "xla", "iree"]
    assert any(line.startswith("sim:a100 ") for line in lines)


def test_a_gpu_is_described(monkeypatch):
    monkeypatch.setattr(cuda, "installed", lambda: True)
    monkeypatch.setattr(query, "gpus", lambda: [GPU])
    assert ("cuda:1", "PTX on Tesla P100, sm_60, 16.0 GB, driver for CUDA 12.8") in devices()


def test_what_is_missing_is_told(monkeypatch):
    def fails():
        raise DeviceError("cuda: reboot")

    monkeypatch.setattr(cuda, "installed", lambda: True)
    monkeypatch.setattr(query, "gpus", fails)
    assert cuda.Cuda.models() == [("", "reboot")]
    monkeypatch.setattr(cuda, "installed", lambda: False)
    assert "pip install './[cuda]'" in cuda.Cuda.models()[0][1]
    monkeypatch.setattr(xla, "found_by_jax", list)
    assert "pip install './[ml]'" in xla.Xla.models()[0][1]


def test_modules_are_looked_for_without_importing_them():
    asked = (
        "import sys; from gevolve.device.cuda.driver import installed;"
        "installed(); assert 'cuda.bindings' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", asked], check=True)
