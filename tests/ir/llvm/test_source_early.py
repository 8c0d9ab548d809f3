"""Loads that are done earlier, written into the user's own source; and changes of one text that go together."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm import load
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.ir.llvm.source_form.changes import Changes
from gevolve.ir.llvm.source_form.scan import statement_start
from gevolve.patch import Patch

SOURCE = r"""struct Node { int first; float weight; };

__global__ void walk(const int *mask, const Node *nodes, const float *cost, float *out, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (mask[i] > 0) {
        int next = i + n;
        out[next] = cost[next] * 2 + sqrtf(nodes[i].weight);
    } else if (mask[i] < -5) {
        sum[i] += cost[i + 1];
    }
    for (int k = 0; k < n; k++)
        out[i + k] += cost[7];
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "walk.cu"
    path.write_text(SOURCE)
    return load(path)


def every(program, kind):
    return [patch[0] for patch in program.sweep([kind], None) if len(patch) == 1]


def lines(program, *edits):
    """The words, and the lines taken out and put in."""
    form = program.source_form(Patch(edits), SOURCE, "walk.cu")
    changed = [line for line in form.diff.splitlines()[2:] if line.startswith(("-", "+"))]
    return form.words, [line[0] + line[1:].strip() for line in changed]


@pytest.fixture(scope="module")
def hoisted(program):
    forms = (lines(program, edit) for edit in every(program, "hoist"))
    return {words[0]: changed for words, changed in forms if words}


def test_a_load_gets_a_name_above_the_condition(hoisted):
    assert hoisted["read `nodes[i].weight` early, above walk.cu:6"] == [
        "+const auto early1 = nodes[i].weight;",
        "-out[next] = cost[next] * 2 + sqrtf(nodes[i].weight);",
        "+out[next] = cost[next] * 2 + sqrtf(early1);",
    ]


def test_what_is_defined_on_the_way_is_written_out(hoisted):
    assert hoisted["read `cost[(i + n)]` early, above walk.cu:6"] == [
        "+const auto early1 = cost[(i + n)];",
        "-out[next] = cost[next] * 2 + sqrtf(nodes[i].weight);",
        "+out[next] = early1 * 2 + sqrtf(nodes[i].weight);",
    ]


def test_a_load_leaves_its_loop(hoisted):
    assert hoisted["read `cost[7]` early, above walk.cu:12"][0] == "+const auto early1 = cost[7];"


def test_edits_of_one_expression_go_together(program):
    """A read-only load that is done early below a root that is approximate."""
    wanted = ("load of `nodes`", "root")
    chosen = [
        edit
        for kind in ("hoist", "invariant", "relax")
        for edit in every(program, kind)
        if program.describe(edit).sentence.count("walk.cu:8")
        and any(word in program.describe(edit).sentence for word in wanted)
        and edit.args[-1] in ("branch", "afn", edit.args[0])
    ]
    assert {edit.kind for edit in chosen} == {"hoist", "invariant", "relax"}
    form = program.source_form(Patch(tuple(chosen)), SOURCE, "walk.cu")
    assert not form.left
    assert "const auto early1 = __ldg(&nodes[i].weight);" in form.text
    assert "approximate_sqrt(early1)" in form.text
    assert form.text.count("sqrt.approx.f32") == 1


def test_all_that_is_early_compiles(program, tmp_path):
    path = tmp_path / "walk.cu"
    for edit in (*every(program, "hoist"), *every(program, "relax")):
        form = program.source_form(Patch((edit,)), SOURCE, "walk.cu")
        if form.words:
            path.write_text(form.text)
            assert "walk" in to_ptx(load(path).text)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("int j = i; j++; if (mask[i] > 0) out[i] = cost[j];", ""),
        ("if (mask[i] > 0) { int j = n; j += 3; out[i] = cost[j]; }", "j changes on the way"),
        ("if (n > 2) out[i] = 1; else if (mask[i] > 0) out[i] = cost[5];", "another condition"),
    ],
)
def test_what_cannot_be_written_above_is_left(line, why, tmp_path):
    text = SOURCE.replace(
        SOURCE[SOURCE.index("    if (mask") : SOURCE.index("    for")], line + "\n"
    )
    path = tmp_path / "walk.cu"
    path.write_text(text)
    program = load(path)
    loads = [edit for edit in every(program, "hoist") if "cost" in str(program.describe(edit))]
    left = [
        reason
        for edit in loads
        if "(walk.cu:6)" in program.describe(edit).sentence
        for reason in program.source_form(Patch((edit,)), text, "walk.cu").left
    ]
    assert any(why in reason for reason in left) if why else not left


