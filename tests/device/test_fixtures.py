"""Every fixture, by every route to the device: our clang, a toolkit's IR, nvcc's PTX."""

from pathlib import Path

import pytest

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.ir.llvm.source import read
from tests.device.launches import CHECKS

HERE = Path(__file__).parent
SOURCES = sorted((HERE.parent / "ir" / "llvm" / "fixtures").glob("*.[clb][ulc]"))
PTX = sorted((HERE / "fixtures").iterdir())


def fixture_of(path: Path) -> str:
    return path.stem.partition("-")[0]


def check(path: Path, artefact: bytes) -> None:
    gpu = open_device("sim").open(artefact, Limits())
    try:
        CHECKS[fixture_of(path)](gpu)
    finally:
        gpu.close()


@pytest.mark.slow
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_kernels_run_as_numpy_says(path):
    check(path, open_device("sim").build(read(path)))


@pytest.mark.parametrize("path", PTX, ids=lambda path: path.name)
def test_kernels_of_nvcc_run_as_numpy_says(path):
    check(path, path.read_bytes())
