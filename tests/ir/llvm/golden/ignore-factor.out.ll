; patch: ignore a2 factor #1; ignore i2 term #1; ignore i4 factor #1
; skipped 2: i4 is used for more than as a factor
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %a0, ptr %a1, float %a2) {
b0:
  %i0 = getelementptr inbounds i8, ptr %a0, i64 4
  %i1 = load float, ptr %a0, align 4
  %i2 = load float, ptr %i0, align 4
  store float %i1, ptr %a1, align 4
  ret void
}

