; patch: float i5 all #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %in, ptr %out, i32 %n, double %a) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi double [ %a, %entry ], [ %most, %loop ]
  %p = getelementptr inbounds double, ptr %in, i32 %i
  %x = load double, ptr %p, align 8
  %more = fadd double %sum, %x
  %large = fcmp ogt double %more, 1.000000e+01
  %most = select i1 %large, double 1.000000e+01, double %more
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop

end:
  store double %most, ptr %out, align 8
  ret void
}
