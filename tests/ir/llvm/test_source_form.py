"""Edits written into the user's own source."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm import load
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.ir.llvm.source_form import scan
from gevolve.patch import Edit, Patch

SOURCE = r"""// A kernel with one of everything; 1.5 here is no constant.
#define RATE 0.3
#define TILE 64

__device__ float bent(float x) { return expf(x) / (1.0f + x * x); }

__global__ void all(const float *in, float *out, float *w[2], int n, float scale)
{
    __shared__ float tile[TILE];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += tile[(i + k) % TILE] / scale;
    if (n > 3)
        out[i] = 1;
    __syncthreads(); /* twice */
    out[i] = sum * 0.5 + RATE * bent(in[i + 1]);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "all.cu"
    path.write_text(SOURCE)
    return load(path)


def every(program, kind):
    """All edits of a kind that a sweep tries alone."""
    return [patch[0] for patch in program.sweep([kind], None) if len(patch) == 1]


def forms(program, kind):
    """Each form that edits of a kind take, as (words, lines taken out, lines put in)."""
    found = {}
    for edit in every(program, kind):
        form = program.source_form(Patch((edit,)), SOURCE, "all.cu")
        if not form.words:
            continue
        changed = [line for line in form.diff.splitlines()[2:] if line.startswith(("-", "+"))]
        found[form.words[0]] = [line[0] + line[1:].strip() for line in changed]
    return found


def test_a_pointer_becomes_restrict(program):
    found = forms(program, "noalias")
    assert found["declare `out` as `__restrict__` (all.cu:7)"] == [
        "-__global__ void all(const float *in, float *out, float *w[2], int n, float scale)",
        "+__global__ void all(const float *in, float *__restrict__ out, float *w[2], int n, float scale)",
    ]
    assert not any("`w`" in words for words in found), "an array of pointers is none"


def test_a_loop_gets_a_pragma(program):
    found = forms(program, "unroll")
    assert found["`#pragma unroll 4` at the loop of all.cu:14"] == ["+#pragma unroll 4"]
    assert found["`#pragma unroll` at the loop of all.cu:14"] == ["+#pragma unroll"]


def test_a_pragma_that_is_there_is_replaced(tmp_path):
    text = SOURCE.replace("    for (int k", "    #pragma unroll 3\n    for (int k")
    path = tmp_path / "all.cu"
    path.write_text(text)
    program = load(path)
    loops = [e for e in every(program, "unroll") if e.args[-1] == "8"]
    results = {program.source_form(Patch((e,)), text, "all.cu").text for e in loops}
    assert {re.findall("#pragma.*", result)[0] for result in results} == {"#pragma unroll 8"}


def test_an_element_is_read_only(program):
    found = forms(program, "invariant")
    assert found["read `in[i + 1]` by `__ldg` (all.cu:19)"] == [
        "-out[i] = sum * 0.5 + RATE * bent(in[i + 1]);",
        "+out[i] = sum * 0.5 + RATE * bent(__ldg(&in[i + 1]));",
    ]


def test_a_barrier_is_weakened_or_dropped(program):
    weak = forms(program, "syncwarp")
    assert weak["`__syncwarp()` instead of `__syncthreads()` (all.cu:18)"] == [
        "-__syncthreads(); /* twice */",
        "+__syncwarp(); /* twice */",
    ]
    gone = forms(program, "delete")
    assert gone["drop `__syncthreads();` (all.cu:12)"] == ["-__syncthreads();"]
    assert gone["drop `out[i] = 1;` (all.cu:17)"] == ["-out[i] = 1;", "+;"]


def test_a_division_is_approximate(program):
    found = forms(program, "relax")
    assert found["divide by `__fdividef` (all.cu:15)"] == [
        "-sum += tile[(i + k) % TILE] / scale;",
        "+sum += __fdividef(tile[(i + k) % TILE], scale);",
    ]
    assert found["divide by `__fdividef` (all.cu:5)"] == [
        "-__device__ float bent(float x) { return expf(x) / (1.0f + x * x); }",
        "+__device__ float bent(float x) { return __fdividef(expf(x), (1.0f + x * x)); }",
    ]


def test_constants_become_floats_where_they_are_defined_too(program):
    ((words, lines),) = forms(program, "float").items()
    assert words == "compute in single precision: `f` after the constants of all.cu:2, all.cu:19"
    assert lines == [
        "-#define RATE 0.3",
        "+#define RATE 0.3f",
        "-out[i] = sum * 0.5 + RATE * bent(in[i + 1]);",
        "+out[i] = sum * 0.5f + RATE * bent(in[i + 1]);",
    ]


def test_a_kernel_gets_a_limit_of_registers(program, tmp_path):
    found = forms(program, "registers")
    assert found["limit `all` to 32 registers by `__maxnreg__` (all.cu:7)"] == [
        "-__global__ void all(const float *in, float *out, float *w[2], int n, float scale)",
        "+__global__ void __maxnreg__(32) all(const float *in, float *out, float *w[2], int n, float scale)",
    ]
    path = tmp_path / "all.cu"
    text = SOURCE.replace("void all", "void __maxnreg__(TILE / 2) all")
    path.write_text(text)
    limited = load(path)
    assert ".maxnreg 32" in to_ptx(limited.text)
    assert str(tmp_path) not in limited.text, "where a source is, is no part of the program"
    form = limited.source_form(Patch((every(program, "registers")[0],)), text, "all.cu")
    assert "a limit already" in form.left[0]


BRANCHES = r"""
__global__ void k(float *out, const float *in, int n, int m, float low)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    if (x < low && m != 3)
        out[i + n] = 1;
    if (7 > m)
        out[i + 2 * n] = x;
    for (int k = 1; k < m; k++)
        out[i] += in[k * n + i];
    out[i + 3 * n] = m == 5 ? x : 2 * x;
}
"""


@pytest.fixture(scope="module")
def branches(tmp_path_factory):
    path = tmp_path_factory.mktemp("branches") / "k.cu"
    path.write_text(BRANCHES)
    return load(path)


def test_a_condition_is_fixed_the_way_that_the_edit_fixes_it(branches, tmp_path):
    """The source with the condition fixed compiles to no branch of that line, as the variant does."""
    words = set()
    for edit in every(branches, "operand"):
        form = branches.source_form(Patch((edit,)), BRANCHES, "k.cu")
        if not form.words:
            continue
        words.add(form.words[0])
        path = tmp_path / "k.cu"
        path.write_text(form.text)
        mine, theirs = (
            stores(text) for text in (branches.apply(Patch((edit,))).text, load(path).text)
        )
        assert mine == theirs, form.words
    assert {
        "take `i >= n` as true (k.cu:5)",
        "take `i >= n` as false (k.cu:5)",
        "take `m == 5` as true (k.cu:14)",
        "tell the compiler that `1 < m` (k.cu:12)",
    } <= words


def stores(text):
    """What is left of a program's memory accesses and comparisons."""
    ptx = to_ptx(text)
    return [len(re.findall(word, ptx)) for word in (r"st\.global", r"ld\.global", r"setp\.\S*eq")]


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("x++ == y", "more than decide"),
        ("x > y - 1 ? 1 : in[2]", "cannot be told|no plain"),
    ],
)
def test_a_condition_that_is_not_plain_is_left(condition, why, tmp_path):
    path = tmp_path / "k.cu"
    text = f"""__global__ void k(int *out, const int *in)
{{
    int x = in[0], y = in[1];
    if ({condition})
        out[0] = 1;
    out[1] = x;
}}
"""
    path.write_text(text)
    program = load(path)
    left = [program.source_form(Patch((e,)), text, "k.cu").left for e in every(program, "operand")]
    assert left
    assert any(re.search(why, one) for whys in left for one in whys), left


