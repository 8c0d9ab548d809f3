; patch: shorten i12 8 scaled #1; shorten i12 8 plain #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {
entry:
  %some = icmp sgt i32 %n, 3
  br i1 %some, label %loop, label %end

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.000000e+00, %entry ], [ %more, %loop ]
  %p = getelementptr inbounds float, ptr %in, i32 %i
  %x = load float, ptr %p, align 4
  %y = fadd float %sum, %x
  %q = getelementptr inbounds i8, ptr %p, i64 4
  %z = load float, ptr %q, align 4
  %more = fadd float %y, %z
  %next = add nuw nsw i32 %i, 2
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop

end:
  %all = phi float [ 0.000000e+00, %entry ], [ %more, %loop ]
  store float %all, ptr %out, align 4
  ret void
}
