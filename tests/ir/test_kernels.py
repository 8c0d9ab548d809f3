"""The kernels of a model as a program: edits are drawn by how hot a kernel is, and told of in words."""

import numpy as np
import pytest

from gevolve.errors import PatchError
from gevolve.ir.kernels import Kernels, check
from gevolve.ir.levels import by_kernel
from gevolve.ir.llvm import LlvmProgram
from gevolve.patch import Patch

KERNEL = """
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @NAME(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %1 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %2 = zext i32 %1 to i64
  %3 = getelementptr float, ptr addrspace(1) %x, i64 %2
  %4 = load float, ptr addrspace(1) %3, align 4
  %5 = fadd float %4, 1.000000e+00
  %6 = getelementptr float, ptr addrspace(1) %y, i64 %2
  store float %5, ptr addrspace(1) %6, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
"""
TEXTS = {name: KERNEL.replace("NAME", name) for name in ("hot", "cool")}


@pytest.fixture(scope="module")
def kernels():
    return Kernels(TEXTS, {"cool": 0.1, "hot": 0.9})


def test_kinds_are_those_of_llvm_and_to_compile_once_more(kernels):
    assert kernels.kinds[0] == "kernel-recompile"
    assert {kind.removeprefix("kernel-") for kind in kernels.kinds[1:]} == {*LlvmProgram.edit_kinds}
    assert {*kernels.paper_kinds, *kernels.loose_kinds} <= {*kernels.kinds}


def test_hot_kernels_are_drawn_more_often_and_the_same_ones_for_a_seed(kernels):
    def drawn():
        rng = np.random.default_rng(1)
        return [kernels.propose("kernel-delete", rng, None) for _ in range(100)]

    edits = drawn()
    assert edits == drawn()
    names = [edit.args[0] for edit in edits]
    assert 75 < names.count("hot") < 100


def test_what_is_drawn_applies_to_its_kernel(kernels):
    rng = np.random.default_rng(2)
    for kind in kernels.kinds:
        edit = kernels.propose(kind, rng, None)
        if edit is None:
            continue
        check(Patch((edit,)))
        for name, patch in by_kernel(Patch((edit,))).items():
            if kind != "kernel-recompile":
                program = LlvmProgram(TEXTS[name])
                assert not program.apply(patch).skipped, edit


def test_a_sweep_begins_with_each_kernel_compiled_once_more_and_goes_by_turns(kernels):
    patches = kernels.sweep(kernels.kinds, None)
    assert [str(patch) for patch in patches[:2]] == [
        "kernel-recompile hot #1",
        "kernel-recompile cool #1",
    ]
    names = [patch[0].args[0] for patch in patches[2:6]]
    assert names == ["hot", "cool", "hot", "cool"]
    assert not any("recompile" in str(one) for one in kernels.sweep(("kernel-delete",), None))


def test_an_edit_is_told_of_with_its_kernel(kernels):
    (add,) = Patch.parse("kernel-delete hot i4 #1")
    assert kernels.describe(add).sentence.startswith("in the kernel hot: ")
    assert "fadd" in kernels.describe(add).sentence
    (again,) = Patch.parse("kernel-recompile hot #1")
    assert kernels.describe(again).sentence == "the kernel hot is optimized once more, by LLVM"
    (other,) = Patch.parse("kernel-delete gone i4 #1")
    assert kernels.describe(other).sentence == "in the kernel gone: delete i4 #1"


def test_what_is_no_edit_of_llvm_is_refused():
    for text, why in {
        "kernel-nonsense hot i4 #1": "kernels have no edit kind 'nonsense'",
        "kernel-delete hot #1": "delete has 0 fields",
        "kernel-recompile hot i4 #1": "has one field",
    }.items():
        with pytest.raises(PatchError, match=why):
            check(Patch.parse(text))
