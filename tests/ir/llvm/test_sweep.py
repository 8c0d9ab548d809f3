"""What kinds want tried before anything random: valid on real kernels, and as plain as it looks."""

from functools import cache

import pytest

from gevolve.ir.llvm.addresses import address_text, roots
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edits import EDIT_KINDS
from gevolve.ir.llvm.omit import saved as saved_by
from gevolve.ir.llvm.recurrence import head_of, sums
from gevolve.patch import Patch
from gevolve.suite import PAPERS, TUNED
from gevolve.workload.locate import locate

NAMES = [*TUNED, *(name for name in PAPERS if not name.startswith("papers/svm-"))]


@cache
def loaded(name):
    return locate(name).load()


@pytest.fixture(scope="module", params=NAMES)
def program(request):
    return loaded(request.param)


def some(patches):
    """The first three of every kind, and others at even distances: to verify all takes minutes."""
    of_a_kind = {}
    for patch in patches:
        of_a_kind.setdefault(patch[0].kind, []).append(patch)
    first = [patch for alike in of_a_kind.values() for patch in alike[:3]]
    return dict.fromkeys([*first, *patches[:: max(1, len(patches) // 24)]])


def test_every_edit_is_valid_and_applies(program):
    patches = program.sweep(program.kinds, None)
    assert patches
    for patch in some(patches):
        assert Patch.parse(str(patch)) == patch
        variant = program.apply(patch)
        assert not variant.skipped, patch
        assert program.verify(variant.text) is None, patch
        assert all(program.describe(edit).sentence for edit in patch)


def test_all_edits_together_are_valid(program):
    edits = dict.fromkeys(edit for patch in program.sweep(program.kinds, None) for edit in patch)
    variant = program.apply(Patch(tuple(edits)))
    assert program.verify(variant.text) is None


def test_a_sweep_is_of_the_kinds_asked_for(program):
    for kind in program.kinds:
        assert {e.kind for patch in program.sweep([kind], None) for e in patch} <= {kind}


def test_the_hottest_comes_first():
    program = loaded("papers/hotspot")
    cold = program.sweep(["delete"], None)
    hot = program.sweep(["delete"], {cold_block(program, cold[-1]): 100.0, "b0": 1.0})
    assert hot[0] == cold[-1]


def cold_block(program, patch):
    return program._index.block_of[patch[0].args[0]]


def test_doubles_that_slipped_in_are_gone():
    """Constants without an f make hotspot compute in doubles; one edit takes them all out."""
    program = loaded("papers/hotspot")
    assert "f64" in to_ptx(program.text)
    first = next(patch for patch in program.sweep(["float"], None))
    assert "f64" not in to_ptx(program.apply(first).text)


def test_a_read_only_load_is_one():
    program = loaded("papers/kmeans")
    assert "ld.global.nc" not in to_ptx(program.text)
    bundle = program.sweep(["invariant"], None)[0]
    assert "ld.global.nc" in to_ptx(program.apply(bundle).text)


def test_a_shared_array_is_not_read_only():
    """Blocks write it, so a read-only load of it is a wasted evaluation."""
    program = loaded("papers/hotspot")
    swept = [edit.args[0] for patch in program.sweep(["invariant"], None) for edit in patch]
    assert swept
    assert not any("addrspace(3)" in str(program._index.instr[load]) for load in swept)
    loads = [instr for instr in program._index.instr.values() if instr.opcode == "load"]
    assert len(set(swept)) < len(loads)


def test_a_loop_that_cannot_be_unrolled_is_no_news(capfd):
    program = loaded("papers/pathfinder")
    for patch in program.sweep(["unroll"], None):
        if patch[0].args[-1] in ("full", "8"):
            to_ptx(program.apply(patch).text)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("edit", "has"),
    [
        ("registers b0 40", ".maxnreg 40"),
        ("relax i4 afn", "div.approx"),
        ("syncwarp i42", "bar.warp.sync"),
    ],
)
def test_the_assembler_hears_of_it(edit, has):
    program = loaded("papers/hotspot")
    assert has not in to_ptx(program.text)
    assert has in to_ptx(program.apply(Patch.parse(f"{edit} #1")).text)


def test_every_kind_sweeps_somewhere():
    programs = [loaded(f"papers/{name}") for name in ("hotspot", "lavamd", "srad")]
    swept: set[str] = set()
    for one in programs:
        sizes = {f"{function.name} ntid.x=256": 1.0 for function in one._index.functions}
        counts = {block: 10.0**n for n, block in enumerate(one._index.body)}  # loops run often
        profile = counts | sizes | {"parameter block=256,64": 1.0}
        swept |= {edit.kind for patch in one.sweep(one.kinds, profile) for edit in patch}
    assert swept == {*EDIT_KINDS} - {"copy", "move", "replace", "swap"}


def test_loops_of_few_steps_are_not_perforated():
    """That would only tell the compiler how long the loop runs on these cases."""
    program = loaded("papers/nbody")
    loop = program._index.block_of["i145"]
    for steps, found in ((3, {"2"}), (6, {"2", "4"}), (100, {"2", "4", "8"})):
        profile = dict.fromkeys(program._index.body, 1.0) | {loop: float(steps)}
        edits = (edit for patch in program.sweep(["perforate"], profile) for edit in patch)
        assert {edit.args[1] for edit in edits if edit.args[0] == "i145"} == found


def test_loops_of_few_steps_are_not_shortened():
    """Nothing of them would be left out, or all of what a few cases have."""
    program = locate("papers/nbody").load()
    loop = program._index.block_of["i145"]
    for steps, found in ((3, {"2"}), (20, {"2", "4", "8", "16"})):
        profile = dict.fromkeys(program._index.body, 1.0) | {loop: float(steps)}
        edits = (edit for patch in program.sweep(["shorten"], profile) for edit in patch)
        assert {edit.args[1] for edit in edits if edit.args[0] == "i145"} == found


def test_what_saves_most_is_left_out_first_and_no_term_of_a_loops_own_sum():
    program = locate("papers/nbody").load()
    swept = [patch[0] for patch in program.sweep(["omit"], None)]
    index, draft = program._index, LlvmDraft(program._index)
    uses = [[(index.instr[edit.args[0]], int(edit.args[1]))] for edit in swept]
    saved = [saved_by(program.sites(None), one) for one in uses]
    assert saved == sorted(saved, reverse=True)
    assert saved[0] > 4 * saved[-1]
    own = {add.id for one in sums(draft, "i145", head_of(draft, "i145")) for add, _ in one.terms}
    assert len(own) == 6  # three sums, unrolled by two
    assert own.isdisjoint(edit.args[0] for edit in swept if edit.args[2] == "term")


def test_a_load_takes_what_was_loaded_of_the_same_array_only():
    program = locate("papers/hotspot3d").load()
    get = program._index.instr.get
    swept = [patch[0].args for patch in program.sweep(["nearby"], None)]
    assert swept
    for load, other in swept:
        mine, its = (get(id_).operands[-1].value for id_ in (load, other))
        assert roots(get, mine) == roots(get, its)
        assert address_text(get, mine) != address_text(get, its)
