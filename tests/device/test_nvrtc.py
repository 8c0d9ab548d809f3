"""NVIDIA's own build of a source: the same kernels by the same names, whatever the source includes."""

from pathlib import Path

import numpy as np
import pytest

from gevolve.device import nvrtc
from gevolve.device.base import Limits
from gevolve.device.sim import Sim
from gevolve.errors import CompileError, DeviceError
from gevolve.ir.llvm.hostcode import without_host
from gevolve.ir.llvm.source import instances, kernels, read
from tests.device.launches import CHECKS
from tests.ir.llvm.kernels import KERNELS

TESTS = Path(__file__).parent.parent
FIXTURES = sorted((TESTS / "ir" / "llvm" / "fixtures").glob("*.cu"))
PROGRAM = """#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>
#define CHECK(x) do { if ((x) != cudaSuccess) { printf("}"); } } while (0)
namespace mine {
__device__ float twice(float x) { return 2 * x; }
static void fill(std::vector<float> &v) { for (auto &x : v) { x = 1; } }
struct Pair { float a, b; };
}
// a host function {
extern "C" __global__ void scale(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = mine::twice(a[i]) + FACTOR + std::sqrt((float)M_PI) * 0;
}
template <typename T> void report(const T *a) { for (int i = 0; i < 3; i++) { printf("%f", a[i]); } }
int main(int argc, char **argv) {
  float *a;
  CHECK(cudaMalloc(&a, 100 * sizeof(float)));
  scale<<<1, 100>>>(a, 100);
  return 0;
}
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.cu"
    path.write_text(PROGRAM)
    return path


def run(ptx: bytes, check) -> None:
    gpu = Sim().open(ptx, Limits())
    try:
        check(gpu)
    finally:
        gpu.close()


@pytest.mark.parametrize(
    "path", [p for p in FIXTURES if p.stem != "big"], ids=lambda path: path.stem
)
def test_fixtures_run_as_numpy_says(path):
    run(nvrtc.compile_cuda(path, (), "sm_80").ptx, CHECKS[path.stem])


@pytest.mark.parametrize("workload", KERNELS, ids=lambda workload: workload.name)
def test_kernels_have_the_names_that_ours_have(workload):
    built = nvrtc.compile_cuda(workload.path(), workload.clang_options, "sm_80")
    for name in kernels(read(workload.path(), workload.clang_options)):
        assert f".entry {name}(" in built.ptx.decode()


def test_a_whole_program_is_compiled_without_its_host_code(program):
    built = nvrtc.compile_cuda(program, ("-DFACTOR=3", "-Wall"), "sm_80")

    def check(gpu):
        a = gpu.array(np.arange(100, dtype=np.float32))
        gpu.launch("scale", 1, 128, a, 100)
        np.testing.assert_array_equal(a.get(), 2 * np.arange(100) + 3)

    run(built.ptx, check)


def test_templates_are_made_into_the_kernels_that_host_code_launches(tmp_path):
    path = tmp_path / "templates.cu"
    path.write_text("""#include <getopt.h>
enum class Where { NEAR, FAR };
static struct option options[] = {{"count", 1, nullptr, 'n'}};
namespace mine { template <typename T, int N, Where W> __global__ void fill(T *a) { a[threadIdx.x] = N + (int)W; } }
template <int N> __global__ void never(float *a) { *a = N; }
int main() {
  mine::fill<float, 3, Where::FAR><<<1, 32>>>(nullptr);
  mine::fill<double, -2, Where::NEAR><<<1, 32>>>(nullptr);
}
""")
    text = read(path)
    made = instances(text)
    assert len(made) == len(kernels(text)) == 2
    built = nvrtc.compile_cuda(path, (), "sm_75", made).ptx.decode()
    for name in kernels(text):
        assert f".entry {name}(" in built


def test_kernels_that_inline_a_function_run_as_machine_code(tmp_path):
    """nvcc names inlined functions in a section beside the kernels, which every kernel refers to."""
    (tmp_path / "two.cu").write_text("""
