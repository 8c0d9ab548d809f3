"""Edits and repair keep any model valid, and a patch means the same everywhere."""

import random
import re
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from gevolve.errors import PatchError, SourceError
from gevolve.ir import stablehlo
from gevolve.ir.stablehlo.edits import EDIT_KINDS
from gevolve.patch import Edit, Patch

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.mlir"))
SIX = ["copy", "delete", "move", "replace", "swap", "operand"]
seeds = st.integers(0, 2**32 - 1)


def f32(*shape):
    return np.ones(shape, np.float32)


def conv(x, w):
    return lax.conv_general_dilated(
        x, w, (1, 1), ((1, 1), (2, 2)), lhs_dilation=(2, 1), rhs_dilation=(1, 2), feature_group_count=2,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )  # fmt: skip


def nested(x):
    def inner(carry):
        return carry[0] + 1, jnp.sin(carry[1])

    def outer(i, y):
        return lax.while_loop(lambda c: c[0] < i, inner, (0, y))[1] * 2

    return lax.fori_loop(0, 7, outer, x)


FEATURES = {
    "while": (nested, [f32(3)]),
    "case": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 2], x), [1, f32(3)]),
    "if": (lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), [True, f32(3)]),
    "reduce": (lambda x: (jnp.argmax(x, 1), x.prod(0), jnp.any(x > 0)), [f32(3, 4)]),
    "reduce_window": (lambda x: lax.cumsum(x) + lax.cummax(x), [f32(8)]),
    "pooling": (jax.grad(lambda x: lax.reduce_window(
        x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID").sum()), [f32(4, 4)]),
    "gather": (lambda x, i: x[i, ::2] + jnp.take(x, i, 0)[:, 1:3], [f32(5, 4), np.array([1, 2])]),
    "scatter": (lambda x, i: x.at[i].add(2.0).at[i].max(x[0]), [f32(5, 4), np.array([1, 2])]),
    "sort": (lambda x: (jnp.sort(x), jnp.argsort(x), lax.top_k(x, 2)), [f32(3, 4)]),
    "dynamic_slice": (
        lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (1, 4)), (0, i)),
        [f32(5, 4), 1],
    ),
    "convolution": (conv, [f32(1, 4, 4, 4), f32(3, 3, 2, 8)]),
    "fft": (lambda x: jnp.abs(jnp.fft.rfft(x)) + jnp.real(x * 1j)[:5], [f32(8)]),
    "linalg": (lambda x: jax.scipy.linalg.solve_triangular(x @ x.T, x), [f32(3, 3)]),
    "integers": (lambda x: (x << 2, x % 3, lax.population_count(x), x > 1), [np.arange(5)]),
    "narrow": (lambda x: x.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16).T, [f32(3, 3)]),
    "random": (lambda k, x: x + jax.random.normal(jax.random.wrap_key_data(k), (3,)),
               [np.zeros(2, np.uint32), f32(3)]),
}  # fmt: skip


@cache
def program_of(source):
    if isinstance(source, Path):
        return stablehlo.load(source)
    return stablehlo.load(*FEATURES[source])


def draw(program, rng, count, kinds=tuple(EDIT_KINDS)):
    """A random patch of up to `count` edits."""
    edits = (program.propose(kinds[int(rng.integers(len(kinds)))], rng, None) for _ in range(count))
    return Patch(tuple(edit for edit in edits if edit is not None))


def signature(text):
    """The types of main: what no edit may change."""
    found = re.search(r"@main\((.*)\) -> (.*) \{", text)
    return found and (re.findall(r"tensor<[^>]*>+", found[1]), found[2])


SOURCES = [*FIXTURES, *FEATURES]


