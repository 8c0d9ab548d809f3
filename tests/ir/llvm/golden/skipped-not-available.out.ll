; patch: operand i1 0 i9 #0; operand i2 0 i4 #0
; skipped 0: i9 is gone or not of type i32
; skipped 1: i4 is gone or not of type i1
source_filename = "<string>"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [32 x float] undef, align 4

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #0

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #1

define ptx_kernel void @k(ptr %a0, ptr %a1, i32 %a2, float %a3) {
b0:
  %i0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i1 = icmp ult i32 %i0, %a2
  br i1 %i1, label %b1, label %b2
b1:
  %i3 = getelementptr float, ptr %a1, i32 %i0
  %i4 = load float, ptr %i3, align 4
  %i5 = fmul float %i4, %a3
  %i6 = fadd float %i5, 3.000000e+00
  %i7 = getelementptr float, ptr %a0, i32 %i0
  store float %i6, ptr %i7, align 4
  br label %b2
b2:
  %i10 = phi float [ 0.000000e+00, %b0 ], [ %i6, %b1 ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %i12 = getelementptr float, ptr addrspace(3) @tile, i32 %i0
  store float %i10, ptr addrspace(3) %i12, align 4
  ret void
}

attributes #0 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #1 = { convergent nocallback nounwind }
