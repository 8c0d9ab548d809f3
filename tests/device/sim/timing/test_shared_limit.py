"""A block has no more shared memory than the GPU gives one, however it asks for it."""

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.sim import Sim
from gevolve.device.sim.timing import load_gpu
from gevolve.errors import CompileError, LaunchError
from tests.device.sim.timing.timed import device, kernel, timed

MOST = {"t4": 64, "rtx2080ti": 64, "a100": 163, "rtx3090": 99, "a4000": 99, "a6000": 99, "rtx4090": 99,
        "l4": 99, "h100": 227, "v100": 96, "p100": 48, "titanx": 48}  # fmt: skip
"""KB of a block, by the CUDA programming guide."""


@pytest.mark.parametrize(("gpu", "most"), MOST.items())
def test_the_most_shared_memory_of_a_block_is_that_of_the_gpu(gpu, most):
    assert load_gpu(gpu).limits.most_shared == most << 10


@pytest.mark.parametrize("gpu", ["t4", "p100"])
def test_a_launch_may_ask_for_as_much_and_no_more(gpu):
    most = load_gpu(gpu).limits.most_shared
    assert timed("", gpu=gpu, shared=most).resident == 1
    for more in (most + 16, 1 << 30):
        with pytest.raises(LaunchError, match=f"{more} bytes of shared memory; the most is {most}"):
            timed("", gpu=gpu, shared=more)


def test_a_kernel_may_declare_48_kb_and_no_more():
    declared = b".shared .align 4 .b8 big[60000];\n.visible"
    ptx = kernel("mov.u32 %x0, big; st.shared.u32 [%x0], %t;").replace(b".visible", declared)
    for opened in (Sim().open(ptx, Limits()), device("v100").open(ptx, Limits())):
        with pytest.raises(LaunchError, match="60000 bytes of shared memory; the most is 49152"):
            opened.launch("k", 1, 32, opened.zeros(32), opened.zeros(32), np.int32(0))
        opened.close()
    with pytest.raises(CompileError, match="too much shared data"):
        device("t4").open(ptx, Limits())