def name_of(source):
    return source.name if isinstance(source, Path) else source


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_loads_prints_verifies_and_comes_back(source):
    program = program_of(source)
    assert program.verify(program.text) is None
    assert program.verify(program.instrumented()) is None
    assert program.apply(Patch()).text == program.text
    again = stablehlo.restore(program.text)
    assert again.text == program.text
    assert again.digest == program.digest
    assert stablehlo.canonical(again.text) == stablehlo.canonical(program.text)


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_every_kind_of_edit_keeps_every_program_valid(source):
    program = program_of(source)
    rng = np.random.default_rng(5)
    for kind in program.kinds:
        for _ in range(4):
            edit = program.propose(kind, rng, None)
            if edit is None:
                continue
            variant = program.apply(Patch((edit,)))
            assert program.verify(variant.text) is None, edit
            assert signature(variant.text) == signature(program.text)
            assert "\n" not in program.describe(edit).sentence
            assert variant.skipped or variant.text != program.text, edit


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(FIXTURES), seeds, st.integers(1, 64))
def test_long_patches_keep_programs_valid(source, seed, count):
    program = program_of(source)
    patch = draw(program, np.random.default_rng(seed), count)
    variant = program.apply(patch)
    assert program.verify(variant.text) is None
    assert signature(variant.text) == signature(program.text)
    assert stablehlo.restore(variant.text).verify(variant.text) is None


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SOURCES), st.sampled_from(SOURCES), seeds)
def test_patches_made_for_another_program_are_skipped_or_applied(source, other, seed):
    patch = draw(program_of(other), np.random.default_rng(seed), 24)
    program = program_of(source)
    assert program.verify(program.apply(patch).text) is None


def well_formed(edit):
    try:
        EDIT_KINDS.read(edit)
    except PatchError:
        return False
    return True


WORDS = st.sampled_from(
    [
        "o0",
        "o1",
        "o2",
        "o5",
        "o9",
        "o30",
        "o2.1",
        "o2.7",
        "a0",
        "a1",
        "a99",
        "b2.0",
        "c2.0",
        "b2.9",
        "b.1",
        "b0",
        "c",
        "x1",
        "x1.1",
        "~0",
        "r0",
        "=0",
        "=1",
        "=2",
        "0",
        "1",
        "-1",
        "-7",
        "bf16",
        "f16",
        "f64",
        ".",
        "a.",
        "o",
        "o.1",
        "1.5",
        "-",
    ]
)


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(["while", "case", "sort"]), st.data())
def test_words_that_mean_nothing_are_skipped_or_refused(source, data):
    kinds = st.sampled_from([*EDIT_KINDS, "unheard-of"])
    edits = st.builds(
        Edit, kinds, st.lists(WORDS, max_size=3).map(tuple), st.sampled_from([0, 1, 7])
    )
    program = program_of(source)
    patch = Patch(tuple(data.draw(st.lists(edits, max_size=12))))
    assert program.verify(program.apply(Patch(tuple(filter(well_formed, patch)))).text) is None
    for edit in patch:
        if not well_formed(edit):
            with pytest.raises(PatchError, match=f"^'{re.escape(str(edit))}': .+$"):
                program.apply(Patch((edit,)))
        assert "\n" not in program.describe(edit).sentence


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(FIXTURES), seeds)
def test_a_patch_gives_the_same_text_in_a_restored_program(source, seed):
    program = program_of(source)
    patch = draw(program, np.random.default_rng(seed), 12)
    again = stablehlo.restore(program.text).apply(Patch.parse(str(patch)))
    assert again == program.apply(patch)


def test_proposals_come_from_the_generator_alone():
    program = program_of(FIXTURES[0])
    state = random.getstate()
    one, other = (draw(program, np.random.default_rng(3), 30) for _ in range(2))
    assert one == other
    assert random.getstate() == state


def test_repair_choices_survive_other_edits():
    """An edit does the same to its own operation when edits elsewhere come before it."""
    program = program_of(next(path for path in FIXTURES if path.stem == "resnet"))
    rng = np.random.default_rng(11)
    kept = total = 0
    for _ in range(60):
        edit = program.propose("replace", rng, None)
        others = draw(program, rng, 3, ("operand", "scale"))
        name = f"%x{edit.seed:x} = "
        alone, beside = (
            next((line for line in program.apply(patch).text.splitlines() if name in line), None)
            for patch in (Patch((edit,)), others + Patch((edit,)))
        )
        if alone is not None and "%r" not in alone:
            total += 1
            kept += alone == beside
    assert total > 20
    assert kept >= 0.85 * total


