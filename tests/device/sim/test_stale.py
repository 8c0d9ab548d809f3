"""Read-only loads of what the same launch writes are found, as PTX and as machine code."""

from contextlib import closing

import numpy as np
import pytest

from gevolve.device.sim import Sim
from gevolve.ir.llvm import load

SOURCE = """
extern "C" __global__ void inplace(float *a, const float *b, int shift)
{
    int i = threadIdx.x;
    a[i] = __ldg(&b[i + shift]) + 1;
}
extern "C" __global__ void counted(int *a, const int *b)
{
    atomicAdd(&a[threadIdx.x], 1);
    __syncthreads();
    a[64 + threadIdx.x] = __ldg(&b[threadIdx.x]);
}
extern "C" __global__ void plain(float *a, const float *b)
{
    a[threadIdx.x] = b[threadIdx.x] + 1;
}
"""


@pytest.fixture(scope="module", params=["ptx", "sm_75"])
def device(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("stale") / "stale.cu"
    path.write_text(SOURCE)
    sim = Sim() if request.param == "ptx" else Sim(arch=request.param)
    return sim, sim.build(load(path).text)


def hazards(device, kernel, own, *more):
    """The kinds of hazards if the second pointer is `own` elements into the first; None for another array."""
    sim, artefact = device
    with closing(sim.open(artefact, check="hazards")) as gpu:
        kind = np.int32 if kernel == "counted" else np.float32
        a = gpu.zeros(256, kind)
        b = a if own else gpu.zeros(256, kind)
        gpu.launch(kernel, 1, 64, a, b, *more)
        gpu.launch(kernel, 1, 64, a, b, *more)
        return [(hazard.kind, hazard.detail) for hazard in gpu.usage().hazards]


def test_a_thread_that_writes_what_it_has_read(device):
    ((kind, detail),) = hazards(device, "inplace", True, 0)
    assert kind == "stale"
    assert detail == "stale.cu:5 reads by a read-only load what stale.cu:5 writes"


def test_what_an_earlier_launch_has_written_is_there(device):
    assert hazards(device, "inplace", False, 0) == []
    assert hazards(device, "inplace", True, 128) == []


def test_an_atomic_update_writes_too(device):
    assert {kind for kind, _ in hazards(device, "counted", True)} == {"stale"}
    assert hazards(device, "counted", False) == []


def test_a_plain_load_is_none(device):
    assert hazards(device, "plain", True) == []
