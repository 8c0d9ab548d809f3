; patch: nearby i4 i2 #1; nearby i2 i4 #1
; skipped 1: i4 is gone
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %a0, ptr %a1, i32 %a2) {
b0:
  %i0 = sext i32 %a2 to i64
  %i1 = getelementptr inbounds float, ptr %a0, i64 %i0
  %i2 = load float, ptr %i1, align 4
  %i3 = getelementptr inbounds i8, ptr %i1, i64 4
  %i5 = fadd float %i2, %i2
  store float %i5, ptr %a1, align 4
  ret void
}

