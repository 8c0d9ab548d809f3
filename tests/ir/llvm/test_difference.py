"""What an edit did, in plain words: found in the optimised IR, whatever kind of edit it was."""

import llvmlite.binding as llvm
import pytest

from gevolve.ir.llvm.program import LlvmProgram
from gevolve.patch import Patch

KERNEL = """
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x float] undef, align 4
@other = internal addrspace(3) global [64 x float] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.sqrt.f32(float)

define ptx_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in, i32 %n, float %scale) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr float, ptr addrspace(1) %in, i32 %tid
  %x = load float, ptr addrspace(1) %p, align 4
  %far = getelementptr float, ptr addrspace(1) %p, i32 64
  %y = load float, ptr addrspace(1) %far, align 4
  %s = getelementptr float, ptr addrspace(3) @tile, i32 %tid
  store float %x, ptr addrspace(3) %s, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %flip = xor i32 %tid, 1
  %t = getelementptr float, ptr addrspace(3) @tile, i32 %flip
  %z = load float, ptr addrspace(3) %t, align 4
  %inside = icmp ult i32 %tid, %n
  br i1 %inside, label %loop, label %done

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ %z, %entry ], [ %more, %loop ]
  %at = getelementptr float, ptr addrspace(1) %in, i32 %i
  %v = load volatile float, ptr addrspace(1) %at, align 4
  %more = fadd float %sum, %v
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %n
  br i1 %again, label %loop, label %done

done:
  %last = phi float [ %y, %entry ], [ %more, %loop ]
  %root = call float @llvm.sqrt.f32(float %last)
  %part = fdiv float %root, %scale
  %wide = fpext float %part to double
  %w = fmul double %wide, 3.0
  %w2 = fadd double %w, %wide
  %narrow = fptrunc double %w2 to float
  %o = getelementptr float, ptr addrspace(1) %out, i32 %tid
  store float %narrow, ptr addrspace(1) %o, align 4
  %count = atomicrmw add ptr addrspace(1) %out, i32 1 seq_cst
  ret void
}
"""
# Its instructions are i0, i1 … in this order.
PROGRAM = LlvmProgram(str(llvm.parse_assembly(KERNEL)))


def change(patch):
    return PROGRAM.difference(Patch(), Patch.parse(patch))


@pytest.mark.parametrize(
    ("patch", "theme"),
    [
        ("delete i7 #1", "barrier removed"),
        ("delete i30 #1", "atomic removed"),
        ("delete i6 #1", "store removed"),
        ("operand i20 0 =false #1", "loop removed"),
        ("operand i19 0 i13 #1", "loop bound changed"),
        ("operand i12 0 =true #1", "branch fixed"),
        ("operand i21 0 =0.000000e+00 #1", "load removed"),
        ("operand i23 0 i21 #1", "function call removed"),
        ("operand i24 0 i22 #1", "division removed"),
        ("operand i26 0 i24 #1", "value reused"),
        ("operand i26 0 =3.000000e+00 #1", "value fixed"),
        ("operand i7 0 i11 #1; operand i7 0 =1 #1", "barrier changed"),
        ("copy i7 i8 #1", "work added"),
        ("move i4 i3 #1", "order changed"),
    ],
)
def test_recognisable_classes(patch, theme):
    found = change(patch)
    assert found is not None
    assert found.theme == theme, found


def test_what_changes_nothing_has_no_theme():
    assert change("") is None
    assert PROGRAM.difference(Patch.parse("delete i3 #1"), Patch.parse("delete i3 #1")) is None


def test_the_sentence_names_the_line(tmp_path):
    from gevolve.ir.llvm import load

    source = tmp_path / "k.cu"
    source.write_text(
        "__global__ void k(float *x) {\n"
        "    __shared__ float tile[64];\n"
        "    tile[threadIdx.x] = x[threadIdx.x];\n"
        "    __syncthreads();\n"
        "    x[threadIdx.x] = tile[63 - threadIdx.x];\n"
        "}\n"
    )
    program = load(source)
    barrier = next(id_ for id_, i in program._index.instr.items() if "barrier" in i.text)
    found = program.difference(Patch(), Patch.parse(f"delete {barrier} #1"))
    assert (found.theme, found.line) == ("barrier removed", "k.cu:4")
    assert found.sentence == "removes the barrier at k.cu:4"
