"""nvcc's build beside our own: how it is judged, and when a gain is none."""

import json
from types import SimpleNamespace

import pytest

import gevolve
from gevolve.analyze import validate
from gevolve.device.registry import open_device
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.run import claim
from gevolve.run.findings import Interval, NvccBuild
from gevolve.run.nvcc import keep_judged, nvcc_build
from gevolve.workload.locate import locate

SOURCE = """extern "C" __global__ void squares(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = SCALE * x[i] * x[i];
}
"""
WORKLOAD = """
import sys
import numpy as np
import gevolve

class Squares(gevolve.KernelWorkload):
    source = "squares.cu"
    clang_options = ("-DSCALE=3",)

    def case(self, rng, size):
        return gevolve.Case(x=rng.random(100, np.float32))

    def run(self, gpu, case):
        assert "pytest" not in sys.modules, "this is the main process"
        y = gpu.empty(100)
        gpu.launch("squares", 1, 128, gpu.array(case.x), y, 100)
        return y.get()

    def reference(self, case):
        return 3 * case.x * case.x
"""


class Squares(gevolve.KernelWorkload):
    source = "squares.cu"
    clang_options = ("-DSCALE=3",)

    def path(self):
        return self.folder / self.source


@pytest.fixture
def workload(tmp_path):
    workload = Squares()
    workload.folder = tmp_path
    workload.path().write_text(SOURCE)
    return workload


def test_there_is_a_reason_where_there_is_none(workload):
    device = open_device("sim")
    workload.path().write_text(SOURCE.replace("SCALE", "OTHER"))
    assert "OTHER" in nvcc_build(workload, device)
    workload.source = "squares.ll"
    assert nvcc_build(workload, device) == "squares.ll is LLVM-IR, which nvcc does not compile"


def test_kernels_made_of_templates_are_built_too(workload):
    workload.path().write_text(
        "template <int N> __global__ void add(float *x) { *x += N; }\n"
        "int main() { add<3><<<1, 1>>>(nullptr); }\n"
    )
    built = nvcc_build(workload, open_device("sim:t4"))
    assert b".entry _Z3addILi3EEvPf(" in built.ptx


def searched(folder, source=SOURCE, evals=3):
    (folder / "squares.cu").write_text(source)
    (folder / "squares.py").write_text(WORKLOAD)
    gevolve.optimize(
        folder / "squares.py", evals=evals, seed=1, device="sim:a100", out=folder / "run", workers=1
    )
    return folder / "run"


def test_both_builds_are_judged_in_a_worker_and_every_view_has_both(tmp_path):
    """The host code, which may do anything, runs nowhere but in children."""
    run = searched(tmp_path)
    with gevolve.open(run) as opened:
        summary = opened.summary()
        assert opened.findings.nvcc_artefact.startswith(b"//")
    assert not summary.nvcc.why
    assert summary.nvcc.version
    assert 0.5 < summary.nvcc.ratio < 2
    told = json.loads(summary.json())
    assert told["front"][0]["nvcc"] == told["front"][0]["ratio"] / summary.nvcc.ratio
    assert not any(one["gain"] for one in told["front"])


def test_nvccs_build_gets_a_verdict_like_any_variant(tmp_path):
    only_nvcc = "#ifdef __CUDACC_RTC__\n#define SCALE 4\n#endif\n"
    run = searched(tmp_path, only_nvcc.replace("#define", "#undef SCALE\n#define") + SOURCE)
    with gevolve.open(run) as opened:
        nvcc = opened.summary().nvcc
        assert nvcc.ratio is None
        assert nvcc.why.startswith("nvcc's build is judged wrong on the search cases (")
        assert opened.findings.nvcc_artefact is None


def test_an_artefact_of_another_compiler_is_judged_in_place_of_the_patchs_own():
    workload = locate("tuned/reduction")
    device = workload.device("sim:a100")
    artefact = device.build(workload.load().text)
    broken = artefact.replace(b"add.rn.f32", b"sub.rn.f32").replace(b"add.f32", b"sub.f32")
    assert broken != artefact
    with Pool(workload, device="sim:a100") as pool:
        unedited = pool.prepare().evaluation
        pool.submit("same", Patch(), artefact=artefact)
        pool.submit("broken", Patch(), artefact=broken)
        pool.submit("garbage", Patch(), artefact=b"garbage")
        found = dict(pool.results())
    assert found["same"].time == unedited.time
    assert found["broken"].verdict == "wrong"
    assert found["garbage"].verdict == "compile"


def test_cases_that_are_not_timed_say_nothing_of_it():
    findings = SimpleNamespace(nvcc=NvccBuild(version="13.0"), drop_nvcc=pytest.fail)
    run = SimpleNamespace(findings=findings)
    keep_judged(run, "varied", Evaluation(verdict=Verdict.OK), Evaluation(verdict=Verdict.OK))
    assert findings.nvcc == NvccBuild(version="13.0")


def test_cases_that_are_not_timed_take_no_rival_away():
    asked = []
    evaluator = SimpleNamespace(submit=lambda _key, _patch, split, **_: asked.append(split))
    findings = SimpleNamespace(nvcc_artefact=b"//", nvcc=NvccBuild(version="13.0"))
    session = SimpleNamespace(run=SimpleNamespace(findings=findings), evaluator=evaluator)
    for split in ("held-out", "fresh", "varied", "large"):
        validate._submit_nvcc(session, split)
    assert asked == ["held-out", "fresh", "large"]


def exactly(value):
    return value and Interval(value=value, low=value, high=value, runs=1)


@pytest.mark.parametrize(
    ("ratio", "fresh", "nvcc", "nvcc_fresh", "gain"),
    [
        (0.8, 0.8, None, None, True),
        (0.8, None, None, None, False),
        (0.8, 1.01, None, None, False),
        (0.8, 0.8, 0.7, 0.7, True),
        (0.8, 0.8, 0.9, 0.9, True),
        (0.8, 0.8, 1.1, 0.9, False),  # it only makes up for what our build lost
        (0.8, 0.8, 0.9, 1.1, False),
        (0.8, 0.8, 0.9, None, False),  # nobody has measured it
        (1.1, 0.9, 0.9, 0.9, False),
    ],
)
def test_a_gain_is_one_against_the_better_build(ratio, fresh, nvcc, nvcc_fresh, gain):
    assert claim.is_gain(ratio, exactly(fresh), nvcc, exactly(nvcc_fresh)) is gain


def test_both_ratios_in_words():
    build = NvccBuild(ratio=0.9)
    assert claim.words(exactly(0.8), exactly(0.9), build) == (
        "0.8 of the time of gevolve's unedited build, 0.9 of the time of nvcc's"
    )
    assert claim.words(exactly(0.8), None, NvccBuild(why="no source")) == (
        "0.8 of the time of gevolve's unedited build; nvcc's is not compared: no source"
    )
    assert claim.words(exactly(0.8), None, NvccBuild()) == "0.8 of the time of the unedited program"
    wide = Interval(value=0.8, low=0.7, high=0.9, runs=5)
    assert claim.words(wide, exactly(0.9), build).startswith("0.8 (0.7 to 0.9) of the time")
