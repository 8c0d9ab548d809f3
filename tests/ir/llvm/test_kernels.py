"""Kernels from outside the suite load, run and give what NumPy says."""

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.workload.error import rough_error
from tests.ir.llvm.kernels import KERNELS

DEVICE = open_device("sim")


def arrays(outputs):
    """The arrays of whatever a workload's `run` or `reference` returned, by name or position."""
    if isinstance(outputs, dict):
        return outputs
    return dict(enumerate(outputs)) if isinstance(outputs, tuple) else {0: outputs}


@pytest.mark.parametrize("workload", KERNELS, ids=lambda workload: workload.name)
def test_runs_as_numpy_says(workload):
    (case,) = workload.cases("search")
    gpu = DEVICE.open(DEVICE.build(workload.load().text), Limits())
    got, want = arrays(workload.run(gpu, case)), arrays(workload.reference(case))
    gpu.close()
    assert list(got) == list(want)
    for key, array in want.items():
        assert (got[key].shape, got[key].dtype) == (array.shape, array.dtype)
        assert np.all(np.isfinite(got[key]))
        assert rough_error(got[key], array) <= workload.rounding, key
