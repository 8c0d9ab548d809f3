"""Measured times beside a model's: files that are read, expressions, figures, and a whole comparison."""

import gzip
import json
from pathlib import Path

import pytest

from gevolve.calibrate import agreement, calibrate, read_measured
from gevolve.calibrate.expression import evaluate
from gevolve.calibrate.plot import dots, page, summary
from gevolve.cli import main
from gevolve.errors import OptionError, SourceError, WorkloadError

SOURCE = """
__global__ void scale(float *out, const float *in, int n) {
  int i = (blockIdx.x * block_size_x + threadIdx.x) * per_thread;
  for (int k = 0; k < per_thread; k++)
    if (i + k < n) out[i + k] = in[i + k] * 2.0f;
}
"""
T1 = {
    "KernelSpecification": {
        "KernelName": "scale",
        "KernelFile": "scale.cu",
        "LocalSize": {"X": "block_size_x"},
        "ProblemSize": [65536],
        "GridDivX": ["block_size_x", "per_thread"],
        "Arguments": [
            {"Name": "out", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0]"},
            {"Name": "in", "Type": "float", "MemoryType": "Vector", "FillType": "Random",
             "FillValue": 1.0, "Size": "ProblemSize[0]"},
            {"Name": "n", "Type": "int", "FillValue": 65536},
        ],
    }
}  # fmt: skip
CACHE = {
    "tune_params_keys": ["block_size_x", "per_thread"],
    "cache": {
        "128,1": {"block_size_x": 128, "per_thread": 1, "time": 0.010, "times": [0.01]},
        "128,8": {"block_size_x": 128, "per_thread": 8, "time": 0.030},
        "128,4": {"block_size_x": 128, "per_thread": 4, "time": 0.020},
        "4096,1": {"block_size_x": 4096, "per_thread": 1, "time": "RuntimeFailedConfig"},
        "2048,1": {"block_size_x": 2048, "per_thread": 1, "time": 0.015},
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scale.cu").write_text(SOURCE)
    (tmp_path / "scale.json").write_text(json.dumps(T1))
    (tmp_path / "cache.json").write_text(json.dumps(CACHE))
    return tmp_path


def test_expressions_are_arithmetic_and_nothing_else() -> None:
    names = {"a": 7, "ProblemSize": [64, 32]}
    assert evaluate("(a // 2) * max(a) + ProblemSize[1] % 5", names) == 23
    assert evaluate("a == 7 and not (a < 3 or 2 <= a <= 6)", names) is True
    assert evaluate("ceil(a / 2)", names) == 4
    for text in (
        "__import__('os')",
        "a.real",
        "open('x')",
        "(lambda: 1)()",
        "b + 1",
        "1 / 0",
        "a a",
    ):
        with pytest.raises(WorkloadError):
            evaluate(text, names)


def test_caches_and_t4_files_are_read_plain_gzipped_and_unfinished(tmp_path: Path) -> None:
    plain, zipped, torn, t4 = (tmp_path / n for n in ("a.json", "a.json.gz", "b.json", "t4.json"))
    text = json.dumps(CACHE)
    plain.write_text(text)
    zipped.write_bytes(gzip.compress(text.encode()))
    torn.write_text(text[:-2] + ",\n")
    rows, failed = read_measured(plain)
    assert (len(rows), failed) == (4, 1)
    assert rows[0].configuration == {"block_size_x": 128, "per_thread": 1}
    assert read_measured(zipped) == read_measured(torn) == (rows, failed)
    result = {"configuration": rows[0].configuration, "objectives": ["time"], "invalidity": "correct",
              "measurements": [{"name": "time", "value": 1e-5, "unit": "seconds"}]}  # fmt: skip
    t4.write_text(json.dumps({"results": [result, {**result, "invalidity": "timeout"}]}))
    assert read_measured(t4) == (rows[:1], 1)
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(SourceError, match="neither"):
        read_measured(tmp_path / "no.json")


def test_agreement_counts_pairs_that_are_apart() -> None:
    same = agreement([1, 2, 3, 4], [10, 20, 30, 40])
    assert (same.spearman, same.pairs, same.compared, same.ratio) == pytest.approx((1, 1, 6, 10))
    assert agreement([1, 2, 3, 4], [4, 3, 2, 1]).spearman == pytest.approx(-1)
    # the first two are within 5 %; a tie of the model is half right
    near = agreement([1.0, 1.04, 2.0], [2.0, 1.0, 2.0])
    assert (near.compared, near.pairs) == (2, pytest.approx(0.75))
    assert near.regret == pytest.approx(1.04)


@pytest.mark.parametrize("workers", [1, 2])
def test_configurations_of_a_t1_file_are_compared(folder: Path, workers: int) -> None:
    found = calibrate(
        folder / "cache.json", str(folder / "scale.json"), "sim:a100", workers=workers
    )
    assert found.agreement.count == 3
    assert found.agreement.pairs == 1.0
    assert [(one.count, one.example["block_size_x"]) for one in found.refused] == [(1, 2048)]
    assert found.failed == 1
    assert len(dots(found.points)) == 23
    assert page(found).count("<circle") == 3
    assert dict(summary(found))["refused by the model"] == "1"


def test_the_command_samples_and_writes_a_page(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "host.py").write_text(
        "import numpy as np\n"
        "from gevolve.calibrate import Host\n"
        "class Scale(Host):\n"
        "    def run(self, gpu, config):\n"
        "        n = 65536\n"
        "        x, y = gpu.zeros(n), gpu.empty(n)\n"
        "        per = config['block_size_x'] * config['per_thread']\n"
        "        gpu.launch('scale', -(-n // per), config['block_size_x'], y, x, np.int32(n))\n"
    )
    options = ["--device", "sim:a100", "--host", str(folder / "host.py")]
    options += ["--source", str(folder / "scale.cu"), "--output", str(folder / "page.html")]
    options += ["--where", "per_thread > 1", "--json"]
    with pytest.raises(SystemExit, match="0"):
        main(["calibrate", str(folder / "cache.json"), *options])
    found = json.loads(capsys.readouterr().out)
    assert [point["configuration"]["per_thread"] for point in found["points"]] == [8, 4]
    assert "<svg" in (folder / "page.html").read_text()


def test_calibrate_wants_a_named_gpu(folder: Path) -> None:
    with pytest.raises(OptionError, match="named GPU"):
        calibrate(folder / "cache.json", str(folder / "scale.json"), "cuda:0")
