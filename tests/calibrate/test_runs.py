"""A run of ours as measured times: its variants, timed again on a model."""

import json
from pathlib import Path

import msgspec
import pytest

from gevolve.calibrate import calibrate_run
from gevolve.cli import main
from gevolve.errors import OptionError
from gevolve.run.run import Run
from gevolve.run.store import Store

SOURCE = """
extern "C" __global__ void smooth(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = -3; k <= 3; k++) { int at = i + k; if (at >= 0 && at < n) sum += in[at] / 7.0f; }
  if (i < n) out[i] = sum;
}
"""
WORKLOAD = """
import gevolve
import numpy as np


class Smooth(gevolve.KernelWorkload):
    source = "smooth.cu"

    def case(self, rng, size):
        return gevolve.Case(given=rng.random(4096 if size == "search" else 5120, np.float32))

    def run(self, gpu, case):
        n = case.given.size
        out = gpu.zeros(n)
        gpu.launch("smooth", n // 128, 128, out, gpu.array(case.given), np.int32(n))
        return out.get()
"""


@pytest.fixture(scope="module")
def on_t4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small search on a model of a T4."""
    folder = tmp_path_factory.mktemp("calibrate")
    (folder / "smooth.cu").write_text(SOURCE)
    (folder / "smooth.py").write_text(WORKLOAD)
    search = [
        "run",
        f"{folder / 'smooth.py'}:Smooth",
        "--device",
        "sim:t4",
        "--evals",
        "16",
        "--seed",
        "3",
    ]
    with pytest.raises(SystemExit, match="0"):
        main([*search, "--workers", "1", "--tolerance", "0.1", "--out", str(folder / "t4")])
    return folder / "t4"


def like_cuda(run: Path, folder: Path, *, slower: float = 1.0) -> Path:
    """The same run as a GPU would have left it: times are those of the unedited program's."""
    with Store.open(run, readonly=True) as store:
        rows = list(store.evaluations())
        config = {**store.config, "device": "cuda:0"}
        text, digest = store.program_text, store.program_digest
    base = rows[0].evaluation.time or 1.0
    with Store.create(folder, config, digest, text) as copy:
        for row in rows:
            time = row.evaluation.time and slower * row.evaluation.time / base
            told = msgspec.structs.replace(row.evaluation, time=time, spread=0.01)
            copy.reserve([row.patch], row.generation)
            copy.add([(row.patch, told, row.generation)])
    return folder


def test_a_run_on_one_device_is_compared_with_another(
    on_t4: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["calibrate", str(on_t4), "--device", "sim:a100", "--json"])
    found = json.loads(capsys.readouterr().out)
    with Run.open(on_t4) as run:
        right = {row.evaluation.identity for row in run.store.evaluations() if row.evaluation.ok}
    assert found["agreement"]["count"] == len(right) >= 4
    assert found["unit"] == "of the unedited program"
    assert found["points"][0] == {"configuration": {"variant": "v0"}, "measured": 1.0, "model": 1.0}
    assert found["agreement"]["spearman"] > 0.3


def test_times_of_a_gpu_are_relative_and_agree_with_what_made_them(
    on_t4: Path, tmp_path: Path
) -> None:
    run = like_cuda(on_t4, tmp_path / "cuda", slower=5.0)
    found = calibrate_run(run, "sim:t4", trust=True)
    assert all(point.model == pytest.approx(point.measured) for point in found.points)
    assert found.agreement.spearman == pytest.approx(1.0)
    some = calibrate_run(run, "sim:t4", sample=3, seed=1, trust=True)
    assert len(some.points) == 3
    assert some.left_out == len(found.points) - 3


def test_a_run_is_not_compared_with_itself(on_t4: Path) -> None:
    with pytest.raises(OptionError, match="timed on sim:t4 itself"):
        calibrate_run(on_t4, "sim:t4")
    with pytest.raises(OptionError, match="a model of a named GPU"):
        calibrate_run(on_t4, "cuda:0")
    with pytest.raises(SystemExit, match="2"):
        main(["calibrate", str(on_t4), "--device", "sim:a100", "--host", "x.json"])
