; patch: perforate i11 2 scaled #1; perforate i7 2 plain #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %in, ptr %out, i32 %n, i32 %stop) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %p = phi ptr [ %in, %entry ], [ %after, %latch ]
  %sum = phi float [ 0.000000e+00, %entry ], [ %more, %latch ]
  %x = load float, ptr %p, align 4
  %more = fadd float %sum, %x
  %early = icmp eq i32 %i, %stop
  br i1 %early, label %end, label %latch

latch:
  %after = getelementptr inbounds i8, ptr %p, i64 4
  %next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop

end:
  store float %more, ptr %out, align 4
  ret void
}
