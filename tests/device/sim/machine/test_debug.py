"""Code that was compiled for debuggers, and stacks: functions that recurse have room either way."""

import math
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.sim.gpu import SimGpu
from gevolve.device.sim.machine.assemble import _linked
from gevolve.device.sim.machine.program import load

PTX = (Path(__file__).parents[1] / "ptx/programs.ptx").read_bytes() + b"\n"
_PTX = 2


def opened(*, debug: bool):
    cubin = _linked([(_PTX, PTX)], "sm_80", ["-g"] if debug else [])
    return closing(SimGpu(load(cubin), Limits(fuel=10_000_000), 0, 0, 0))


@pytest.mark.parametrize("debug", [False, True])
def test_functions_that_recurse_have_room(debug):
    with opened(debug=debug) as gpu:
        out = gpu.empty(64, np.int32)
        gpu.launch("recur", 1, 64, out)
        fib = [0, 1, 1, 2, 3, 5, 8, 13, 21]
        assert out.get().tolist() == [math.factorial(i % 10) + fib[i % 9] for i in range(64)]


@pytest.mark.parametrize("debug", [False, True])
def test_arrays_of_a_thread(debug):
    with opened(debug=debug) as gpu:
        a, out = np.arange(100, dtype=np.int32)[::-1].copy(), gpu.empty(64, np.int32)
        gpu.launch("localarr", 1, 64, gpu.array(a), out, 100)
        rows = [sorted(a[(i + k) % 100] for k in range(32)) for i in range(64)]
        assert out.get().tolist() == [row[a[i] & 31] for i, row in enumerate(rows)]


def test_a_shared_array_of_a_debug_build_is_no_variable_of_the_module():
    with opened(debug=True) as gpu:
        a, out = np.arange(64, dtype=np.float32), gpu.empty(1)
        gpu.launch("warpsync_legacy", 1, 64, gpu.array(a), out)
        assert out.get()[0] == a.sum()


def test_an_assertion_of_a_debug_build_fails():
    with opened(debug=True) as gpu, pytest.raises(Stopped, match="assertion"):
        gpu.launch("asserts", 1, 32, gpu.empty(32, np.int32))