def test_narrowing_does_not_hide_an_operation_from_other_edits():
    program = program_of(next(path for path in FIXTURES if path.stem == "transformer"))
    rng = np.random.default_rng(2)
    for _ in range(20):
        narrow = program.propose("narrow", rng, None)
        other = draw(program, rng, 3, SIX)
        first = program.apply(Patch((narrow,)) + other)
        last = program.apply(other + Patch((narrow,)))
        assert first.text == last.text
        assert len(first.skipped) == len(last.skipped)


def test_loops_are_drawn_often_and_their_conditions_rarely():
    def loop(x):
        for _ in range(8):
            x = x + 1.0
        return lax.fori_loop(0, 100, lambda i, y: jnp.sin(y) * 2.0, x)

    program = stablehlo.load(loop, [f32(3)])
    rng = np.random.default_rng(0)
    edits = [program.propose("delete", rng, None) for _ in range(400)]
    kinds = [re.search(r"stablehlo\.(\w+)", program.describe(edit).sentence)[1] for edit in edits]
    assert kinds.count("sine") > kinds.count("add") / 3  # one in the loop, nine adds
    assert kinds.count("compare") < kinds.count("sine") / 5


def test_the_text_of_a_stranger_is_refused():
    with pytest.raises(SourceError, match="the program's text cannot be read"):
        stablehlo.restore("nonsense")
    assert "line 1" in program_of("while").verify("nonsense")


def test_canonical_form_is_blind_to_dead_and_repeated_code():
    program = stablehlo.load(lambda x: (x * 2.0, jnp.sin(x)), [f32(3)])
    same = program.text.replace(
        "    return",
        "    %d = stablehlo.cosine %a0 : tensor<3xf32>\n"
        "    %e = stablehlo.sine %a0 : tensor<3xf32>\n    return",
    )
    same = re.sub(r"return %(\w+), %\w+", r"return %\1, %e", same)
    assert same != program.text
    assert program.verify(same) is None
    assert stablehlo.canonical(same) == stablehlo.canonical(program.text)
    changed = program.apply(Patch.parse("scale o0 1 #1"))
    assert not changed.skipped
    assert stablehlo.canonical(changed.text) != stablehlo.canonical(program.text)


@pytest.mark.parametrize(
    ("element", "value", "power", "want"),
    [
        ("i8", "5", 1, "10"),
        ("i8", "-5", -1, "-2"),
        ("i8", "100", 1, None),
        ("ui8", "[200, 3]", -1, "[100, 1]"),
        ("i64", "[5, 0]", 3, "[40, 0]"),
        ("bf16", "1.5", -2, "3.750000e-01"),
        ("bf16", "[1.5, 0.0]", 1, None),
        ("f16", "[1.5, 0.0]", 1, "[3.000000e+00, 0.000000e+00]"),
        ("f16", "60000.0", 1, None),
        ("f32", "0.0", 1, None),
        ("f32", "0x7F800000", 1, None),
        ("f64", "0.1", 1, "2.000000e-01"),
        ("i1", "true", 1, None),
        ("complex<f32>", "(1.0, 2.0)", 1, None),
    ],
)
def test_constants_are_scaled_within_their_type(element, value, power, want):
    kind = f"tensor<2x{element}>"
    program = stablehlo.restore(
        f"func.func @main(%x: {kind}) -> {kind} {{\n"
        f"  %c = stablehlo.constant dense<{value}> : {kind}\n"
        f"  %0 = stablehlo.add %x, %c : {kind}\n  return %0 : {kind}\n}}\n"
    )
    variant = program.apply(Patch.parse(f"scale o0 {power} #1"))
    assert program.verify(variant.text) is None
    if want is None:
        assert variant.skipped == ((0, "o0 stays the same, or no longer fits its type"),)
    else:
        assert f"dense<{want}>" in variant.text
