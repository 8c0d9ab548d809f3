"""Edits and repair keep any kernel valid, and a patch means the same everywhere."""

import dataclasses
import os
import random
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import get_args, get_type_hints

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gevolve.errors import PatchError
from gevolve.ir.llvm import load, restore
from gevolve.ir.llvm.edits import EDIT_KINDS
from gevolve.patch import Edit, Patch
from tests import ROOT

HERE = Path(__file__).parent
SUITE = ROOT / "src" / "gevolve" / "suite" / "tuned"
SOURCES = sorted(
    [
        *SUITE.glob("*.cu"),
        *(HERE / "kernels").glob("*.cu"),
        *(HERE / "fixtures").glob("*.ll"),
        *(HERE / "fixtures").glob("*.bc"),
    ]
)
SMALL = SUITE / "hotspot.cu"

MANY = 14 if os.environ.get("GEVOLVE_EXPLORE") else 5
"""How many edits of each kind are proposed for every small program."""

program_of = cache(load)
seeds = st.integers(0, 2**32 - 1)


def draw(program, rng, count, profile=None):
    """A random patch of up to `count` edits."""
    edits = (
        program.propose(program.kinds[int(rng.integers(len(program.kinds)))], rng, profile)
        for _ in range(count)
    )
    return Patch(tuple(edit for edit in edits if edit is not None))


def number(text):
    return re.fullmatch(r"-?\d+", text)


def _bodies(text):
    """The functions without their metadata, which LLVM renumbers when it prints."""
    return [re.sub(r"!\d+", "!", part.split("\n}")[0]) for part in text.split("\ndefine")[1:]]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_loads_prints_and_verifies(path):
    program = program_of(path)
    assert program.verify(program.text) is None
    assert program.verify(program.instrumented()) is None
    assert restore(program.text).text == program.text
    again = llvm.parse_assembly(program.text, llvm.create_context())
    assert _bodies(restore(str(again)).text) == _bodies(program.text)
    assert program.apply(Patch()).text == program.text


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_proposed_edits_verify(path):
    """At least 99 % of proposed edits, of each kind, give a module that LLVM verifies."""
    program = program_of(path)
    rng = np.random.default_rng(7)
    tries = MANY if program.size < 1000 else max(2, MANY // 3)
    rejected = []
    made = 0
    for kind in program.kinds:
        for _ in range(tries):
            edit = program.propose(kind, rng, None)
            if edit is None:
                continue
            made += 1
            variant = program.apply(Patch((edit,)))
            assert variant.skipped == ()
            why = program.verify(variant.text)
            if why is not None:
                rejected.append((str(edit), why))
    assert made >= tries * 4
    assert len(rejected) <= made // 100, rejected


@settings(max_examples=60, deadline=None)
@given(seed=seeds, count=st.integers(1, 40), name=st.sampled_from(["hotspot", "bfs", "histogram"]))
def test_long_patches_verify(seed, count, name):
    program = program_of(SUITE / f"{name}.cu")
    variant = program.apply(draw(program, np.random.default_rng(seed), count))
    assert program.verify(variant.text) is None


@settings(max_examples=60, deadline=None)
@given(seed=seeds)
def test_any_part_of_a_patch_in_any_order_verifies(seed):
    """Crossover cuts and shuffles patches: what an edit relied on may be gone."""
    program = program_of(SMALL)
    rng = np.random.default_rng(seed)
    edits = list(draw(program, rng, 12))
    edits += [Edit("operand", (f"x{e.seed:x}", "0", "a0"), 1) for e in edits if e.kind == "copy"]
    edits += [Edit("delete", (f"x{e.seed:x}",), 2) for e in edits if e.kind == "replace"]
    random.Random(seed).shuffle(edits)
    variant = program.apply(Patch(tuple(edits[: 1 + seed % len(edits)])))
    assert program.verify(variant.text) is None


@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from([*EDIT_KINDS, "bend", "copy"]),
    args=st.lists(
        st.sampled_from(
            ["i0", "i5", "i99999", "a0", "b1", "xff", "0", "1", "-1", "=0", "=true", "7"]
        ),
        max_size=4,
    ),
    seed=seeds,
)
def test_senseless_edits_are_refused_skipped_or_valid(kind, args, seed):
    """A patch typed by hand may say anything."""
    program = program_of(SMALL)
    edit = Edit(kind, tuple(args), seed)
    if kind not in EDIT_KINDS or not fits(EDIT_KINDS[kind], args):
        with pytest.raises(PatchError, match=f"^'{re.escape(str(edit))}': .+$"):
            program.apply(Patch((edit,)))
        return
    assert program.verify(program.apply(Patch((edit,))).text) is None