__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }
extern "C" __global__ void one(float *a) { a[place()] = INFINITY; }
extern "C" __global__ void two(float *a) { a[place()] *= -1; }
""")
    built = nvrtc.compile_cuda(tmp_path / "two.cu", (), "sm_75")
    assert b"inlined_at" in built.ptx
    gpu = Sim(arch="sm_75").open(built.ptx)
    a = gpu.empty(64)
    gpu.launch("one", 2, 32, a)
    gpu.launch("two", 2, 32, a)
    np.testing.assert_array_equal(a.get(), np.full(64, -np.inf, np.float32))


def test_the_same_source_gives_the_same_ptx(program):
    first, second = (nvrtc.compile_cuda(program, ("-D", "FACTOR=3"), "sm_90") for _ in range(2))
    assert first == second


def test_lines_keep_their_numbers():
    left = without_host(PROGRAM)
    assert left.count("\n") == PROGRAM.count("\n")
    assert left.splitlines()[11] == PROGRAM.splitlines()[11]
    for gone in ("main", "fill", "report"):
        assert gone not in left
    for stays in ("twice", "scale", "Pair", "#define CHECK"):
        assert stays in left


def test_host_code_of_headers_beside_the_source_is_left_out_too(tmp_path):
    (tmp_path / "more.h").write_text(
        "#define N 3\nint order(int *a) { qsort(a, 9, 4, nullptr); return 1; }\n"
    )
    (tmp_path / "reference.h").write_text('#include "more.h"\nvoid fill(int *a) { order(a); }\n')
    path = tmp_path / "k.cu"
    path.write_text(
        '#include "reference.h"\nextern "C" __global__ void k(int *a) { *a = N; }\n'
        "int main() { int a[9]; fill(a); k<<<1, 1>>>(a); }\n"
    )
    built = nvrtc.compile_cuda(path, (), "sm_75").ptx.decode()
    assert ".entry k(" in built
    assert "order" not in built


def test_host_code_may_be_of_templates_and_types_that_only_the_host_has(tmp_path):
    (tmp_path / "k.cu").write_text("""#include <new>
#include <list>
#include <chrono>
#include <unordered_map>
template <class T>
inline void put(std::list<T>& values, const T value);
template <class T>
inline void put(std::list<T>& values, const T value) { values.push_back(value); }
template <class T> struct Pair { T first, second; };
template <class T> __device__ T sum(Pair<T> pair) { return pair.first + pair.second; }
extern "C" __global__ void k(int64_t *out, uint n) { out[n] = sum(Pair<int64_t>{n, 1}); }
""")
    built = nvrtc.compile_cuda(tmp_path / "k.cu", (), "sm_75")
    assert b".entry k(" in built.ptx


def test_limits_of_types_are_known_without_their_header(tmp_path):
    path = tmp_path / "limits.cu"
    path.write_text("""#include <algorithm>
extern "C" __global__ void k(float *a, int *b, double *c) {
  a[0] = std::numeric_limits<float>::max(); a[1] = std::numeric_limits<float>::infinity();
  a[2] = std::numeric_limits<float>::epsilon(); a[3] = std::numeric_limits<float>::quiet_NaN();
  b[0] = std::numeric_limits<int>::min(); c[0] = std::numeric_limits<double>::lowest();
}
""")

    def check(gpu):
        a, b, c = gpu.empty(4), gpu.empty(1, np.int32), gpu.empty(1, np.float64)
        gpu.launch("k", 1, 1, a, b, c)
        f, i, d = np.finfo(np.float32), np.iinfo(np.int32), np.finfo(np.float64)
        np.testing.assert_array_equal(a.get(), np.array([f.max, np.inf, f.eps, np.nan], np.float32))
        assert (b.get()[0], c.get()[0]) == (i.min, d.min)

    run(nvrtc.compile_cuda(path, (), "sm_75").ptx, check)


def test_options_of_clang_become_those_of_nvrtc():
    options = ("-DA=1", "-D", "B", "-Iinc", "-ffast-math", "-ffp-contract=off", "-O2", "-Wall")
    assert nvrtc.translated(options, Path("/src")) == [
        *("-DA=1", "-DB", "-I/src/inc", "--use_fast_math", "--fmad=false"),
    ]


def test_what_it_refuses_is_said_in_one_line(program):
    with pytest.raises(CompileError, match=r"program\.cu: line 14: .*FACTOR"):
        nvrtc.compile_cuda(program, (), "sm_80")
    with pytest.raises(DeviceError, match="sm_75 and later"):
        nvrtc.compile_cuda(program, (), "sm_60")


def test_declarations_that_only_the_host_understands_are_left_out(tmp_path):
    path = tmp_path / "program.cu"
    path.write_text(
        """#include <nowhere/of_the_host.hpp>
struct Options { std::string name; std::map<int, std::string> more; };
static std::vector<Options> all;
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
"""
    )
    assert ".entry _Z5twicePf" in nvrtc.compile_cuda(path, (), "sm_80").ptx.decode()


def test_what_kernels_need_of_it_is_refused_all_the_same(tmp_path):
    path = tmp_path / "program.cu"
    path.write_text(
        """struct Options { std::string name; int count; };
__global__ void many(int *x, Options options) { x[threadIdx.x] = options.count; }
"""
    )
    with pytest.raises(CompileError, match="does not compile"):
        nvrtc.compile_cuda(path, (), "sm_80")
