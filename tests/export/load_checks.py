"""Models written in every form by one process, and used by another: ``python -m tests.export.load_checks write|use DIR``.

JAX does not survive a fork, so neither may be the process of the other tests.
"""

import json
import sys
import traceback
from pathlib import Path

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax import tree_util

import gevolve
from gevolve import Patch
from gevolve.ir import stablehlo
from gevolve.ir.stablehlo.export import to_bytecode, to_jax, to_mlir
from tests import ROOT

CHECKS = {}
RNG = np.random.default_rng(0)
WEIGHTS = {
    "first": RNG.random((4, 8), np.float32),
    "rest": [RNG.random(8, np.float32), np.int32(3)],
}
X = RNG.random((5, 4), np.float32)
FIXTURES = ROOT / "tests" / "ir" / "stablehlo" / "fixtures"


def network(weights, x):
    bias, rounds = weights["rest"]
    hidden = jnp.tanh(x @ weights["first"] + bias)
    hidden = jax.lax.fori_loop(0, rounds, lambda _, h: jnp.sort(h * 0.5 + h.mean()), hidden)
    return {"hidden": hidden, "best": (hidden.argmax(1), hidden.max())}


@tree_util.register_pytree_node_class
class Pair:
    """A tree that JAX can take apart, but not write down."""

    def __init__(self, one, other):
        self.one, self.other = one, other

    def tree_flatten(self):
        return (self.one, self.other), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def difference(pair):
    return Pair(pair.one - pair.other, pair.other)


def write(folder):
    arguments = [WEIGHTS, X]
    text = stablehlo.load(network, arguments).text
    (folder / "model.mlir").write_text(to_mlir(text))
    (folder / "model.mlirbc").write_bytes(to_bytecode(text))
    (folder / "flat.jax").write_bytes(to_jax(text))
    (folder / "model.jax").write_bytes(to_jax(text, source=network, arguments=arguments))
    (folder / "again.jax").write_bytes(to_jax(text, source=folder / "model.jax"))
    pair = [Pair(X, X * 2)]
    text = stablehlo.load(difference, pair).text
    (folder / "pair.jax").write_bytes(to_jax(text, source=difference, arguments=pair))
    (folder / "wide.mlir").write_text(
        "func.func @main(%a: tensor<2xf64>, %b: tensor<i64>) -> (tensor<2xf64>, tensor<i64>) {\n"
        "%r = stablehlo.add %a, %a : tensor<2xf64>\nreturn %r, %b : tensor<2xf64>, tensor<i64>\n}"
    )
    (folder / "wide.jax").write_bytes(to_jax((folder / "wide.mlir").read_text()))
    for fixture in FIXTURES.glob("*.mlir"):
        (folder / f"{fixture.stem}.fixture.jax").write_bytes(to_jax(stablehlo.load(fixture).text))
    (folder / "text").write_text("hello")
    (folder / "empty").write_text("")
    (folder / "noise").write_bytes(bytes(range(256)) * 8)


def check(function):
    CHECKS[function.__name__] = function
    return function


def same(got, want):
    """The same tree of the same numbers, but for the order of sums."""
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, 1e-5)


@check
def flat_forms_take_flat_arrays(folder):
    want = tuple(jax.tree.leaves(jax.jit(network)(WEIGHTS, X)))
    for name in ("model.mlir", "model.mlirbc", "flat.jax"):
        same(gevolve.load(folder / name)(*jax.tree.leaves((WEIGHTS, X))), want)


@check
def the_form_of_the_function_is_kept(folder):
    for name in ("model.jax", "again.jax"):
        same(gevolve.load(str(folder / name))(WEIGHTS, X), jax.jit(network)(WEIGHTS, X))


@check
def jax_alone_runs_it(folder):
    exported = jax.export.deserialize(bytearray((folder / "model.jax").read_bytes()))
    assert exported.platforms == ("cpu", "cuda", "rocm", "tpu")
    same(exported.call(WEIGHTS, X), jax.jit(network)(WEIGHTS, X))


