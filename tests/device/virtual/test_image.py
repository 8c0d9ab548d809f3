"""Fat binaries as NVIDIA's `fatbinary` makes them: code for sm_80 and sm_90, and PTX, compressed in its ways.

Those here are of ``fill.ptx``, by ``fatbinary --compress-mode=MODE`` of CUDA 13; ``size`` compresses machine code, too. Two
have PTX for sm_75 and code for sm_90 alone.
"""

import sys
from pathlib import Path

import pytest

from gevolve.device.virtual.codes import Code
from gevolve.device.virtual.image import RejectedError, open_image

FAT = Path(__file__).parent / "fat"
MODES = ("none", "speed", "default", "size")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_90"])
def test_the_code_that_fits_is_found(mode, arch):
    pytest.importorskip("zstandard")
    (kernel,) = open_image((FAT / f"{mode}.fatbin").read_bytes(), arch).kernels
    assert kernel == "fill"


@pytest.mark.parametrize("mode", ["speed", "default"])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80"])
def test_without_code_that_fits_ptx_is_compiled(mode, arch):
    pytest.importorskip("zstandard")
    assert [*open_image((FAT / f"ptx-{mode}.fatbin").read_bytes(), arch).kernels] == ["fill"]


@pytest.mark.parametrize("mode", MODES)
def test_a_gpu_that_no_code_is_for_is_told_so(mode):
    with pytest.raises(RejectedError, match="no code for sm_75") as told:
        open_image((FAT / f"{mode}.fatbin").read_bytes(), "sm_75")
    assert told.value.code is Code.NO_BINARY_FOR_GPU


def test_what_is_not_needed_need_not_be_unpacked(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert open_image((FAT / "default.fatbin").read_bytes(), "sm_80").kernels
    with pytest.raises(RejectedError, match="pip install zstandard") as told:
        open_image((FAT / "size.fatbin").read_bytes(), "sm_80")
    assert told.value.code is Code.NOT_SUPPORTED


@pytest.mark.parametrize("version", ["1.4", "3.0", "6.0"])
def test_ptx_of_any_age_is_compiled(version):
    text = f".version {version}\n.target sm_20\n.address_size 64\n.entry none() {{ ret; }}\n"
    assert [*open_image(text.encode(), "sm_80").kernels] == ["none"]


def test_damage_is_told():
    pytest.importorskip("zstandard")
    image = bytearray((FAT / "size.fatbin").read_bytes())
    image[100:200] = bytes(100)
    with pytest.raises(RejectedError, match="damaged") as told:
        open_image(bytes(image), "sm_80")
    assert told.value.code is Code.INVALID_IMAGE
