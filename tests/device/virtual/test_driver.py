"""The virtual GPU under programs that know nothing of it: C against the driver API, and Numba."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gevolve.device.registry import open_device
from gevolve.device.virtual.session import Session
from gevolve.testing import devices

HERE = Path(__file__).parent
START = """
import ctypes, sys
ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
program = ctypes.CDLL(sys.argv[1])
count = program.program(sys.argv[2].encode())
print([tuple(row) for row in (ctypes.c_int * 2 * 64).in_dll(program, "failed")[:count]])
"""


def on_gpu(folder, *command, device="a100"):
    """A program's end, and what it did on the GPU."""
    report = folder / "report.json"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "gevolve", "gpu", "--device", device),
            *("--report", report, "--", *command),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done, msgspec.json.decode(report.read_bytes(), type=list[Session])


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The program in C, which has been on the GPU once."""
    folder = tmp_path_factory.mktemp("program")
    ptx = folder / "devices.ptx"
    ptx.write_bytes(devices.artefact_of(open_device("sim:a100")))
    made = folder / "program.so"
    options = ("-O1", "-shared", "-fPIC", "-nostdlib", "-fno-sanitize=all", "-fno-stack-protector")
    subprocess.run(
        [*(sys.executable, "-m", "ziglang", "cc", *options), HERE / "program.c", "-o", made],
        check=True,
    )
    return on_gpu(folder, sys.executable, "-c", START, made, ptx)


def test_a_program_in_c_gets_what_the_driver_documents(ran):
    done, _ = ran
    assert done.stdout.strip() == "[]", "lines of program.c, and what came instead"


def test_a_limit_on_registers_is_heeded(tmp_path):
    """A kernel of many sums side by side, compiled by the driver and by its linker."""
    done, _ = on_gpu(tmp_path, sys.executable, HERE / "registers.py")
    free, loaded, linked = map(int, done.stdout.split())
    assert max(loaded, linked) <= 24 < free


def test_kernels_print_where_the_program_does(tmp_path):
    ptx = HERE.parent / "sim/ptx/programs.ptx"
    done, _ = on_gpu(tmp_path, sys.executable, HERE / "prints.py", ptx)
    assert done.stdout == "hello 0 0.000000\nhello 1 1.000000\n"
    said = [line for line in done.stderr.splitlines() if "Assertion" in line]
    (failed,) = said
    assert "block: [0,0,0], thread: [5,0,0] Assertion `i < 5` failed." in failed


def test_its_launches_have_a_time(ran):
    _, (session,) = ran
    assert session.gpu == "NVIDIA A100"
    assert session.kernels["saxpy"].launches == 10
    assert session.launches == 12
    assert 0.1 < session.microseconds(session.kernels["saxpy"].cycles) < 100


def test_what_kernels_did_wrong_is_told_with_its_line(ran):
    done, (session,) = ran
    found = {one.kind: one for one in session.findings}
    assert found["out of bounds"].kernel == "writes_at"
    assert "devices.cu:48" in found["out of bounds"].detail
    assert "devices.cu:51" in found["misaligned"].detail
    assert done.returncode == 1
    assert "out of bounds: writes_at" in done.stderr


def test_what_is_not_there_says_its_name_once(ran):
    done, (session,) = ran
    assert session.missing == ["cuTexRefCreate"]
    assert done.stderr.count("cuTexRefCreate is not there") == 1


def test_a_program_of_the_cuda_runtime_is_told_why_it_does_not_run(ran):
    done, _ = ran
    assert (
        done.stderr.count("uses the CUDA runtime (libcudart), which runs on NVIDIA's own driver")
        == 1
    )


NUMBA = """
import sys
import numpy as np
from numba import cuda

@cuda.jit
def total(x, out):
    part = cuda.shared.array(128, "float32")
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])

x = np.arange(1024, dtype=np.float32)
out = cuda.to_device(np.zeros(1, np.float32))
total[8, 128](cuda.to_device(x), out)
print(out.copy_to_host()[0] == x.sum())
"""


def test_a_kernel_of_numba_runs(tmp_path):
    pytest.importorskip("numba.cuda")
    script = tmp_path / "numba_sum.py"
    script.write_text(NUMBA)
    done, (session,) = on_gpu(tmp_path, sys.executable, "-W", "ignore", script, device="t4")
    assert done.stdout.strip() == "True", done.stderr
    assert (session.gpu, session.launches, session.findings) == ("NVIDIA Tesla T4", 1, [])
    assert "total" in done.stderr
    assert done.returncode == 0


def test_a_program_without_a_gpu_is_told_what_to_do():
    from gevolve.device.virtual.library import library_folder

    ask = f"import ctypes; print(ctypes.CDLL('{library_folder()}/libcuda.so.1').cuInit(0))"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "100"
    assert "gevolve gpu -- PROGRAM" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--device", "p100", "--", "true"], "choose a newer GPU"),
        (["--", "/no/such/program"], "cannot be run"),
        ([], "say what to run"),
    ],
)
def test_errors_are_one_line(arguments, words):
    done = subprocess.run(
        [sys.executable, "-m", "gevolve", "gpu", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
