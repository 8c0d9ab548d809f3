"""PTX of the suite, of other kernels and of random variants, for GPUs old and new, by NVIDIA's assembler."""

from pathlib import Path

import numpy as np
import pytest

from gevolve.device.ptxas import assemble, installed
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.ir.llvm.source import read
from gevolve.patch import Patch
from gevolve.suite import TUNED
from gevolve.workload.locate import locate

ARCHS = ("sm_60", "sm_70", "sm_80", "sm_90")
OTHERS = sorted((Path(__file__).parents[1] / "ir" / "llvm" / "kernels").glob("*.cu"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not set(ARCHS) <= {arch for tool in installed() for arch in tool.archs},
        reason="no ptxas for all of them is installed; the extra `cuda` brings one",
    ),
]


def assembles(text):
    for arch in ARCHS:
        made = assemble(to_ptx(text, arch=arch), arch)
        assert made.kernels
        assert all(kernel.registers for kernel in made.kernels.values())


@pytest.mark.parametrize("name", TUNED)
def test_the_suite(name):
    assembles(locate(name).load().text)


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_other_kernels(path):
    assembles(read(path))


@pytest.mark.parametrize("name", TUNED)
def test_variants(name):
    program = locate(name).load()
    rng = np.random.default_rng(6)
    edits = (program.propose(kind, rng, None) for kind in program.kinds)
    for edit in filter(None, edits):
        text = program.apply(Patch((edit,))).text
        if program.verify(text) is None:
            assemble(to_ptx(text), "sm_90")
