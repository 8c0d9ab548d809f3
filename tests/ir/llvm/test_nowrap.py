"""Numbers that do not wrap round: what is watched while a program is profiled, and what is proposed then."""

import numpy as np
import pytest

from gevolve.device.sim import Sim
from gevolve.ir.llvm import load
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.patch import Patch

SOURCE = r"""
__global__ void k(const float *in, float *out, unsigned seed, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mixed = i * 2654435761u + seed;
    int back = n - (int)i;
    out[i] = in[(mixed >> 20) % 64] + in[back + 1];
    if (mixed % 2)
        out[mixed * 4 % 128] = in[mixed + 5];
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "k.cu"
    path.write_text(SOURCE.replace("in[mixed + 5]", "in[(mixed + 5) % 64]"))
    return load(path)


@pytest.fixture(scope="module")
def profile(program):
    """What was counted in a launch of 64 threads."""
    device = Sim()
    gpu = device.open(device.build(program.instrumented()))
    gpu.launch("k", 2, 32, gpu.array(np.zeros(64, np.float32)), gpu.zeros(128), 7, 62)
    marks = gpu.usage().marks
    gpu.close()
    return {name: float(times) for name, times in marks.items()}


def proposed(program, profile):
    edits = [patch[0] for patch in program.sweep(["nowrap"], profile) if len(patch) == 1]
    return {edit.args for edit in edits}


def test_what_wraps_is_counted_and_not_proposed(program, profile):
    wrapped = {name for name, times in profile.items() if name.startswith("wrapped.") and times}
    assert wrapped, "the hash wraps"
    before, after = proposed(program, None), proposed(program, profile)
    assert after < before
    assert {f"wrapped.{value}.{how}" for value, how in before - after} == wrapped


def test_all_with_a_sign_are_tried_at_once(program):
    (lot,) = (patch for patch in program.sweep(["nowrap"], None) if len(patch) > 1)
    assert {edit.args[1] for edit in lot} == {"signed"}


def test_what_does_not_wrap_is_proposed(program, profile):
    told = {program.describe(patch[0]).sentence for patch in program.sweep(["nowrap"], profile)}
    assert "take it that the product (k.cu:4) does not wrap round" in told


def test_the_instrumented_program_computes_the_same(program):
    device = Sim()
    results = []
    for text in (program.text, program.instrumented()):
        gpu = device.open(device.build(text))
        out = gpu.zeros(128)
        gpu.launch("k", 2, 32, gpu.array(np.arange(64, dtype=np.float32)), out, 7, 62)
        results.append(out.get())
        gpu.close()
    assert np.array_equal(*results)


def test_a_test_that_the_fact_answers_is_gone(tmp_path):
    text = """__global__ void k(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 0)
        return;
    out[i] = in[i];
}
"""
    path = tmp_path / "k.cu"
    path.write_text(text)
    program = load(path)
    edits = {patch[0] for patch in program.sweep(["nowrap"], None) if patch[0].args[1] == "signed"}
    plain, known = (to_ptx(program.apply(Patch(some)).text) for some in ((), tuple(edits)))
    assert "setp" in plain
    assert "setp" not in known


def test_it_has_a_form_in_the_source(tmp_path):
    text = """__global__ void k(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i * n;
    out[i] = in[row];
}
"""
    path = tmp_path / "k.cu"
    path.write_text(text)
    program = load(path)
    edits = [patch[0] for patch in program.sweep(["nowrap"], None) if len(patch) == 1]
    forms = [program.source_form(Patch((edit,)), text, "k.cu") for edit in edits]
    lines = {
        line[1:].strip() for form in forms for line in form.diff.splitlines()[2:] if line[0] == "+"
    }
    assert {
        "int i = (int)(blockIdx.x) * (int)(blockDim.x) + threadIdx.x;",
        "int i = (int)(blockIdx.x * blockDim.x) + (int)(threadIdx.x);",
        "__builtin_assume(n >= 0);",
    } <= lines
    for form in forms:
        path.write_text(form.text)
        assert load(path).text, "it compiles"
