; patch: shorten i8 2 scaled #1; shorten i2 2 plain #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %in, ptr %out, i32 %n, double %start, i32 %stride) {
entry:
  br label %loop

loop:
  %i = phi i32 [ %n, %entry ], [ %next, %loop ]
  %sum = phi double [ %start, %entry ], [ %more, %loop ]
  %p = getelementptr inbounds double, ptr %in, i32 %i
  %x = load double, ptr %p, align 8
  %more = fsub double %sum, %x
  %next = add nsw i32 %i, -3
  %go = icmp sgt i32 %next, 0
  br i1 %go, label %loop, label %end

end:
  %half = fmul double %more, 5.000000e-01
  store double %half, ptr %out, align 8
  ret void
}
