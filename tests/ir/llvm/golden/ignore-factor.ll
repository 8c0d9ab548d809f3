; patch: ignore a2 factor #1; ignore i2 term #1; ignore i4 factor #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %in, ptr %out, float %scale) {
  %p = getelementptr inbounds i8, ptr %in, i64 4
  %x = load float, ptr %in, align 4
  %m = load float, ptr %p, align 4
  %y = fmul float %x, %scale
  %z = fsub float %y, %m
  %u = fmul float %scale, %z
  %v = fadd float %m, %u
  %w = fdiv float %v, %scale
  store float %w, ptr %out, align 4
  ret void
}