def test_what_is_updated_is_read_early_and_written_in_place(tmp_path):
    old = SOURCE[SOURCE.index("    if (mask") : SOURCE.index("    for")]
    text = SOURCE.replace(old, "    if (mask[i] > 0)\n        sum[i] *= n + 1;\n")
    path = tmp_path / "walk.cu"
    path.write_text(text)
    program = load(path)
    results = {
        program.source_form(Patch((edit,)), text, "walk.cu").text
        for edit in every(program, "hoist")
    }
    new = "    const auto early1 = sum[i];\n    if (mask[i] > 0)\n        sum[i] = early1 * (n + 1);\n"
    assert SOURCE.replace(old, new) in results


@pytest.mark.parametrize(
    ("code", "mark", "start"),
    [
        ("a = 1; b = c ? d[|i] : 2;", "|", "b ="),
        ("{ if (x && y[|i]) z(); }", "|", "if"),
        ("f(); for (int k = |0; k < n; k++) g();", "|", "for"),
        ("f(); for (int k = 0; k < n|; k++) g();", "|", "for"),
        ("while (u) { v(); } w(|t);", "|", "w("),
    ],
)
def test_a_statement_begins_with_its_head(code, mark, start):
    at = code.index(mark)
    text = code.replace(mark, "")
    assert text[statement_start(text, at) :].startswith(start)


def test_changes_nest_and_lines_come_above():
    text = "  x = a[i] / 2.0;\n"
    changes = Changes(text)
    quotient, element, constant = (6, 16), (6, 10), (13, 16)
    changes.wrap(constant, "", "f")
    changes.wrap(element, "__ldg(&", ")")
    changes.compute_early(element, 2)
    changes.wrap(quotient, "__fdividef(", ")")
    changes.replace((10, 13), ", ")
    changes.above(2, "#pragma unroll")
    assert changes.result() == (
        "  const auto early1 = __ldg(&a[i]);\n  #pragma unroll\n  x = __fdividef(early1, 2.0f);\n"
    )
    with pytest.raises(Skipped, match="same place"):
        changes.replace((8, 14), "cut")


@given(st.data())
def test_insertions_keep_the_text_between_them(data):
    text = data.draw(st.text("ab\n", min_size=1))
    changes = Changes(text)
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(text)))
        changes.replace((at, at), data.draw(st.sampled_from(["<x>", "<y>"])))
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        try:
            changes.wrap((start, end), "<", ">")
        except Skipped:
            continue
    assert re.sub("<x>|<y>|<|>", "", changes.result()) == text


def test_a_division_of_doubles_goes_by_newtons_method(tmp_path):
    text = """#define N 3
__global__ void k(const double *a, double *out, double x)
{
    out[0] = (x + N) / a[1] + x / a[2];
}
"""
    path = tmp_path / "k.cu"
    path.write_text(text)
    program = load(path)
    both = Patch(tuple(every(program, "newton")))
    form = program.source_form(both, text, "k.cu")
    assert len(both) == 2
    assert not form.left
    assert "(x + N) * newton_reciprocal(a[1]) + x * newton_reciprocal(a[2]);" in form.text
    assert form.text.index("#define") < form.text.index("newton_reciprocal(double x)")
    path.write_text(form.text)
    changed, edited = to_ptx(load(path).text), to_ptx(program.apply(both).text)
    for ptx in (changed, edited):
        assert ptx.count("rcp.approx.ftz.f64") == 2
        assert "div.rn.f64" not in ptx


def test_a_load_behind_a_barrier_is_done_above_it(tmp_path):
    text = """__global__ void k(float *out, const float *in, int n)
{
    __shared__ float tile[64];
    int i = threadIdx.x;
    out[i] = 0;
    while (n-- > 0) {
        tile[i] = out[i];
        __syncthreads();
        int at = i ^ 1;
        out[i] += tile[at] + in[at];
    }
}
"""
    path = tmp_path / "k.cu"
    path.write_text(text)
    program = load(path)
    edits = [edit for edit in every(program, "hoist") if edit.args[1] == "block"]
    forms = [program.source_form(Patch((edit,)), text, "k.cu") for edit in edits]
    assert any("+        const auto early1 = in[(i ^ 1)];\n" in form.diff for form in forms)
    for form in forms:
        path.write_text(form.text)
        assert load(path).text, "it compiles"
