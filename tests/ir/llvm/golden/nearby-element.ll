; patch: nearby i4 i2 #1; nearby i2 i4 #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {
  %here = sext i32 %n to i64
  %p = getelementptr inbounds float, ptr %in, i64 %here
  %x = load float, ptr %p, align 4
  %q = getelementptr inbounds i8, ptr %p, i64 4
  %y = load float, ptr %q, align 4
  %s = fadd float %x, %y
  store float %s, ptr %out, align 4
  ret void
}
