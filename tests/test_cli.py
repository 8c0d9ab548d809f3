"""The command line as people use it: real runs, real mistakes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
        n = {"search": 700, "held-out": 1001, "large": 20000}[size] + int(rng.integers(50))
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


def gevolve(*args, cwd, check=True, **options):
    done = subprocess.run(
        [sys.executable, "-m", "gevolve", *map(str, args)],
        cwd=cwd, capture_output=True, text=True, timeout=300, check=False, **options,
    )  # fmt: skip
    if check:
        assert done.returncode == 0, done.stderr
    return done


def run_json(*args, cwd, **options):
    return json.loads(gevolve(*args, "--json", cwd=cwd, **options).stdout)


def essence(result):
    """What must not depend on the machine, the clock or the number of workers."""
    return {key: result[key] for key in ("evaluations", "verdicts", "baseline", "best", "front")}


def test_run_show_export_resume(folder):
    result = run_json("run", "saxpy.py", "--evals", 150, "--seed", 3, "--out", "r", cwd=folder)
    assert set(result) >= {
        *("workload", "device", "seed", "evaluations", "seconds", "verdicts"),
        *("baseline", "best", "front"),
    }
    assert (result["workload"], result["seed"], result["evaluations"]) == ("Saxpy", 3, 150)
    assert sum(result["verdicts"].values()) == 150
    best = result["best"]
    assert best["ratio"] == best["time"] / result["baseline"]["time"] < 1
    assert best["validated"] is True
    assert best["edits"] > 0
    assert set(best) >= {"id", "time", "error", "edits", "validated", "ratio"}
    assert essence(run_json("show", "r", cwd=folder)) == essence(result)
    table = gevolve("show", "r", cwd=folder).stdout
    assert best["id"] in table
    assert "held-out" in table
    assert "saxpy.cu:" in gevolve("show", "r", "--variant", best["id"], cwd=folder).stdout
    costs = json.loads(gevolve("show", "r", "--cost", "--json", cwd=folder).stdout)
    assert costs["before"]["saxpy"]["cycles"] > costs["after"]["saxpy"]["cycles"] > 0
    assert any("saxpy.cu:" in line for line in costs["before"]["saxpy"]["lines"])
    assert "barriers" in gevolve("show", "r", "--cost", cwd=folder).stdout
    ptx = gevolve("export", "r", cwd=folder).stdout
    assert ".entry saxpy" in ptx
    gevolve(
        "export", "r", "--variant", best["id"], "--format", "ll", "--output", "o.ll", cwd=folder
    )
    assert "define" in (folder / "o.ll").read_text()
    patch = gevolve("export", "r", "--variant", best["id"], "--format", "patch", cwd=folder).stdout
    assert "; ".join(patch.split("\n")).strip("; ") == best["patch"]
    more = run_json("resume", "r", "--evals", 200, cwd=folder)
    assert more["evaluations"] == 200
    assert more["best"]["time"] <= best["time"]


def test_exported_ll_is_a_source(folder):
    """What comes out can go in again, and is as fast as was said."""
    result = run_json("run", "saxpy.py", "--evals", 120, "--seed", 3, "--out", "r", cwd=folder)
    gevolve("export", "r", "--format", "ll", "--output", "faster.ll", cwd=folder)
    (folder / "again.py").write_text(PY.replace("saxpy.cu", "faster.ll"))
    again = run_json("run", "again.py", "--evals", 4, "--out", "s", cwd=folder)
    assert again["baseline"]["time"] == result["best"]["time"]


@pytest.mark.slow
def test_same_seed_same_run_with_any_number_of_workers(folder):
    runs = [
        run_json("run", "saxpy.py", "--evals", 120, "--seed", 5, "--workers", n, "--out", f"r{n}", cwd=folder)
        for n in (1, 2, 3)
    ]  # fmt: skip
    assert essence(runs[0]) == essence(runs[1]) == essence(runs[2])
    other = run_json("run", "saxpy.py", "--evals", 120, "--seed", 6, "--out", "o", cwd=folder)
    assert essence(other) != essence(runs[0])


def start(*args, cwd):
    return subprocess.Popen(
        [sys.executable, "-m", "gevolve", *map(str, args)],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_killed_and_resumed_is_as_if_never_stopped(folder):
    options = ("--evals", 120, "--seed", 5)
    whole = run_json("run", "saxpy.py", *options, "--out", "whole", cwd=folder)
    for number, wait in enumerate((0.4, 1.2, 1.8, 2.5)):
        out = f"cut{number}"
        process = start("run", "saxpy.py", *options, "--out", out, cwd=folder)
        time.sleep(wait)
        process.kill()
        process.communicate()
        if (folder / out / "run.sqlite").exists():
            result = run_json("resume", out, cwd=folder)
        else:
            result = run_json("run", "saxpy.py", *options, "--out", out, cwd=folder)
        assert essence(result) == essence(whole)


def test_ctrl_c_keeps_what_was_found(folder):
    process = start("run", "saxpy.py", "--time", 600, "--out", "r", "--json", cwd=folder)
    store = folder / "r" / "run.sqlite"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.5)
        if store.exists():
            shown = gevolve("show", "r", "--json", cwd=folder, check=False)
            if shown.returncode == 0 and json.loads(shown.stdout)["evaluations"] >= 20:
                break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
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
    one_line_error(gevolve("run", "nothing.py", cwd=folder, check=False), "nothing.py")
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
    run_json("run", "saxpy.py", "--evals", 8, "--out", "r", cwd=folder)
    (folder / "saxpy.cu").write_text(CU.replace("a * value", "a * value + 0.5f * value"))
    one_line_error(gevolve("resume", "r", cwd=folder, check=False), "another program")


def test_a_run_is_not_overwritten(folder):
    run_json("run", "saxpy.py", "--evals", 8, "--out", "r", cwd=folder)
    one_line_error(
        gevolve("run", "saxpy.py", "--out", "r", cwd=folder, check=False), "gevolve resume"
    )


def test_a_run_that_was_killed_before_it_judged_anything(folder):
    from gevolve.run.store import Store
    from gevolve.workload.locate import locate

    run_json("run", "saxpy.py", "--evals", 8, "--out", "whole", cwd=folder)
    with Store.open(folder / "whole", readonly=True) as store:
        program = locate(str(folder / "saxpy.py")).load()
        Store.create(folder / "r", store.config, program.digest, program.text).close()
    for command in (("show", "r"), ("show", "r", "--cost"), ("export", "r")):
        one_line_error(gevolve(*command, cwd=folder, check=False), "gevolve resume r")
    assert run_json("resume", "r", cwd=folder)["evaluations"] == 8


def test_damaged_store(folder):
    run_json("run", "saxpy.py", "--evals", 8, "--out", "r", cwd=folder)
    file = folder / "r" / "run.sqlite"
    data = bytearray(file.read_bytes())
    data[: len(data) // 2] = bytes(len(data) // 2)
    file.write_bytes(data)
    for command in ("show", "resume", "export"):
        one_line_error(gevolve(command, "r", cwd=folder, check=False), "run.sqlite")


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


def test_full_disk(folder):
    run_json("run", "saxpy.py", "--evals", 8, "--out", "r", cwd=folder)
    done = gevolve(
        "export", "r", "--variant", "v0", "--output", "/dev/full", cwd=folder, check=False
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
            "run", "saxpy.py", "--evals", 3000, "--out", small / "r", cwd=folder, check=False
        )
        one_line_error(done, "run.sqlite", "full")
    finally:
        subprocess.run(["umount", str(small)], capture_output=True, check=False)
        small.rmdir()


def test_prints_of_a_workload_do_not_reach_the_json(folder):
    (folder / "saxpy.py").write_text(
        PY.replace("y = gpu.array(case.y)", "print('noise'); y = gpu.array(case.y)")
    )
    assert run_json("run", "saxpy.py", "--evals", 8, "--out", "r", cwd=folder)["evaluations"] == 8