@check
def it_may_be_part_of_a_larger_program(folder):
    model = gevolve.load(folder / "model.jax")
    got = jax.jit(lambda x: model(WEIGHTS, x * 2)["hidden"] + 1)(X)
    same(got, network(WEIGHTS, X * 2)["hidden"] + 1)
    same(model(jax.tree.map(jnp.asarray, WEIGHTS), jnp.asarray(X)), jax.jit(network)(WEIGHTS, X))


@check
def a_tree_that_jax_cannot_write_becomes_flat(folder):
    one, other = gevolve.load(folder / "pair.jax")(X, X * 2)
    same((one, other), (jnp.asarray(X - X * 2), jnp.asarray(X * 2)))


@check
def wide_numbers_stay_wide(folder):
    for name in ("wide.mlir", "wide.jax"):
        doubled, count = gevolve.load(folder / name)(np.array([1.0, 1e300]), np.int64(2**40))
        assert (doubled.dtype, count.dtype) == (np.float64, np.int64)
        assert np.asarray(doubled)[1] == 2e300
        assert int(count) == 2**40
    assert jnp.asarray(1.0).dtype == np.float32


@check
def fixtures_run_as_they_would(folder):
    written = list(folder.glob("*.fixture.jax"))
    assert written
    for path in written:
        given = [
            np.ones(aval.shape, aval.dtype)
            for aval in jax.export.deserialize(bytearray(path.read_bytes())).in_avals
        ]
        fixture = FIXTURES / path.name.replace(".fixture.jax", ".mlir")
        same(gevolve.load(path)(*given), gevolve.load(fixture)(*given))


@check
def wrong_arguments_are_refused(folder):
    model = gevolve.load(folder / "model.jax")
    takes = "model.jax takes {'first': float32[4, 8], 'rest': [float32[8], int32[]]}, float32[5, 4]"
    assert repr(model) == takes.replace("model.jax takes", "<model model.jax:") + ">"
    for arguments in ((WEIGHTS,), (X, WEIGHTS), (WEIGHTS, X[:2]), (WEIGHTS, X.astype(int))):
        with pytest.raises(gevolve.LaunchError) as caught:
            model(*arguments)
        assert str(caught.value).startswith(takes)
        assert "\n" not in str(caught.value)


@check
def other_files_are_refused(folder):
    for name, said in {
        "text": "not MLIR",
        "empty": "empty",
        "noise": "neither MLIR",
        "no": "No such",
    }.items():
        with pytest.raises(gevolve.SourceError, match=said) as caught:
            gevolve.load(folder / name)
        assert "\n" not in str(caught.value)


@check
def the_text_is_the_program(folder):
    program = stablehlo.load(network, [WEIGHTS, X])
    text = (folder / "model.mlir").read_text()
    assert stablehlo.canonical(text) == stablehlo.canonical(program.text)
    variant = program.apply(Patch.parse("narrow o0 bf16 #1"))
    text = to_mlir(variant.text)
    assert "%a0: tensor<4x8xf32>" in text  # as in patches
    assert stablehlo.canonical(text) == stablehlo.canonical(variant.text)


@check
def exports_are_small_and_clean(folder):
    text = (folder / "model.mlir").read_text()
    assert "loc(" not in text
    assert "load_checks" not in text
    portable = (folder / "model.mlirbc").read_bytes()
    assert b"StableHLO_v" in portable[:64]
    for name in ("model.mlirbc", "model.jax"):
        assert str(Path(__file__).parent).encode() not in (folder / name).read_bytes()


if __name__ == "__main__":
    where = Path(sys.argv[2])
    if sys.argv[1] == "write":
        write(where)
    else:
        found = {}
        for name, function in CHECKS.items():
            try:
                function(where)
                found[name] = ""
            except Exception:  # noqa: BLE001  (whatever a check trips over)
                found[name] = traceback.format_exc()
        json.dump(found, sys.stdout)
