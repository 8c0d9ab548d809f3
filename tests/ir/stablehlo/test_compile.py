"""XLA compiles what edits make, and the unedited program computes what its source does."""

from pathlib import Path

import jax
import numpy as np
import pytest
from jax.extend import backend

from gevolve.ir import stablehlo
from gevolve.patch import Patch

FIXTURES = Path(__file__).parent / "fixtures"


def compiled(text):
    client = backend.get_backend("cpu")
    options = backend.get_compile_options(
        num_replicas=1,
        num_partitions=1,
        env_options_overrides={"xla_disable_hlo_passes": "constant_folding"},
    )
    return client.compile_and_load(stablehlo.canonical(text), client.local_devices()[:1], options)


def run(text, arrays):
    results = compiled(text).execute([jax.device_put(array) for array in arrays])
    return [np.asarray(result) for result in results]


def model(weights, x):
    for w in weights:
        x = jax.nn.gelu(x @ w)
    return {"y": x, "top": jax.lax.top_k(x, 2)}


def test_the_program_computes_what_its_source_does():
    rng = np.random.default_rng(0)
    arguments = [list(rng.random((2, 5, 5), np.float32)), rng.random((3, 5), np.float32)]
    program = stablehlo.load(model, arguments)
    results = run(program.text, stablehlo.flatten(arguments, model))
    got = stablehlo.unflatten(results, model, arguments)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), got, model(*arguments))


@pytest.mark.parametrize(
    ("patch", "want"),
    [
        ("", [2.0, 4.0, 6.0]),
        ("scale o0 -1 #1", [1.0, 2.0, 3.0]),
        ("delete o2 #1", [1.0, 2.0, 3.0]),
        ("operand o2 0 =1 #1", [2.0, 2.0, 2.0]),
        ("narrow o2 bf16 #1", [2.0, 4.0, 6.0]),
    ],
)
def test_edits_do_what_they_say(patch, want):
    program = stablehlo.load(lambda x: x * 2.0, [np.zeros(3, np.float32)])
    variant = program.apply(Patch.parse(patch))
    assert not variant.skipped
    (result,) = run(variant.text, [np.array([1, 2, 3], np.float32)])
    assert result.tolist() == want


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("resnet", "copy narrow scale"),
        ("transformer", "replace move operand"),
        ("lstm", "delete swap"),
    ],
)
def test_what_edits_make_compiles(name, kinds):
    program = stablehlo.load(FIXTURES / f"{name}.mlir")
    rng = np.random.default_rng(17)
    for kind in kinds.split():
        edit = program.propose(kind, rng, None)
        variant = program.apply(Patch((edit,)))
        assert not variant.skipped
        assert compiled(variant.text) is not None


@pytest.mark.parametrize(("channels", "filled"), [(3, 1), (5, 2), (6, 1), (8, 0), (1, 0)])
def test_products_that_sum_zeros_as_well_compute_the_same(channels, filled):
    """What is proposed fills each sum to a size that it has not yet: of 5 channels to 6 and 8, of 6 to 8."""

    def network(kernel, weights, x):
        form = ("NHWC", "HWIO", "NHWC")
        wide = jax.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=form)
        return wide @ weights

    rng = np.random.default_rng(0)
    shapes = ((3, 3, channels, 8), (8, 3), (2, 6, 6, channels))
    arrays = [rng.random(shape, np.float32) for shape in shapes]
    program = stablehlo.load(network, arrays)
    found = [patch for patch in program.sweep(["fill"], None) if len(patch) == 1]
    assert len(found) == filled
    (want,) = run(program.text, arrays)
    for patch in found:
        variant = program.apply(patch)
        assert not variant.skipped
        (got,) = run(variant.text, arrays)
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize(("kind", "found"), [("fill", 3), ("widen", 3), ("split", 2), ("turn", 2)])
def test_products_in_another_form_compute_the_same(kind, found):
    """Whatever is taken together, summed over and left: batches, several dimensions, a convolution."""

    def network(kernel, weights, x, y):
        form = ("NHWC", "HWIO", "NHWC")
        wide = jax.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=form)
        first = jax.lax.dot_general(wide, weights, (((3,), (1,)), ((), ())))
        return first, jax.lax.dot_general(y, y[:, 1:], (((3,), (3,)), ((0,), (0,))))

    rng = np.random.default_rng(0)
    shapes = ((3, 3, 5, 48), (6, 48, 12), (2, 6, 6, 5), (3, 4, 10, 36))
    arrays = [rng.random(shape, np.float32) for shape in shapes]
    program = stablehlo.load(network, arrays)
    want = run(program.text, arrays)
    patches = program.sweep([kind], None)
    assert len({patch[0].args[0] for patch in patches}) == found
    for patch in patches:
        variant = program.apply(patch)
        assert not variant.skipped
        assert variant.text != program.text
        for got, expected in zip(run(variant.text, arrays), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_forms_of_one_product_are_put_on_each_other():
    def network(x, weights):
        return jax.nn.relu(jax.nn.relu(x @ weights) @ weights)

    rng = np.random.default_rng(0)
    arrays = [rng.random(shape, np.float32) - 0.5 for shape in ((6, 24), (24, 24))]
    program = stablehlo.load(network, arrays)
    bundle = program.sweep(["turn"], None)
    assert [len(patch) for patch in bundle] == [2]  # both products have one size
    first = bundle[0][0].args[0]
    edits = f"turn {first} #1; widen {first} 16 #1; split {first} 4 #1; contract {first} 0 20 #1; fill {first} 8 #1"
    variant = program.apply(Patch.parse(edits))
    assert not variant.skipped
    (want,) = run(program.apply(Patch.parse(f"contract {first} 0 20 #1")).text, arrays)
    (got,) = run(variant.text, arrays)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    for edit in (f"turn {first} #1", f"widen {first} 16 #1", f"split {first} 4 #1"):
        assert first in program.describe(Patch.parse(edit)[0]).sentence
    assert program.apply(Patch.parse(f"split {first} 7 #1")).skipped
    assert program.apply(Patch.parse(f"widen {first} 0 #1")).skipped
