"""Values that are kept in a register, written into the user's own source."""

import re

import pytest

from gevolve.ir.llvm import load
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.patch import Patch

SOURCE = r"""
namespace tiles {
__global__ void smooth(const float *in, float *out, unsigned *count, float *sum, int n)
{
    __shared__ float tile[64];
    __shared__ unsigned seen[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    seen[i] = count[i];
    __syncthreads();
    out[i] = tile[i] * 2 + tile[i ^ 1];
    count[i + n] = seen[i] / 3;
    __syncthreads();
    if (n > 5) {
        seen[i] += 2;
        out[i + n] = in[i] + in[i];
    }
    count[i + 2 * n] = seen[i];
    for (int k = 0; k < n; k++) {
        int at = i * 2;
        sum[at] += in[k];
        __syncthreads();
    }
}
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "smooth.cu"
    path.write_text(SOURCE)
    return load(path)


def forms(program, kind):
    """The forms that edits of a kind take: each edit with its form."""
    edits = [patch[0] for patch in program.sweep([kind], None) if len(patch) == 1]
    both = [(edit, program.source_form(Patch((edit,)), SOURCE, "smooth.cu")) for edit in edits]
    return [(edit, form) for edit, form in both if form.words]


def changed(form):
    lines = [line for line in form.diff.splitlines()[2:] if line.startswith(("-", "+"))]
    return [line[0] + line[1:].strip() for line in lines]


def found(program, kind, element):
    return next(form for _, form in forms(program, kind) if f"`{element}`" in form.words[0])


def test_what_was_stored_is_not_loaded_again(program):
    form = found(program, "forward", "tile[i]")
    assert form.words == (
        "keep `tile[i]` of smooth.cu:8 in a variable, and do not load it again (smooth.cu:11)",
    )
    assert changed(form) == [
        "+float kept1;",
        "-tile[i] = in[i];",
        "+tile[i] = kept1 = in[i];",
        "-out[i] = tile[i] * 2 + tile[i ^ 1];",
        "+out[i] = kept1 * 2 + tile[i ^ 1];",
    ]


def test_a_variable_has_the_type_of_the_array_and_follows_updates(program):
    form = found(program, "keep", "seen[i]")
    assert changed(form) == [
        "+unsigned kept1;",
        "-seen[i] = count[i];",
        "+seen[i] = kept1 = count[i];",
        "-count[i + n] = seen[i] / 3;",
        "+count[i + n] = kept1 / 3;",
        "-seen[i] += 2;",
        "+seen[i] = kept1 = kept1 + (2);",
        "-count[i + 2 * n] = seen[i];",
        "+count[i + 2 * n] = kept1;",
    ]


def test_all_of_one_element_that_the_compiler_loads_once_is_the_variable(program):
    form = found(program, "forward", "in[i]")
    assert changed(form)[-2:] == [
        "-out[i + n] = in[i] + in[i];",
        "+out[i + n] = kept1 + kept1;",
    ]


def test_a_loop_keeps_what_it_adds_to(program):
    form = found(program, "keep", "sum[at]")
    assert form.words == ("keep `sum[at]` in a variable while the loop of smooth.cu:19 runs",)
    assert changed(form) == [
        "+float kept1 = sum[(i * 2)];",
        "-sum[at] += in[k];",
        "+sum[at] = kept1 = kept1 + (in[k]);",
    ]


def accesses(text):
    ptx = to_ptx(text)
    return [len(re.findall(word, ptx)) for word in (r"ld\.global", r"ld\.shared", r"st\.")]


@pytest.mark.parametrize("kind", ["forward", "keep"])
def test_the_source_loads_and_stores_as_the_variant_does(program, kind, tmp_path):
    some = forms(program, kind)
    assert len(some) >= 3
    for edit, form in some:
        path = tmp_path / "smooth.cu"
        path.write_text(form.text)
        variant = program.apply(Patch((edit,))).text
        assert accesses(load(path).text) == accesses(variant), form.words


def test_a_load_that_stands_for_one_after_a_store_has_no_form(program):
    """The compiler loads `seen[i]` once for two places, and its value is another at the second."""
    edits = [patch for patch in program.sweep(["forward"], None) if len(patch) == 1]
    left = [program.source_form(patch, SOURCE, "smooth.cu").left for patch in edits]
    assert sum("written in between" in why for whys in left for why in whys) == 1


def test_edits_of_one_value_share_a_variable(program):
    pairs = [
        (edit, other)
        for edit, first in forms(program, "forward")
        for other, second in forms(program, "keep")
        if "`tile[i]`" in first.words[0] and "`tile[i]`" in second.words[0]
    ]
    assert pairs
    form = program.source_form(Patch(pairs[0]), SOURCE, "smooth.cu")
    assert not form.left
    assert re.findall(r"float kept\d", form.text) == ["float kept1"]


UNROLLED = r"""
__global__ void rows(float *out, const float *in)
{
    __shared__ float tile[64];
    int i = threadIdx.x;
    for (int k = 0; k < 2; k++)
        tile[i + 32 * k] = in[i + k];
    __syncthreads();
    for (int k = 0; k < 2; k++)
        out[i + k] = tile[i + 32 * k];
}
"""


def test_one_of_several_accesses_of_a_line_has_no_form(tmp_path):
    path = tmp_path / "rows.cu"
    path.write_text(UNROLLED)
    program = load(path)
    patches = program.sweep(["forward"], None)
    left = [program.source_form(patch, UNROLLED, "rows.cu").left for patch in patches]
    assert left
    assert all("several of the program" in why for whys in left for why in whys)


def test_an_edit_that_does_not_fit_leaves_nothing_behind(program):
    """The store that a value would be kept of is gone: neither is the variable there, nor is it read."""
    keep = next(e for e, form in forms(program, "keep") if "`tile[i]`" in form.words[0])
    gone = next(e for e, form in forms(program, "delete") if "`tile[i] = in[i];`" in form.words[0])
    form = program.source_form(Patch((gone, keep)), SOURCE, "smooth.cu")
    assert len(form.left) == 1
    assert "kept" not in form.text


def test_two_values_have_a_variable_each_and_compile(program, tmp_path):
    edits = [
        next(edit for edit, form in forms(program, "keep") if f"`{element}`" in form.words[0])
        for element in ("tile[i]", "seen[i]")
    ]
    form = program.source_form(Patch(tuple(edits)), SOURCE, "smooth.cu")
    assert not form.left
    assert re.findall(r"^ *(\w+ kept\d);", form.text, re.MULTILINE) == [
        "float kept1",
        "unsigned kept2",
    ]
    path = tmp_path / "smooth.cu"
    path.write_text(form.text)
    assert load(path).text
