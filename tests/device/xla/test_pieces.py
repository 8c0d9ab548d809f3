"""In a search a device runs programs in pieces; what it says of them is what it says of the whole."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.xla import Xla
from gevolve.device.xla.client import Client
from gevolve.device.xla.levels import SKETCH
from gevolve.device.xla.pieces import PiecedProgram
from gevolve.ir import stablehlo

RNG = np.random.default_rng(0)


def normal(*shape):
    return (RNG.standard_normal(shape) * 0.3).astype(np.float32)


def residual(weights, x):
    for wide, narrow in weights:
        x = x + jnp.maximum(x @ wide, 0) @ narrow
    return x.mean(0), x


def with_regions(weights, x):
    """A loop, a choice that takes values from around it, and reductions; what is live goes across all of them."""
    y = jnp.maximum(x @ weights[0], 0)
    z = jax.lax.fori_loop(0, 3, lambda _, v: v * 0.5 + y, y)
    z = jax.lax.cond(z.sum() > 0, lambda: z + y, lambda: z - y)
    z = z + jax.nn.softmax(z @ weights[1])
    return z @ weights[0], z.argmax(-1)


def until_small(x):
    return jax.lax.while_loop(lambda v: v.sum() > 1, lambda v: v * 0.5, x @ x) @ x


PROGRAMS = {
    "residual": (residual, [[[normal(8, 16), normal(16, 8)] for _ in range(5)], normal(6, 8)]),
    "regions": (with_regions, [[normal(8, 8) for _ in range(2)], normal(6, 8)]),
}


def assert_alike(ours, theirs):
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def client():
    return Client("cpu", 0)


def in_haste():
    device = Xla("cpu")
    device.hasten()
    return device


@pytest.mark.parametrize("sketch", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_in_haste_pieces_run_and_the_whole_is_what_is_told_of(name, sketch, client):
    function, arguments = PROGRAMS[name]
    artefact = stablehlo.canonical(stablehlo.load(function, arguments).text)
    arrays = stablehlo.flatten(arguments)
    patient, hasty = Xla("cpu"), in_haste()
    if sketch:
        hasty.prepare_sketch(artefact)
    else:
        hasty.prepare(artefact, ())
    assert isinstance(hasty._runnable(artefact), PiecedProgram)
    assert not isinstance(patient._runnable(artefact), PiecedProgram)
    assert hasty.fingerprint(artefact) == client.compile(artefact, SKETCH).fingerprint()
    assert hasty.modelled(artefact) == pytest.approx(patient.modelled(artefact), rel=0.01)
    expected = patient.open(artefact)(*arrays)
    assert_alike(hasty.open(artefact)(*arrays), expected)
    assert_alike(hasty.open_sketch(artefact, Limits())(*arrays), expected)
    assert not hasty._compiled, "the whole was compiled as a sketch only"


@pytest.mark.parametrize("name", PROGRAMS)
def test_edited_programs_give_the_same_in_pieces(name, client):
    function, arguments = PROGRAMS[name]
    program, hasty = stablehlo.load(function, arguments), in_haste()
    arrays = stablehlo.flatten(arguments)
    edits = [patch for patch in program.sweep(program.kinds, {}) if len(patch) == 1]
    for patch in edits[:: max(1, len(edits) // 6)]:
        artefact = stablehlo.canonical(program.apply(patch).text)
        whole = client.compile(artefact, SKETCH)
        expected = whole.run([client.upload(array) for array in arrays])[0]
        assert_alike(hasty.open(artefact)(*arrays), expected)


def test_what_a_clock_must_time_is_compiled_whole():
    artefact = stablehlo.canonical(stablehlo.load(until_small, [normal(4, 4)]).text)
    device = in_haste()
    assert device.modelled(artefact) is None
    assert not isinstance(device._runnable(artefact), PiecedProgram)


def test_an_edit_costs_the_pieces_that_it_is_in(client, monkeypatch):
    function, arguments = PROGRAMS["residual"]
    program, hasty = stablehlo.load(function, arguments), in_haste()
    compiled = []
    compile_ = type(client).compile

    def counted(self, artefact, level):
        compiled.append(level is not SKETCH)
        return compile_(self, artefact, level)

    monkeypatch.setattr(type(client), "compile", counted)

    def cost(patch):
        compiled.clear()
        hasty.prepare(stablehlo.canonical(program.apply(patch).text), ())
        return sum(compiled)

    sweep = [patch for patch in program.sweep(program.kinds, {}) if len(patch) == 1]
    assert cost(sweep[0][:0]) >= 3
    assert 1 <= cost(next(patch for patch in sweep if patch[0].kind == "contract")) <= 3
    skips = [patch for patch in sweep if patch[0].kind == "skip"]
    assert cost(skips[0]) <= 2
