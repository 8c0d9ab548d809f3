"""A model in, a faster one out, in one call."""

import jax.numpy as jnp
import numpy as np
import pytest

import gevolve
from gevolve.analyze.fitting import train
from gevolve.errors import OptionError, WorkloadError
from gevolve.ir import stablehlo
from gevolve.optimize_model import OptimizedModel
from gevolve.system.npz import to_npz
from gevolve.workload.locate import locate
from gevolve.workload.packed import pack

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


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def network(weights, x):
    return x @ weights + 0.1 * jnp.tanh(x @ weights)


def pruned(weights, x):
    """The same without its second half."""
    return x @ weights


TARGETS = np.stack([3 * drawn(seed, 8, 4) for seed in range(5, 9)])


def far(outputs, arrays, number):
    assert len(arrays) == 2
    return jnp.mean((outputs - jnp.asarray(TARGETS)[number]) ** 2)


def packed(folder, **more):
    weights = drawn(0, 4, 4)
    arrays = {"search": [weights, drawn(1, 8, 4)], "held-out": [weights, drawn(2, 8, 4)]}
    text = stablehlo.load(network, arrays["search"]).text
    batches = [[weights, drawn(seed, 8, 4)] for seed in range(5, 9)]
    script = pack(folder, text, arrays, batches=batches, error=None, tolerance=0.5, **more)
    return locate(f"{script}:Model"), arrays["held-out"], stablehlo.load(pruned, batches[0]).text


def test_weights_learn_to_give_what_the_unedited_model_gives(tmp_path):
    workload, (weights, x), text = packed(tmp_path)
    assert workload.refits == ("a0",)
    trained = train(workload, text, 300)
    assert trained.keys() == {"a0"}
    before, after = (np.abs(x @ w - network(weights, x)).mean() for w in (weights, trained["a0"]))
    assert after < 0.6 * before


def test_a_loss_of_ones_own_is_told_which_batch_it_is(tmp_path):
    workload, (weights, _), text = packed(tmp_path, loss=far)
    batches = workload.data("refit")
    trained = train(workload, text, 100)["a0"]

    def loss(w):
        return np.mean([(x @ w - t) ** 2 for x, t in zip(batches.a1, TARGETS, strict=True)])

    assert loss(trained) < loss(weights)


def test_a_re_fit_model_is_called_with_its_new_weights(tmp_path):
    old, new, x = drawn(0, 4, 4), drawn(1, 4, 4), drawn(2, 8, 4)
    file = tmp_path / "best.mlir"
    file.write_text(stablehlo.load(pruned, [old, x]).text)
    (tmp_path / "best.mlir.weights.npz").write_bytes(to_npz({"a0": new}))
    for weights, inputs in (([], [old, x]), ([old], [x])):  # of a function, and of a PyTorch model
        found = OptimizedModel(None, gevolve.load(file), weights)
        assert np.allclose(found(*inputs), x @ new, atol=1e-5)


def test_a_re_fit_needs_something_to_train_on(tmp_path):
    x = np.ones((2, 16), np.float32)
    for wrong in ({"refit": 5}, {"refit_on": [[x]]}, {"loss": far}):
        with pytest.raises(OptionError, match="refit_on"):
            gevolve.optimize_model(twice, [x], out=tmp_path / "a", evals=1, **wrong)
    with pytest.raises(OptionError, match="shapes"):
        gevolve.optimize_model(twice, [x], out=tmp_path / "a", refit=5, refit_on=[[x[:1]]])
