"""What is left of a variant in the source, where not all of it is right there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.export.source import right_part
from gevolve.ir.llvm import load
from gevolve.patch import Patch

SOURCE = """
extern "C" __global__ void k(const float *a, const float *b, const float *c, const float *d, float *out)
{
    out[threadIdx.x] = a[threadIdx.x] + b[0] * c[0] / d[0];
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "k.cu"
    path.write_text(SOURCE)
    return load(path)


@given(wrong=st.sets(st.sampled_from("abcd"), min_size=1))
def test_all_edits_that_are_right_stay_and_the_others_are_named(program, wrong):
    edits = [patch[0] for patch in program.sweep(["noalias"], None) if len(patch) == 1]
    patch = Patch(tuple(edits))
    form = program.source_form(patch, SOURCE, "k.cu")
    tried = []

    def passes(text):
        tried.append(text)
        return not any(f"__restrict__ {name}" in text for name in wrong)

    found = right_part(program, patch, form, passes)
    for name in (*"abcd", "out"):
        assert (f"__restrict__ {name}" in found.text) == (name not in wrong)
    assert len(found.left) == len(wrong)
    assert len(tried) == len(set(tried)), "nothing is judged twice"
    assert form.text not in tried, "all of it was wrong"
