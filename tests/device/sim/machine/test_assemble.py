"""What NVIDIA's assembler refuses at first, though it can be assembled."""

import numpy as np

from gevolve.device.sim import Sim
from gevolve.ir.llvm.source import read

SOURCE = """
__device__ __noinline__ float wide(const float *x, int n)
{
    float v[96];
#pragma unroll
    for (int i = 0; i < 96; ++i)
        v[i] = x[i];
    for (int k = 0; k < n; ++k)
#pragma unroll
        for (int i = 0; i < 96; ++i)
            v[i] = v[i] * v[(i + 1) % 96] + v[(i * 7 + 3) % 96];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 96; ++i)
        sum += v[i] * (i + 1);
    return sum;
}
extern "C" __global__ void __launch_bounds__(1024) k(const float *x, float *out, int n)
{
    out[threadIdx.x] = wide(x + threadIdx.x, n);
}
"""


def test_a_kernel_of_few_registers_may_call_a_function_that_wants_more(tmp_path):
    (tmp_path / "k.cu").write_text(SOURCE)
    ptx = Sim().build(read(tmp_path / "k.cu"))
    x = np.random.default_rng(1).random(200, np.float32) / 4

    def run(device):
        gpu = device.open(ptx)
        out = gpu.empty(64)
        gpu.launch("k", 1, 64, gpu.array(x), out, 3)
        return out.get()

    for arch in ("sm_75", "sm_80"):
        assert np.allclose(run(Sim(arch=arch)), run(Sim()), rtol=1e-5)
