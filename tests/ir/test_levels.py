"""Patches of two levels: edits of a graph, and of kernels by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.errors import PatchError
from gevolve.ir.levels import by_kernel, from_comments, in_kernel, in_llvm, of_kernel, to_comments
from gevolve.patch import Edit, Patch

WORDS = st.text("abcxyz0123456789_.=-", min_size=1, max_size=8)
EDITS = st.builds(
    Edit,
    st.sampled_from(["copy", "delete", "fast-math"]),
    st.lists(WORDS, max_size=3).map(tuple),
    st.integers(0, 1 << 32),
)


@given(WORDS, EDITS)
def test_an_edit_of_a_kernel_prints_and_reads_back(kernel, edit):
    (read,) = Patch.parse(str(in_kernel(kernel, edit)))
    assert of_kernel(read)
    assert not of_kernel(edit)
    assert in_llvm(read) == (kernel, edit)


@given(st.dictionaries(WORDS, st.lists(EDITS, min_size=1, max_size=3), max_size=3))
def test_comments_below_a_graph_hold_the_edits_of_its_kernels(edits):
    kernels = {name: Patch(tuple(some)) for name, some in edits.items()}
    text = f"module {{\n}}\n{to_comments(kernels)}// model.py:3 = o1 o2\n"
    assert from_comments(text) == kernels


def test_edits_of_a_kernel_keep_their_order_and_the_graph_its_own():
    patch = Patch.parse("kernel-copy k i1 i2 #1; delete o1 #1; kernel-delete k i3 #1")
    assert by_kernel(patch) == {"k": Patch.parse("copy i1 i2 #1; delete i3 #1")}


def test_an_edit_of_a_kernel_names_it():
    with pytest.raises(PatchError, match="the first is the name of a kernel"):
        by_kernel(Patch.parse("kernel-copy #1"))
