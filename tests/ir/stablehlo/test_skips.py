"""What a search proposes to skip first, and that skips of blocks in a row add up."""

import itertools

import jax
import numpy as np

from gevolve.device.xla import Xla
from gevolve.ir.stablehlo import load
from gevolve.ir.stablehlo.export import to_mlir
from gevolve.patch import Patch


def test_residual_blocks_are_skipped_first_and_whole_networks_never():
    def block(w, x):
        return x + jax.numpy.maximum(x @ w["in"] + w["bias"], 0) @ w["out"]

    def predict(weights, x):
        for w in weights:
            x = block(w, x)
        return x @ weights[0]["out"].T[:, :3] + 1

    layer = {
        "in": np.ones((8, 16), np.float32),
        "bias": np.ones(16, np.float32),
        "out": np.ones((16, 8), np.float32),
    }
    sites = load(predict, [[layer] * 3, np.ones((4, 8), np.float32)]).sites(None)
    index, found = sites.index, sites.bypasses
    kinds = [(index.info[target].name, index.type[value]) for target, value in found[:3]]
    assert kinds == [("stablehlo.add", "tensor<4x8xf32>")] * 3
    inputs = {value.partition(".")[0] for target, value in found[:3]}
    assert len(inputs) == 3, "each block to what comes into it"
    given = ["broadcast" in getattr(index.info.get(value), "name", "") for _, value in found]
    assert given == sorted(given), "what is computed comes before what is merely given"


def test_blocks_in_a_row_can_all_be_skipped_in_any_order():
    def predict(weights, x):
        for w in weights:
            x = x + jax.numpy.tanh(x @ w)
        return x * 2

    weights = [np.full((4, 4), n + 1.0, np.float32) for n in range(3)]
    x = np.ones((2, 4), np.float32)
    program = load(predict, [weights, x])
    skips = [
        patch
        for patch in program.sweep(["skip"], None)
        if "add" in program.show(patch[0].args[0])[0]
    ]
    blocks = [
        next(p for p in skips if p[0].args[0] == id_)
        for id_ in dict.fromkeys(p[0].args[0] for p in skips)
    ]
    assert len(blocks) == 3
    for order in itertools.permutations(blocks):
        variant = program.apply(Patch(tuple(edit for patch in order for edit in patch)))
        assert not variant.skipped
        assert "dot_general" not in to_mlir(variant.text)
        device = Xla("cpu")
        (got,) = device.open(device.build(variant.text))(*weights, x)
        np.testing.assert_array_equal(got, x * 2)
