; patch: relax i10 afn #1
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare double @llvm.sqrt.f64(double) #0

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #1

define ptx_kernel void @k(ptr noundef readonly captures(none) %a0, ptr noundef %a1, float %a2, i32 %a3) {
b0:
  br label %b1
b1:
  %i1 = phi i32 [ 0, %b0 ], [ %i15, %b1 ]
  %i2 = getelementptr inbounds float, ptr %a0, i32 %i1
  %i3 = load float, ptr %i2, align 4
  %i4 = load float, ptr %i2, align 4
  %i5 = fpext float %i3 to double
  %i6 = fmul contract double %i5, 5.000000e-01
  %i7 = tail call double @llvm.sqrt.f64(double %i6)
  %i8 = fcmp ogt double %i7, 1.000000e-01
  %i9 = fptrunc double %i7 to float
  %i10 = fdiv contract afn float %i9, %i4
  %i11 = select i1 %i8, float %i10, float %a2
  %i12 = getelementptr inbounds float, ptr %a1, i32 %i1
  store float %i11, ptr %i12, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %i15 = add nuw nsw i32 %i1, 1
  %i16 = icmp slt i32 %i15, %a3
  br i1 %i16, label %b1, label %b2
b2:
  ret void
}

attributes #0 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #1 = { convergent nocallback nounwind }
