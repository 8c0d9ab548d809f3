"""A model in, a faster one out, in one call."""

import jax.numpy as jnp
import numpy as np
import pytest

import gevolve
from gevolve.errors import OptionError, WorkloadError

WEIGHTS = np.random.default_rng(0).normal(size=(16, 16)).astype(np.float32)


def twice(x):
    return jnp.tanh(x @ WEIGHTS) @ WEIGHTS


def wrong_share(outputs, arrays):
    (x,) = arrays
    want = np.tanh(x @ WEIGHTS) @ WEIGHTS
    return float(np.mean(np.sign(outputs) != np.sign(want)))


def test_one_call_gives_a_function_back(tmp_path):
    x = np.random.default_rng(1).normal(size=(32, 16)).astype(np.float32)
    found = gevolve.optimize_model(
        twice, [x], error=wrong_share, out=tmp_path / "made", evals=2, workers=1
    )
    assert found.summary.evaluations == 2
    assert found.summary.baseline["error"] < 0.01
    assert np.asarray(found(x)).shape == (32, 16)
    if found.summary.best is None:
        assert np.allclose(found(x), twice(x), atol=1e-5)


def test_what_cannot_work_is_refused_before_anything_is_done(tmp_path):
    x = np.ones((2, 16), np.float32)
    with pytest.raises(WorkloadError, match="top level of a file"):
        gevolve.optimize_model(twice, [x], error=lambda o, a: 0.0, out=tmp_path / "a", evals=1)
    with pytest.raises(OptionError, match="is there already"):
        gevolve.optimize_model(twice, [x], out=tmp_path, evals=1)