def fits(kind, args):
    """Whether these words are what the fields of an edit kind say, written out once more."""
    types = [get_type_hints(kind)[field.name] for field in dataclasses.fields(kind)]
    return len(args) == len(types) and all(
        number(word) if wanted is int else wanted is str or word in get_args(wanted)
        for word, wanted in zip(args, types, strict=True)
    )


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_patches_replay_the_same_from_their_text(seed):
    program = program_of(SMALL)
    patch = draw(program, np.random.default_rng(seed), 20)
    assert Patch.parse(str(patch)) == patch
    first = program.apply(patch)
    assert restore(program.text).apply(Patch.parse(str(patch))).text == first.text
    assert program.apply(Patch()).text == program.text, "apply changed the program"


def test_patches_replay_the_same_in_another_process(tmp_path):
    program = program_of(SMALL)
    patch = draw(program, np.random.default_rng(3), 30)
    (tmp_path / "program.ll").write_text(program.text)
    script = (
        "import sys, pathlib; from gevolve.ir.llvm import restore; from gevolve.patch import Patch;"
        "p = restore(pathlib.Path(sys.argv[1]).read_text());"
        "sys.stdout.write(p.apply(Patch.parse(sys.argv[2])).text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "program.ll"), str(patch)],
        capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "123"},
    )  # fmt: skip
    assert done.stdout == program.apply(patch).text


def test_repair_choices_survive_other_edits():
    """An edit's choice stays when an unrelated edit joins the patch: most of the time at least."""
    program = program_of(SMALL)
    rng = np.random.default_rng(5)
    same = total = 0
    for _ in range(60):
        edit = program.propose("delete", rng, None)
        other = program.propose("operand", rng, None)
        alone = _lines(program, Patch((edit,)))
        joined = _lines(program, Patch((other, edit)))
        total += 1
        same += len(alone - joined) <= 2
    assert same / total > 0.8


def _lines(program, patch):
    return set(program.apply(patch).text.splitlines()) - set(program.text.splitlines())


def test_sites_follow_the_profile():
    program = program_of(SMALL)
    blocks = [line[:-1] for line in program.text.splitlines() if line.startswith("b")]
    hot = blocks[len(blocks) // 2]
    body = program.text.split(f"\n{hot}:\n")[1].split("\nb")[0]
    rng = np.random.default_rng(1)
    edits = [program.propose("delete", rng, {hot: 1000.0}) for _ in range(200)]
    names = [edit.args[0] for edit in edits if edit is not None]
    inside = sum(f"%{name} = " in body for name in names)
    assert inside > 60
    cold = [n for n in names if f"%{n} = " in program.text and f"%{n} = " not in body]
    assert cold, "cold blocks keep a small share"


def test_what_is_tried_first_is_on_the_lines_that_cost_most():
    program = program_of(SMALL)
    runs = dict.fromkeys(program._index.body, 1.0)
    plain = [patch[0] for patch in program.sweep(["operand"], runs)]
    lines = list(dict.fromkeys(program.describe(edit).line for edit in plain))
    assert len(lines) > 2
    costs = {f"line {line}": float(n) for n, line in enumerate(lines)}
    ordered = [patch[0] for patch in program.sweep(["operand"], runs | costs)]
    assert sorted(ordered) == sorted(plain)
    asked = [program.describe(edit).line for edit in ordered]
    assert list(dict.fromkeys(asked)) == lines[::-1]


def test_edits_stay_within_the_named_kernels():
    path = SUITE / "bfs.cu"
    everything = load(path)
    names = [
        line.split("@")[1].split("(")[0]
        for line in everything.text.splitlines()
        if "ptx_kernel" in line
    ]
    one = load(path, kernels=(names[0],))
    assert 0 < one.size < everything.size
    rng = np.random.default_rng(2)
    first = one.text.split("\ndefine")[1]
    for _ in range(100):
        patch = draw(one, rng, 1)
        text = one.apply(patch).text
        if names[0] in first:
            assert text.split("\ndefine")[2] == one.text.split("\ndefine")[2]


def test_edits_are_described_on_source_lines():
    program = program_of(SMALL)
    rng = np.random.default_rng(4)
    changes = [program.describe(program.propose("delete", rng, None)) for _ in range(20)]
    for change in changes:
        assert re.match(r"delete the [a-z`]", change.sentence)
        assert not re.search(r"\b[ib]\d+\b|%", change.sentence)  # no ids, no IR
        assert re.fullmatch(r"hotspot\.cu:[1-9]\d*", change.line)
        assert change.line in change.sentence
    assert " before the " in program.describe(Edit("move", ("i1", "i2"), 0)).sentence
    assert program.describe(Edit("bend", ("i1",), 0)).sentence == "bend i1 #0"
