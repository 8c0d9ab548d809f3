"""Atomics on shared memory that the assembler makes loops of: same outputs as PTX, and no false race."""

from contextlib import closing

import numpy as np
import pytest

from gevolve.device.sim import Sim
from gevolve.ir.llvm.source import read

SOURCE = """
template <class T> __device__ void fold(T *sum, T *least, T *most, const T *x, int n, T *out)
{
    const int t = threadIdx.x;
    if (t == 0) { *sum = 0; *least = 1 << 20; *most = 0; }
    __syncthreads();
    if (t < n) {
        ADD
        atomicMin(least, x[t]);
        atomicMax(most, x[t]);
    }
    __syncthreads();
    if (t == 0) { out[0] = *sum; out[1] = *least; out[2] = *most; }
}
extern "C" __global__ void whole(const unsigned long long *x, unsigned long long *out, int n)
{
    __shared__ unsigned long long a[3];
    fold(&a[0], &a[1], &a[2], x, n, out);
}
extern "C" __global__ void sums(const float *x, float *out, double *wide, int n)
{
    __shared__ float f[2];
    __shared__ double d[2];
    const int t = threadIdx.x;
    if (t < 2) { f[t] = 0; d[t] = 0; }
    __syncthreads();
    if (t < n) {
        float before = atomicAdd(&f[t & 1], x[t]);
        atomicAdd(&d[t & 1], (double)(x[t] + (before > 1e30f)));
    }
    __syncthreads();
    if (t < 2) { out[t] = f[t]; wide[t] = d[t]; }
}
"""
HONEST = SOURCE.replace("ADD", "atomicAdd(sum, x[t]);")
RACES = SOURCE.replace("ADD", "*sum = *sum + x[t];")


def ptx(source, folder):
    (folder / "k.cu").write_text(source)
    return Sim().build(read(folder / "k.cu"))


VALUES = np.random.default_rng(3).integers(1, 1000, 96)


def run(device, artefact, check=None):
    with closing(device.open(artefact, check=check)) as gpu:
        out, wide, whole = gpu.zeros(2), gpu.zeros(2, np.float64), gpu.zeros(3, np.uint64)
        gpu.launch("sums", 1, 96, gpu.array(VALUES.astype(np.float32) / 7), out, wide, 90)
        gpu.launch("whole", 1, 96, gpu.array(VALUES.astype(np.uint64)), whole, 90)
        return (out.get(), wide.get(), whole.get()), gpu.usage(timed=False).hazards


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_sums_and_extremes_are_those_of_ptx(arch, tmp_path):
    artefact = ptx(HONEST, tmp_path)
    want, _ = run(Sim(), artefact)
    known = VALUES[:90]
    assert want[2].tolist() == [known.sum(), known.min(), known.max()]
    for check in (None, "hazards", "backward"):
        got, hazards = run(Sim(arch=arch), artefact, check)
        assert np.array_equal(got[2], want[2])
        if check != "backward":  # another order rounds otherwise
            assert all(map(np.array_equal, got, want))
        assert not hazards


def test_an_update_in_two_steps_beside_them_is_a_race(tmp_path):
    _, hazards = run(Sim(arch="sm_80"), ptx(RACES, tmp_path), "hazards")
    assert {one.kind for one in hazards} == {"race"}
    assert {one.kernel for one in hazards} == {"whole"}
