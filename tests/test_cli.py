"""The command line as people use it: real runs, real mistakes.

Commands that do all their work in this process are called in it; what is about processes (their output,
their end, being killed) is run in one of its own, and so is each command once at least.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gevolve.cli import main
from gevolve.errors import StoreError
from gevolve.run.store import Store
from gevolve.workload.locate import locate
from tests.evaluate.processes import wait_for

CU = """
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float value = tile[threadIdx.x];
    __syncthreads();
    if (i < n)
        y[i] = a * value + y[i];
}
"""
PY = """
import numpy as np

import gevolve


class Saxpy(gevolve.KernelWorkload):
    source = "saxpy.cu"
    kernels = ("saxpy",)

    def case(self, rng, size):
        n = {"search": 700, "held-out": 1001, "large": 3000}[size] + int(rng.integers(50))
        return gevolve.Case(x=rng.random(n, np.float32), y=rng.random(n, np.float32), a=2.5)

    def run(self, gpu, case):
        y = gpu.array(case.y)
        x = gpu.array(case.x)
        gpu.launch("saxpy", -(-case.x.size // 128), 128, y, x, case.a, case.x.size)
        return y.get()

    def reference(self, case):
        return np.float32(case.a) * case.x + case.y
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "saxpy.cu").write_text(CU)
    (tmp_path / "saxpy.py").write_text(PY)
    return tmp_path


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A folder with a short run that has ended."""
    folder = tmp_path_factory.mktemp("ended")
    (folder / "saxpy.cu").write_text(CU)
    (folder / "saxpy.py").write_text(PY)
    run_json("run", "saxpy.py", "--evals", 8, "--out", "r", cwd=folder)
    return folder


def gevolve(*args, cwd, check=True, process=False):
    words = [*map(str, args)]
    if process:
        done = subprocess.run(
            [sys.executable, "-m", "gevolve", *words],
            cwd=cwd, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    else:
        done = called(words, cwd)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def called(words, folder):
    """What a process of these words would give."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main(words)
    said = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(words, ended.value.code or 0, *said)


def run_json(*args, cwd, process=False):
    return json.loads(gevolve(*args, "--json", cwd=cwd, process=process).stdout)


def essence(result):
    """What must not depend on the machine, the clock or the number of workers."""
    return {key: result[key] for key in ("evaluations", "verdicts", "baseline", "best", "front")}


def test_run_show_export_resume(folder):
    search = ("--evals", 30, "--seed", 3, "--out", "r")
    result = run_json("run", "saxpy.py", *search, cwd=folder, process=True)
    assert set(result) >= {
        *("workload", "device", "seed", "evaluations", "seconds", "verdicts"),
        *("baseline", "best", "front"),
    }
    assert (result["workload"], result["seed"], result["evaluations"]) == ("Saxpy", 3, 30)
    assert sum(result["verdicts"].values()) == 30
    best = result["best"]
    assert best["ratio"] == best["time"] / result["baseline"]["time"] < 1
    assert best["validated"] is True
    assert best["edits"] > 0
    assert set(best) >= {"id", "time", "error", "edits", "validated", "ratio"}
    assert essence(run_json("show", "r", cwd=folder, process=True)) == essence(result)
    table = gevolve("show", "r", cwd=folder).stdout
    assert best["id"] in table
    assert "held-out" in table
    assert "saxpy.cu:" in gevolve("show", "r", "--variant", best["id"], cwd=folder).stdout
    costs = json.loads(gevolve("show", "r", "--cost", "--json", cwd=folder).stdout)
    assert costs["before"]["saxpy"]["cycles"] > costs["after"]["saxpy"]["cycles"] > 0
    assert any("saxpy.cu:" in line for line in costs["before"]["saxpy"]["lines"])
    assert "barriers" in gevolve("show", "r", "--cost", cwd=folder).stdout
    ptx = gevolve("export", "r", cwd=folder, process=True).stdout
    assert ".entry saxpy" in ptx
    gevolve(
        "export", "r", "--variant", best["id"], "--format", "ll", "--output", "o.ll", cwd=folder
    )
    assert "define" in (folder / "o.ll").read_text()
    patch = gevolve("export", "r", "--variant", best["id"], "--format", "patch", cwd=folder).stdout
    assert "; ".join(patch.split("\n")).strip("; ") == best["patch"]
    # What comes out can go in again, and is as fast as was said.
    (folder / "again.py").write_text(PY.replace("saxpy.cu", "o.ll"))
    again = run_json("run", "again.py", "--evals", 1, "--out", "s", cwd=folder)
    assert again["baseline"]["time"] == best["time"]
    more = run_json("resume", "r", "--evals", 32, cwd=folder, process=True)
    assert more["evaluations"] == 32
    assert more["best"]["time"] <= best["time"]


SEARCH = ("--evals", 14, "--population", 4, "--set", "sweep=4", "--seed", 5)
"""A search of several generations."""


@pytest.fixture(scope="module")
def whole(ended):
    """The result of that search, by one worker and never stopped."""
    return run_json("run", "saxpy.py", *SEARCH, "--workers", 1, "--out", "whole", cwd=ended)


@pytest.mark.slow
def test_same_seed_same_run_with_any_number_of_workers(whole, folder):
    options = (*SEARCH, "--workers", 3, "--out", "r3")
    assert essence(run_json("run", "saxpy.py", *options, cwd=folder)) == essence(whole)
    other = run_json("run", "saxpy.py", *SEARCH[:-1], 6, "--workers", 1, "--out", "o", cwd=folder)
    assert essence(other) != essence(whole)


def start(*args, cwd):
    return subprocess.Popen(
        [sys.executable, "-m", "gevolve", *map(str, args)],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_evaluations(count, folder):
    """Wait until a run that goes on has so many evaluations."""

    def there():
        try:
            with Store.open(folder, readonly=True) as store:
                return store.count() > count  # the unedited program is the first
        except StoreError:
            return False

    assert wait_for(there, 300)


@pytest.mark.slow
@pytest.mark.parametrize("count", [-1, 0, 9])
def test_killed_and_resumed_is_as_if_never_stopped(whole, folder, count):
    process = start("run", "saxpy.py", *SEARCH, "--out", "cut", cwd=folder)
    wait_for_evaluations(count, folder / "cut")
    process.kill()
    process.communicate()
    assert essence(run_json("resume", "cut", cwd=folder)) == essence(whole)


def test_ctrl_c_keeps_what_was_found(folder):
    process = start("run", "saxpy.py", "--time", 6000, "--out", "r", "--json", cwd=folder)
    wait_for_evaluations(20, folder / "r")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    result = json.loads(out)
    assert result["evaluations"] >= 20
    assert result["status"] == "stopped"


def one_line_error(done, *parts):
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("gevolve:")]
    assert len(lines) == 1, done.stderr
    for part in parts:
        assert part in done.stderr


def test_no_such_file(folder):
    one_line_error(
        gevolve("run", "nothing.py", cwd=folder, check=False, process=True), "nothing.py"
    )
    one_line_error(gevolve("run", "nothing", cwd=folder, check=False), "nothing", "hotspot")
    one_line_error(gevolve("show", "nothing", cwd=folder, check=False), "nothing")


def test_not_a_workload(folder):
    (folder / "empty.py").write_text("x = 1\n")
    one_line_error(
        gevolve("run", "empty.py", cwd=folder, check=False), "empty.py", "KernelWorkload"
    )


def test_source_is_missing(folder):
    (folder / "saxpy.cu").unlink()
    one_line_error(gevolve("run", "saxpy.py", cwd=folder, check=False), "saxpy.cu")


def test_kernel_name_absent(folder):
    (folder / "saxpy.py").write_text(PY.replace('("saxpy",)', '("axpy",)'))
    one_line_error(gevolve("run", "saxpy.py", cwd=folder, check=False), "axpy", "saxpy")


def test_cuda_syntax_error_in_clangs_words(folder):
    (folder / "saxpy.cu").write_text(CU.replace("float value", "flaot value"))
    done = gevolve("run", "saxpy.py", cwd=folder, check=False)
    one_line_error(done, "saxpy.cu:8", "flaot", "^")


def test_unedited_kernel_fails_its_reference(folder):
    (folder / "saxpy.py").write_text(PY.replace("+ case.y", "- case.y"))
    one_line_error(gevolve("run", "saxpy.py", cwd=folder, check=False), "Saxpy", "reference")


def test_grid_of_zero(folder):
    (folder / "saxpy.py").write_text(PY.replace("-(-case.x.size // 128)", "0"))
    one_line_error(gevolve("run", "saxpy.py", cwd=folder, check=False), "grid")


@pytest.mark.parametrize(
    "option",
    [("--evals", -5), ("--time", -1), ("--workers", 0), ("--tolerance", -1), ("--evals", "x")],
)
def test_bad_options(folder, option):
    one_line_error(gevolve("run", "saxpy.py", *option, cwd=folder, check=False), option[0])


def test_unknown_device(folder):
    one_line_error(
        gevolve("run", "saxpy.py", "--device", "abacus", cwd=folder, check=False), "abacus"
    )


def test_store_from_another_program(folder):
    run_json("run", "saxpy.py", "--evals", 2, "--out", "r", cwd=folder)
    (folder / "saxpy.cu").write_text(CU.replace("a * value", "a * value + 0.5f * value"))
    one_line_error(gevolve("resume", "r", cwd=folder, check=False), "another program")


def test_a_run_is_not_overwritten(ended):
    one_line_error(
        gevolve("run", "saxpy.py", "--out", "r", cwd=ended, check=False), "gevolve resume"
    )


def test_a_run_that_was_killed_before_it_judged_anything(ended, folder):
    with Store.open(ended / "r", readonly=True) as store:
        program = locate(str(folder / "saxpy.py")).load()
        Store.create(folder / "r", store.config, program.digest, program.text).close()
    for command in (("show", "r"), ("show", "r", "--cost"), ("export", "r")):
        one_line_error(gevolve(*command, cwd=folder, check=False), "gevolve resume r")
    assert run_json("resume", "r", cwd=folder)["evaluations"] == 8


def test_damaged_store(ended, tmp_path):
    copied = shutil.copytree(ended, tmp_path / "copied")
    file = copied / "r" / "run.sqlite"
    data = bytearray(file.read_bytes())
    data[: len(data) // 2] = bytes(len(data) // 2)
    file.write_bytes(data)
    for command in ("show", "resume", "export"):
        one_line_error(gevolve(command, "r", cwd=copied, check=False), "run.sqlite")


def test_read_only_folder(folder):
    if os.geteuid() == 0:
        (folder / "file").write_text("in the way")
        one_line_error(
            gevolve("run", "saxpy.py", "--out", "file/r", cwd=folder, check=False), "file"
        )
        one_line_error(
            gevolve("run", "saxpy.py", "--out", "/proc/gevolve", cwd=folder, check=False),
            "/proc/gevolve",
        )
        return
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    one_line_error(
        gevolve("run", "saxpy.py", "--out", "locked/r", cwd=folder, check=False), "locked"
    )


def test_full_disk(ended):
    done = gevolve(
        "export",
        "r",
        "--variant",
        "v0",
        "--output",
        "/dev/full",
        cwd=ended,
        check=False,
        process=True,
    )
    one_line_error(done, "/dev/full")
    small = Path("/dev/shm") / f"gevolve-{os.getpid()}"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(small)],
        capture_output=True, check=False,
    )  # fmt: skip
    try:
        if mounted.returncode:
            pytest.skip("a small file system can be mounted by root only")
        done = gevolve(
            "run",
            "saxpy.py",
            "--evals",
            3000,
            "--out",
            small / "r",
            cwd=ended,
            check=False,
            process=True,
        )
        one_line_error(done, "run.sqlite", "full")
    finally:
        subprocess.run(["umount", str(small)], capture_output=True, check=False)
        small.rmdir()


def test_prints_of_a_workload_do_not_reach_the_json(folder):
    (folder / "saxpy.py").write_text(
        PY.replace("y = gpu.array(case.y)", "print('noise'); y = gpu.array(case.y)")
    )
    options = ("--evals", 2, "--out", "r")
    assert run_json("run", "saxpy.py", *options, cwd=folder, process=True)["evaluations"] == 2
