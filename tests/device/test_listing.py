"""`gevolve devices`: what there is, and what to install for what is not."""

import subprocess
import sys

import pytest

from gevolve.cli import main
from gevolve.device import listing
from gevolve.device.cuda.query import Found
from gevolve.errors import DeviceError

GPU = Found(device="cuda:1", title="Tesla P100", sm="sm_60", memory=16 << 30, driver="12.8")


def test_every_family_has_a_line(capsys):
    with pytest.raises(SystemExit) as left:
        main(["devices"])
    assert not left.value.code
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0].partition(":")[0] for line in lines] == sorted(
        (line.split()[0].partition(":")[0] for line in lines), key=["sim", "cuda", "xla"].index
    )
    assert {line.split()[0].partition(":")[0] for line in lines} == {"sim", "cuda", "xla"}
    assert any(line.startswith("sim:p100 ") for line in lines)


def test_a_gpu_is_described(monkeypatch):
    monkeypatch.setattr(listing, "_installed", lambda *_: True)
    monkeypatch.setattr(listing, "gpus", lambda: [GPU])
    assert listing._cuda() == [
        ("cuda:1", "PTX on Tesla P100, sm_60, 16.0 GB, driver for CUDA 12.8")
    ]


def test_what_is_missing_is_told(monkeypatch):
    def fails():
        raise DeviceError("cuda: reboot")

    monkeypatch.setattr(listing, "_installed", lambda *_: True)
    monkeypatch.setattr(listing, "gpus", fails)
    assert listing._cuda() == [("cuda", "reboot")]
    monkeypatch.setattr(listing, "_installed", lambda *_: False)
    assert "pip install './[cuda]'" in listing._cuda()[0][1]
    monkeypatch.setattr(listing, "xla_devices", list)
    assert "pip install './[ml]'" in listing._xla()[0][1]


def test_modules_are_looked_for_without_importing_them():
    asked = (
        "import sys; from gevolve.device.listing import _installed;"
        "assert not _installed('cuda_that_is_not', 'cuda_that_is_not.bindings');"
        "_installed('cuda', 'cuda.bindings'); assert 'cuda.bindings' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", asked], check=True)
