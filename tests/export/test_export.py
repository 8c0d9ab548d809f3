"""What leaves a run: files, manifests, and scripts that load them."""

import ast
import hashlib
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

import gevolve
from gevolve.device.iree.library import installed as iree_installed
from gevolve.device.ptxas import installed
from gevolve.errors import CompileError, GevolveError, OptionError, StoreError
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.export.files import write_bytes, write_text
from gevolve.export.manifest import Manifest
from gevolve.export.scripts import LOADERS
from gevolve.export.variant import export
from gevolve.ir.llvm.ptx_process import ptx_for
from gevolve.patch import Patch
from gevolve.run.store import Store

CU = """
__constant__ float offset[1];
struct Pair { float scale; int shift; };
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n, Pair pair)
{
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float value = tile[threadIdx.x];
    __syncthreads();
    if (i < n)
        y[i] = a * value + y[i] + offset[0] * pair.scale;
}
"""
PY = """
import numpy as np

import gevolve


class Saxpy(gevolve.KernelWorkload):
    source = "saxpy.cu"

    def case(self, rng, size):
        n = {"search": 300, "held-out": 500, "large": 2000}[size] + int(rng.integers(50))
        return gevolve.Case(x=rng.random(n, np.float32), y=rng.random(n, np.float32), a=2.5)

    def run(self, gpu, case):
        gpu.symbol("offset", np.float32).set([0.0])
        y = gpu.array(case.y)
        pair = np.array((1.0, 2), [("scale", "f4"), ("shift", "i4")])
        n = case.x.size
        gpu.launch("saxpy", -(-n // 128), 128, y, gpu.array(case.x), case.a, n, pair.tobytes())
        return y.get()

    def reference(self, case):
        return np.float32(case.a) * case.x + case.y
"""
GPU = "sm_70" if any("sm_70" in tool.archs for tool in installed()) else "sm_90"
needs_ptxas = pytest.mark.skipif(not installed(), reason="no ptxas is installed")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    (folder / "saxpy.cu").write_text(CU)
    (folder / "saxpy.py").write_text(PY)
    result = gevolve.optimize(
        str(folder / "saxpy.py"), evals=60, seed=3, device="ptx:p100", out=folder / "run"
    )
    assert result.best is not None
    return folder / "run"


def read(path):
    return msgspec.json.decode(path.read_bytes(), type=Manifest)


def judged(run, verdict, kind=""):
    """A variant with this verdict; if asked for, one that is a single edit of this kind."""
    with Store.open(run, readonly=True) as store:
        return next(
            f"v{row.id}"
            for row in store.evaluations()
            if row.evaluation.verdict == verdict
            and (not kind or [edit.kind for edit in row.patch] == [kind])
        )


def test_the_best_comes_with_its_evidence(run, tmp_path):
    best = gevolve.summarize(run).best
    written = export(run, output=tmp_path / "k.ptx").files
    assert [path.name for path in written] == ["k.ptx", "k.ptx.json", "k.ptx.load.py"]
    data, found = written[0].read_bytes(), read(written[1])
    assert b".entry saxpy" in data
    assert found.file.sha256 == hashlib.sha256(data).hexdigest()
    assert found.file.bytes == len(data)
    assert found.file.judged, "what is exported is what was judged"
    assert found.origin.artefact_sha256 == found.file.sha256
    assert (found.origin.variant, found.origin.patch) == (best.id, best.patch)
    assert found.origin.run.startswith(
        "gevolve run saxpy.py:Saxpy --device ptx:p100 --seed 3 --evals 60"
    )
    assert found.evidence.validated
    assert "passed on all of its cases" in found.evidence.statement
    assert set(found.evidence.splits) >= {"search", "held-out"}
    assert found.evidence.splits["search"].ratio < 1
    assert found.evidence.interval.high < 1
    assert found.evidence.cases
    assert "hazards" in found.evidence.checks


def test_a_change_of_the_source_is_judged_as_source(run, tmp_path):
    weaker = judged(run, Verdict.OK, "syncwarp")
    made = export(run, weaker, "source", output=tmp_path / "saxpy.diff")
    assert "-    __syncthreads();\n+    __syncwarp();" in made.data.decode()
    assert any(re.search(r"as source: [\d.]+x on the search cases", note) for note in made.lines())


