"""nvcc's build beside our own: what is compared, and when a gain is none."""

import numpy as np
import pytest

import gevolve
from gevolve.device.registry import open_device
from gevolve.run.findings import Interval
from gevolve.run.nvcc import compare_with_nvcc, nvcc_build
from gevolve.run.summary import VariantSummary

SOURCE = """extern "C" __global__ void squares(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = SCALE * x[i] * x[i];
}
"""


class Squares(gevolve.KernelWorkload):
    source = "squares.cu"
    clang_options = ("-DSCALE=3",)
    scale = 3

    def path(self):
        return self.folder / self.source

    def case(self, rng, size):
        return gevolve.Case(x=rng.random(100, np.float32))

    def run(self, gpu, case):
        y = gpu.empty(100)
        gpu.launch("squares", 1, 128, gpu.array(case.x), y, 100)
        return y.get()

    def reference(self, case):
        return self.scale * case.x * case.x


@pytest.fixture
def workload(tmp_path):
    workload = Squares()
    workload.folder = tmp_path
    workload.path().write_text(SOURCE)
    return workload


def test_both_builds_are_timed(workload):
    found = compare_with_nvcc(workload, workload.load().text, open_device("sim:a100"))
    assert not found.why
    assert found.version
    assert 0.5 < found.ratio < 2


def test_nvccs_build_must_be_right(workload):
    text = workload.load().text
    workload.scale = 4
    assert (
        compare_with_nvcc(workload, text, open_device("sim")).why
        == "nvcc's build gives other outputs"
    )


def test_there_is_a_reason_where_there_is_none(workload):
    device = open_device("sim")
    workload.path().write_text(SOURCE.replace("SCALE", "OTHER"))
    assert "OTHER" in nvcc_build(workload, device)
    workload.source = "squares.ll"
    assert nvcc_build(workload, device) == "squares.ll is LLVM-IR, which nvcc does not compile"


def variant(ratio, nvcc, high=None):
    interval = Interval(value=ratio, low=ratio, high=high or ratio, runs=1)
    return VariantSummary(
        id="v1", time=ratio, ratio=ratio, error=0, exact=True, edits=1, validated=True,
        interval=interval, nvcc=nvcc, patch="",
    )  # fmt: skip


def test_a_gain_beats_nvcc_only_against_the_better_build():
    assert variant(0.8, None).beats_nvcc
    assert variant(0.8, 0.8 / 1.2).beats_nvcc  # nvcc's is slower than ours
    assert variant(0.8, 0.8 / 0.9).beats_nvcc
    assert not variant(0.8, 0.8 / 0.7).beats_nvcc  # it only makes up for what ours lost
    assert not variant(0.8, 0.8 / 0.9, high=0.95).beats_nvcc
    assert not variant(1.1, 0.9).beats_nvcc
    assert variant(0.8, 0.8 / 0.9).headline == pytest.approx(0.8 / 0.9)
    assert variant(0.8, 0.8 / 1.2).headline == 0.8
