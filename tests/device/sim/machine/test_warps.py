"""Lanes that leave each other and meet again, in votes and at barriers of a warp: as PTX has it, on every GPU."""

from contextlib import closing

import numpy as np
import pytest

from gevolve.device.sim import Sim
from gevolve.ir.llvm.source import read

HEAD = """
extern "C" __global__ void k(const int *x, int *out, int n)
{
    __shared__ volatile int s[64];
    const int t = threadIdx.x;
    int found = 0;
    s[t] = x[t];
    __syncthreads();
"""
BODIES = {
    "a vote that ends a loop": """
    for (int i = 0; i < n; ++i) {
        if (x[(t + i) & 63] > 500) found += x[t];
        if (__any_sync(0xffffffff, found > 5000)) break;
    }""",
    "lanes that part before a barrier": """
    for (int i = 0; i < n; ++i) {
        const int v = s[(t & 32) | ((t + i) & 31)];
        if (v > 500) found += v;
        else if (v & 1) found ^= v * 7;
        __syncwarp();
        s[t] = found & 1023;
        __syncwarp();
    }""",
    "a vote of some lanes": """
    for (int i = 0; i < n; ++i) {
        if (t & 1) found += __ballot_sync(0xaaaaaaaa, x[(t + i) & 63] & 2) & 255;
        __syncwarp();
        if (__all_sync(0xffffffff, found > 3000)) break;
    }""",
    "values of lanes that have parted": """
    for (int i = 0; i < n; ++i) {
        int v = x[(t * 3 + i) & 63];
        while (v > 100) v = v * 3 / 4;
        found += __shfl_xor_sync(0xffffffff, v, 1 + (i & 15));
    }""",
    "a barrier of a warp that most lanes pass by": """
    if (t < 2) {
        s[t] += n;
        __syncwarp();
        found = s[t ^ 1];
    }""",
}


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_90"])
@pytest.mark.parametrize("body", BODIES)
def test_lanes_meet_again(body, arch, tmp_path):
    (tmp_path / "k.cu").write_text(HEAD + BODIES[body] + "\n    out[t] = found;\n}\n")
    ptx = Sim().build(read(tmp_path / "k.cu"))
    x = np.random.default_rng(1).integers(0, 1000, 64).astype(np.int32)

    def run(device):
        with closing(device.open(ptx)) as gpu:
            out = gpu.empty(64, np.int32)
            gpu.launch("k", 1, 64, gpu.array(x), out, 12)
            return out.get()

    assert np.array_equal(run(Sim(arch=arch)), run(Sim()))