def test_a_change_of_the_source_that_is_wrong_is_refused(run):
    with pytest.raises(GevolveError, match="as source it is wrong"):
        export(run, judged(run, Verdict.WRONG, "delete"), "source")


def test_another_gpu(run):
    made = export(run, arch="sm_90")
    assert b".target sm_90" in made.data
    assert made.manifest.file.arch == "sm_90"
    assert not made.manifest.file.judged
    assert "--arch sm_90" in made.manifest.origin.export


@needs_ptxas
def test_machine_code_and_what_it_takes(run):
    made = export(run, format="cubin", arch=GPU)
    assert made.data.startswith(b"\x7fELF")
    pair = made.manifest.resources["saxpy"]
    assert pair.before.shared == 512
    assert 0 < pair.after.registers <= pair.before.registers + 8
    assert made.manifest.origin.versions["ptxas"]
    assert any("saxpy: registers" in line for line in made.lines())


def test_nothing_that_was_not_validated_is_called_a_gain(run):
    rejected = export(run, judged(run, Verdict.WRONG), "ll").manifest.evidence
    assert not rejected.validated
    assert rejected.statement.startswith("REJECTED: judged wrong on the search cases")
    with Store.open(run, readonly=True) as store:
        passed = gevolve.summarize(run)
        validated = {entry.id for entry in (passed.best, *passed.front)}
        untried = next(
            f"v{row.id}"
            for row in store.evaluations()
            if row.evaluation.ok and row.patch.edits and f"v{row.id}" not in validated
        )
    unknown = export(run, untried, "patch")
    assert not unknown.manifest.evidence.validated
    assert "no gain is claimed" in unknown.manifest.evidence.statement
    unedited = export(run, "v0", "ll").manifest.evidence
    assert not unedited.validated
    assert unedited.statement == "This is the unedited program."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"format": "mlir"},
            "mlir does not fit a run of kernels; use one of ptx, cubin, source, ll, patch",
        ),
        ({"format": "gif"}, "--format is 'gif'; it must be one of"),
        ({"format": "ll", "arch": "sm_80"}, "--arch says nothing about ll"),
    ],
)
def test_what_does_not_fit(run, options, message):
    with pytest.raises(OptionError, match=message):
        export(run, **options)


def test_no_such_gpu(run):
    with pytest.raises(CompileError, match="no PTX for sm_71; choose one of sm_50"):
        export(run, arch="sm_71")


def test_what_llvm_dies_of_is_an_error():
    text = """
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p) "target-cpu"="sm_80" {
  %v = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 -1)
  store i32 %v, ptr addrspace(1) %p
  ret void
}
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
"""
    assert "redux.sync.add" in ptx_for(text)
    with pytest.raises(
        CompileError, match=r"sm_60: LLVM ERROR: .*it was compiled for sm_80"
    ) as error:
        ptx_for(text, "sm_60")
    assert "\n" not in str(error.value)
    with pytest.raises(CompileError) as error:
        ptx_for("define nonsense")
    assert "\n" not in str(error.value)


# Scripts


@pytest.mark.parametrize("loader", [loader for loader in LOADERS if loader != "none"])
def test_every_script_is_python_and_knows_the_launch(run, loader, tmp_path):
    made = export(run, loader=loader, output=tmp_path / "k.ptx")
    ast.parse(made.script)
    assert '"k.ptx"' in made.script
    assert "k.ptx.json says what it is worth" in made.script
    assert "sets variables of the module first: offset" in made.script
    assert 'np.float32("2.5")' in made.script
    size = int(re.search(r"np.int32\((\d+)\)", made.script)[1])
    assert 300 <= size < 350
    assert f"({-(-size // 128)}, 1, 1)" in made.script
    assert "(128, 1, 1)" in made.script
    assert f"np.void(bytes.fromhex('{np.float32(1).tobytes().hex()}02000000'))" in made.script
    assert max(map(len, made.script.splitlines())) <= 100


class Driver:
    """The double of the driver, with the two calls that only the script makes."""

    def __new__(cls):
        from tests.device.cuda.double import CUjit_option, Double

        class Small(Double):
            def _cuModuleLoadData(self, image):  # noqa: N802  (the driver's name)
                keys = [CUjit_option(5), CUjit_option(6)]
                return self._cuModuleLoadDataEx(image, 2, keys, [bytearray(999), 999])

        return Small()


