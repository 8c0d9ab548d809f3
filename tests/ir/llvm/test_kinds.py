"""Edit kinds that tell or restructure: any sequence of them is valid, and they do what they are for."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gevolve.evaluate.pool import Pool
from gevolve.ir.llvm import load
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.ir.llvm.edits import EDIT_KINDS
from gevolve.patch import PLAIN, Patch
from gevolve.workload.locate import locate

NAMES = ("papers/hotspot", "papers/backprop", "papers/transpose", "papers/srad")
KINDS = [kind for kind in EDIT_KINDS if kind not in ("copy", "move", "replace", "swap")]


@cache
def program_of(name):
    return locate(name).load()


@cache  # what is worth trying is found once for a program and a profile
def profile_of(program):
    """As if every block had run, and every kernel had been launched with blocks of 16 by 16."""
    blocks = dict.fromkeys(program._index.body, 1.0)
    sizes = {f"{f.name} ntid.{axis}=16": 1.0 for f in program._index.functions for axis in "xy"}
    return blocks | sizes


@settings(max_examples=60, deadline=None)  # the first draw of a kind finds all that is worth trying
@given(
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 99)), max_size=12),
)
def test_any_sequence_of_edits_is_valid(name, drawn):
    program = program_of(name)
    profile = profile_of(program)
    edits = [program.propose(kind, np.random.default_rng(seed), profile) for kind, seed in drawn]
    patch = Patch(tuple(edit for edit in edits if edit is not None))
    assert Patch.parse(str(patch)) == patch
    assert program.verify(program.apply(patch).text) is None


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from(KINDS), st.integers(0, 99), st.integers(2, 1 << 31))
def test_kinds_without_choices_are_drawn_with_one_seed_and_do_the_same_with_any(
    name, kind, seed, other
):
    program = program_of(name)
    edit = program.propose(kind, np.random.default_rng(seed), profile_of(program))
    if edit is None:
        return
    if EDIT_KINDS[kind].seeded:
        assert edit.seed != PLAIN
        return
    assert edit.seed == PLAIN
    one, two = (program.apply(Patch((replace(edit, seed=n),))).text for n in (PLAIN, other))
    assert _NAMED.sub("%x.", one) == _NAMED.sub("%x.", two)


_NAMED = re.compile(r"%x[0-9a-f]+\.")
"""New values are named by the seed."""

SOURCE = """
extern "C" __global__ void k(float *out, const float *in, int n, int m)
{
    __shared__ float mine[256];
    __shared__ float tile[32][32];
    int i = threadIdx.x;
    mine[i] = in[i];
    for (int k = 0; k < n; k++) {
        __syncthreads();
        mine[i] = mine[i] * 0.5f + in[k];
    }
    __syncthreads();
    tile[i / 32][i % 32] = mine[i];
    __syncthreads();
    out[i] = tile[i % 32][i / 32] + in[4 * i] + in[4 * i + 1] + in[4 * i + 2] + in[4 * i + 3];
    out[blockDim.x + i] = in[i % m];
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("kinds") / "k.cu"
    path.write_text(SOURCE)
    return load(path)


def all_of(program, *kinds):
    profile = profile_of(program)
    edits = (edit for kind in kinds for patch in program.sweep([kind], profile) for edit in patch)
    return program.apply(Patch(tuple(dict.fromkeys(edits)))).text


def test_an_array_that_a_thread_uses_for_itself_is_gone(program):
    assert to_ptx(program.text).count(".shared .align") == 2
    kept = to_ptx(all_of(program, "keep"))
    assert kept.count(".shared .align") == 1
    assert not re.search(r"(st|ld)\.local", kept)


def test_what_a_loop_loads_and_stores_is_loaded_once(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *out, const float *in, int n) {\n"
        "    for (int i = 0; i < n; i++) {\n"
        "        out[threadIdx.x] = out[threadIdx.x] * 0.5f + in[i];\n"
        "        __syncthreads();\n"
        "    }\n"
        "}\n"
    )
    one = load(path)
    assert one.sweep(["keep"], None) == [Patch.parse(f"keep {first_load(one)} loop #1")]
    loop = to_ptx(all_of(one, "keep")).split("bar.sync")[0].split("$L__BB0")[-1]
    assert loop.count("ld.global") == 1  # only that of `in`
    assert loop.count("st.global") == 1


def first_load(program):
    loads = re.findall(r"%(i\d+) = load float, ptr %(i\d+)", program.text)
    stored = re.findall(r"store float %i\d+, ptr %(i\d+)", program.text)
    return next(load for load, at in loads if at in stored)


def test_a_small_side_is_computed_on_every_path(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *out, const float *in) {\n"
        "    float a = in[threadIdx.x];\n"
        "    if (a > 3) a = a * in[threadIdx.x + 32] + sqrtf(a) / (a + 1);\n"
        "    out[threadIdx.x] = a;\n"
        "}\n"
    )
    one = load(path)
    assert "bra" in to_ptx(one.text)
    flat = to_ptx(all_of(one, "flatten"))
    assert "bra" not in flat
    assert "selp" in flat


def test_rows_are_longer(program):
    assert "[4096]" in to_ptx(program.text)
    assert "[4224]" in to_ptx(all_of(program, "pad"))


def test_neighbors_load_as_a_vector(program):
    assert ".v4" not in to_ptx(program.text)
    assert ".v4" in to_ptx(all_of(program, "align", "noalias"))


def test_the_block_size_is_a_number(program):
    assert "%ntid.x" in to_ptx(program.text)
    assert "%ntid.x" not in to_ptx(all_of(program, "blocksize"))


def test_a_block_size_that_no_launch_shows_is_not_proposed(program):
    assert not program.sweep(["blocksize"], None)
    varied = profile_of(program) | {"k ntid.x=64": 1.0}
    assert not program.sweep(["blocksize"], varied)


def test_a_division_by_a_power_of_two_is_none(program):
    assert "rem" in to_ptx(program.text)
    assert "rem" not in to_ptx(all_of(program, "divisor"))


def test_what_a_run_shows_of_its_launches():
    """The block sizes of all launches are in the profile, where the kind finds them."""
    workload = locate("papers/transpose")
    with Pool(workload, workers=1, device="sim") as evaluator:
        profile = evaluator.prepare().profile
    sizes = {name.split()[-1] for name in profile if " " in name}
    assert "ntid.x=16" in sizes


def test_facts_are_written_in_the_source(program):
    profile = profile_of(program)
    words, lines = set(), set()
    for kind in ("pad", "align", "blocksize"):
        for patch in program.sweep([kind], profile):
            form = program.source_form(patch, SOURCE, "k.cu")
            words.update(form.words)
            lines.update(line[1:].strip() for line in form.diff.splitlines() if line[0] == "+")
    assert words == {
        "make the rows of `tile` one element longer (k.cu:5)",
        "take `in` as aligned to 16 bytes (k.cu:2)",
        "take `out` as aligned to 16 bytes (k.cu:2)",
        "take `blockDim.x` of `k` as 16 (k.cu:16)",
    }
    assert "__shared__ float tile[32][32 + 1];" in lines
    assert "in = (const float *)__builtin_assume_aligned(in, 16);" in lines
    assert "out[16 + i] = in[i % m];" in lines


def test_a_comparison_of_doubles_as_one_of_integers(tmp_path):
    text = """__global__ void k(double *out, const double *in)
{
    out[0] = in[0] < in[1] ? 1 : in[2];
}
"""
    path = tmp_path / "k.cu"
    path.write_text(text)
    program = load(path)
    (patch,) = program.sweep(["bits"], None)
    form = program.source_form(patch, text, "k.cu")
    assert "__double_as_longlong(in[0]) < __double_as_longlong(in[1]) ? 1" in form.text
    path.write_text(form.text)
    as_source, as_edit = (to_ptx(one) for one in (load(path).text, program.apply(patch).text))
    assert "setp.lt.f64" not in as_source + as_edit
    assert "setp.lt.s64" in as_source
    assert "setp.lt.s64" in as_edit


def test_facts_about_divisions_are_written_in_the_source(tmp_path):
    text = """__global__ void k(int *out, int a, int b, long long c)
{
    out[0] = out[1] - a / b;
    if (a > 0)
        out[2] = c % a;
}
"""
    path = tmp_path / "k.cu"
    path.write_text(text)
    program = load(path)
    forms = [program.source_form(patch, text, "k.cu") for patch in program.sweep(["divisor"], None)]
    texts = {form.words[0]: form.text for form in forms if form.words}
    assert "out[1] - (int)((unsigned)(a) / (unsigned)(b));" in "".join(texts.values())
    assert "(int)((unsigned)(c) % (unsigned)(a))" not in "".join(texts.values())
    assert (
        "__builtin_assume((b & (b - 1)) == 0); out[0]"
        in texts["take `b` as a power of two (k.cu:3)"]
    )
    assert any("no statement of a block" in why for form in forms for why in form.left)
    edits = [patch[0] for patch in program.sweep(["divisor"], None)]
    of_first = Patch(tuple(edit for edit in edits if edit.args[0] == edits[0].args[0]))
    both = program.source_form(of_first, text, "k.cu")
    assert len(both.words) == 2
    path.write_text(both.text)
    before, after = to_ptx(program.text), to_ptx(load(path).text)
    assert "div.s32" in before
    assert "div." not in after


def test_steps_that_are_peeled_are_done_before_the_loop(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("""__global__ void k(float *out, const float *in, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) {
        sum += in[i * 7];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
""")
    program = load(path)
    patches = program.sweep(["peel"], None)
    assert [patch[0].args[1] for patch in patches] == ["1", "2"]
    loads = [to_ptx(program.apply(patch).text).count("ld.global") for patch in (Patch(), *patches)]
    assert loads == [1, 2, 3]
