; patch: relax i10 afn #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare double @llvm.sqrt.f64(double)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @k(ptr noundef readonly captures(none) %in, ptr noundef %out, float %x, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds float, ptr %in, i32 %i
  %v = load float, ptr %at, align 4
  %again = load float, ptr %at, align 4
  %wide = fpext float %v to double
  %half = fmul contract double %wide, 5.000000e-01
  %root = tail call double @llvm.sqrt.f64(double %half)
  %test = fcmp ogt double %root, 0x3FB999999999999A
  %narrow = fptrunc double %root to float
  %part = fdiv contract float %narrow, %again
  %picked = select i1 %test, float %part, float %x
  %to = getelementptr inbounds float, ptr %out, i32 %i
  store float %picked, ptr %to, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:
  ret void
}
