"""A program that rounds otherwise: exact results stay, others move by one step to the other side."""

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.ir.llvm import load

SOURCE = """
extern "C" __global__ void floats(const T *x, const T *y, T *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = x[i] + y[i];
    out[n + i] = x[i] - y[i];
    out[2 * n + i] = x[i] * y[i];
    out[3 * n + i] = x[i] / y[i];
    out[4 * n + i] = sqrt(x[i] * x[i]);
}
"""
COPY = """
extern "C" __global__ void copy(const float *x, float *out)
{
    out[threadIdx.x] = x[threadIdx.x];
}
"""
ATOMIC = COPY.replace("out[threadIdx.x] = x[threadIdx.x]", "atomicAdd(out, x[threadIdx.x])")


def outputs(device, text, x, y):
    gpu = device.open(device.build(text), Limits())
    out = gpu.empty(5 * x.size, x.dtype)
    gpu.launch("floats", -(-x.size // 64), 64, gpu.array(x), gpu.array(y), out, x.size)
    got = out.get().reshape(5, -1)
    gpu.close()
    return got


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_results_go_to_a_neighbor_and_exact_ones_nowhere(kind, tmp_path):
    source = tmp_path / "floats.cu"
    source.write_text(SOURCE.replace("T", "float" if kind is np.float32 else "double"))
    program, device = load(source), open_device("sim")
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-9, 9, (2, 2000)).astype(kind)
    y *= kind(0.317)  # else doubles have bits to spare for most sums
    plain = outputs(device, program.text, x, y)
    moved = [outputs(device, program.rerounded(seed), x, y) for seed in (1, 2)]
    for got in moved:
        away = np.abs(got - plain) / np.spacing(np.abs(plain))
        assert away.max() <= 2  # two roundings in a root, and a nearer neighbor of powers of two
        shares = (away > 0).mean(1)
        assert np.all(shares[:4] > 0.2), shares
        assert np.all(shares < 0.8), shares
    assert not np.array_equal(*moved)
    exact = np.array([outputs(device, program.rerounded(1), *whole) for whole in [wholes(kind)]])
    assert np.array_equal(exact[0][:3], outputs(device, program.text, *wholes(kind))[:3])


def wholes(kind):
    rng = np.random.default_rng(1)
    return rng.integers(1, 1000, (2, 256)).astype(kind)


def test_a_program_that_rounds_nowhere_stays_as_it_is(tmp_path):
    source = tmp_path / "copy.cu"
    source.write_text(COPY)
    program = load(source)
    assert program.rerounded(1) == program.text
    source.write_text(ATOMIC)
    program = load(source)
    assert program.rerounded(1) != program.text
    assert program.verify(program.rerounded(1)) is None
