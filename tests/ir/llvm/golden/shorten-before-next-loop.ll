; patch: shorten i9 4 scaled #1; shorten i16 4 plain #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %in, ptr %out, i32 %n, i32 %stride) {
entry:
  %none = icmp slt i32 %n, 1
  br i1 %none, label %second, label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.000000e+00, %entry ], [ %more, %loop ]
  %p = getelementptr inbounds float, ptr %in, i32 %i
  %x = load float, ptr %p, align 4
  %more = fadd float %sum, %x
  %next = add i32 %i, %stride
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %after

after:
  br label %second

second:
  %from = phi float [ 1.000000e+00, %entry ], [ %more, %after ], [ %most, %second ]
  %j = phi i64 [ 0, %entry ], [ 0, %after ], [ %then, %second ]
  %most = fmul float %from, 5.000000e-01
  %then = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %then, 100
  br i1 %done, label %end, label %second

end:
  store float %most, ptr %out, align 4
  ret void
}