def test_a_condition_in_an_unrolled_loop_is_fixed_where_the_patch_fixes_all_of_it(tmp_path):
    path = tmp_path / "k.cu"
    text = """__global__ void k(float *out, const float *in, float low)
{
    for (int k = 0; k < 3; k++)
        if (in[k] < low)
            out[k] = in[k];
}
"""
    path.write_text(text)
    program = load(path)
    true = [edit for edit in every(program, "operand") if edit.args[2] == "=true"]
    assert len(true) == 3
    part, whole = (
        program.source_form(Patch(tuple(some)), text, "k.cu") for some in (true[:2], true)
    )
    assert not part.words
    assert set(whole.words) == {"take `in[k] < low` as true (k.cu:4)"}
    false = Edit(true[0].kind, (*true[0].args[:2], "=false"), true[0].seed)
    both = program.source_form(Patch((*true[1:], false)), text, "k.cu")
    assert "same place" in both.left[0]


def test_what_has_no_form_names_the_edit(program):
    edit = Edit("move", ("i1", "i0"), 1)
    form = program.source_form(Patch((edit,)), SOURCE, "all.cu")
    assert form.text == SOURCE
    assert re.search(r"move.*has no form", form.left[0])


def test_edits_of_one_place_do_not_both_fit(program):
    dropped, weak = every(program, "delete"), every(program, "syncwarp")
    patches = [Patch((one, other)) for one in dropped for other in weak]
    left = [program.source_form(patch, SOURCE, "all.cu").left for patch in patches]
    clashes = sum("same place" in why for whys in left for why in whys)
    assert clashes == 2


def test_a_diff_is_empty_for_no_edit(program):
    form = program.source_form(Patch(), SOURCE, "all.cu")
    assert (form.text, form.diff, form.words) == (SOURCE, "", ())


def test_what_is_no_code_is_blank():
    code = scan.blanked(SOURCE)
    assert len(code) == len(SOURCE)
    assert code.count("\n") == SOURCE.count("\n")
    assert "1.5" not in code
    assert "RATE 0.3" not in code
    assert "twice" not in code


NESTED = st.recursive(
    st.sampled_from(["a", "b + c", "1.0f", ""]),
    lambda inner: st.builds(
        lambda pair, parts: pair[0] + ", ".join(parts) + pair[1],
        st.sampled_from(["()", "[]", "{}"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=12,
)


@given(NESTED, st.sampled_from(["()", "[]", "{}"]))
def test_brackets_match_both_ways(inside, pair):
    text = f"x {pair[0]}{inside}{pair[1]} y"
    end = scan.closing(text, 2)
    assert text[end:] == f"{pair[1]} y"
    assert scan.opening(text, end) == 2


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("y = a / b;", "a", "b"),
        ("y = a * b[i] / c.d;", "a * b[i]", "c.d"),
        ("y = c + f(x, y) / -p->q[2] + d;", "f(x, y)", "-p->q[2]"),
        ("return (a + b) / (float)n;", "(a + b)", "(float)n"),
        ("y = 1e-3 * z / 2.5e-1f - q;", "1e-3 * z", "2.5e-1f"),
        ("f(a, x / y)", "x", "y"),
    ],
)
def test_operands_of_a_quotient(text, left, right):
    at = text.index("/")
    found = scan.operand_before(text, at), scan.operand_after(text, at + 1)
    assert [text[slice(*span)] for span in found] == [left, right]


@given(st.integers(0, len(SOURCE) - 1))
def test_a_statement_ends_with_its_semicolon(at):
    code = scan.blanked(SOURCE)
    try:
        start, end = scan.statement(code, at)
    except Skipped:
        return
    assert start <= end
    assert code[end - 1] == ";"