def test_the_script_for_the_driver_runs(run, tmp_path, monkeypatch):
    bindings = pytest.importorskip("cuda.bindings")
    written = export(run, loader="cuda", output=tmp_path / "k.ptx").files
    written[2].write_text(written[2].read_text().replace("np.zeros(", "np.ones("))
    driver = Driver()
    monkeypatch.setattr(bindings, "driver", driver, raising=False)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    done = runpy.run_path(str(written[2]))
    driver.end()
    np.testing.assert_array_equal(done["results"]["y"], np.float32(3.5))
    np.testing.assert_array_equal(done["results"]["x"], np.float32(1))


def test_without_its_workload_a_file_is_still_made(run, tmp_path):
    copy = tmp_path / "copy"
    with Store.open(run, readonly=True) as store:
        config = json.loads(json.dumps(store.config))
        config["location"]["place"] = str(tmp_path / "gone.py")
        row = store.variant(0)
        with Store.create(copy, config, store.program_digest, store.program_text) as other:
            other.add([(row.patch, row.evaluation, -1)])
    made = export(copy, "v0")
    assert any("gone.py" in note for note in made.manifest.notes)
    ast.parse(made.script)
    unloaded = export(copy, "v0", loader="none")
    assert (unloaded.script, unloaded.manifest.notes) == ("", ())
    assert unloaded.data == made.data


# Models


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    pytest.importorskip("jax")
    from gevolve.ir.stablehlo import load

    def predict(weights, images):
        return images @ weights

    program = load(predict, [np.ones((4, 3), np.float32), np.ones((2, 4), np.float32)])
    folder = tmp_path_factory.mktemp("model") / "run"
    config = {
        "workload": "Predict", "location": {"place": "/gone.py", "name": "Predict"}, "rounding": 0.0,
        "device": "xla:cpu", "seed": 1, "tolerance": 0.02, "preset": "default",
        "evals": 10, "time": None, "workers": None, "versions": {}, "ir": "stablehlo",
    }  # fmt: skip
    with Store.create(folder, config, program.digest, program.text) as store:
        store.add([(Patch(), Evaluation(verdict=Verdict.OK, time=1.0, error=0.1), -1)])
    return folder


@pytest.mark.parametrize("form", ["mlir", "bytecode", "jax", "patch"])
def test_forms_of_a_model(model, form, tmp_path):
    made = export(model, "v0", form, output=tmp_path / "m.bin")
    assert made.manifest.file.arch is None
    assert bool(made.data) == (form != "patch")
    assert bool(made.script) == (form != "patch")
    ast.parse(made.script)
    if form == "mlir":
        assert b"stablehlo.dot_general" in made.data
    with pytest.raises(OptionError, match="ptx does not fit a run of a model; use one of mlir"):
        export(model, "v0", "ptx")


@pytest.mark.skipif(not iree_installed(), reason="IREE is not installed")
def test_a_model_with_kernels_for_a_gpu(model, tmp_path):
    made = export(model, "v0", "vmfb", arch="sm_75", output=tmp_path / "m.vmfb")
    assert made.manifest.file.arch == "sm_75"
    assert b".target sm_75" in made.data
    assert any("1 kernels for sm_75: matmul_" in note for note in made.manifest.notes)
    ast.parse(made.script)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jax", "mlir", "bytecode"])
def test_scripts_of_a_model_run(model, form, tmp_path):
    written = export(model, "v0", form, output=tmp_path / "m.bin").files
    done = subprocess.run(
        [sys.executable, str(written[2])], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    if form == "jax":
        assert "(2, 3)" in done.stdout


# Files


def test_files_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    write_bytes(path, b"\0one")
    write_text(path, "two")
    assert path.read_text() == "two"
    with pytest.raises(StoreError, match=r"none/file: cannot be written .*choose another --output"):
        write_text(tmp_path / "none" / "file", "x")
    with pytest.raises(StoreError, match="/dev/full: cannot be written"):
        write_bytes(Path("/dev/full"), b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError):
        write_bytes(tmp_path / "folder", b"x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]
