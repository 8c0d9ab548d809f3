; patch: omit i4 1 term #1; omit i5 0 factor #1; omit i6 2 term #1; omit i7 0 term #1; omit i8 0 factor #1; omit i9 1 term #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare float @llvm.fma.f32(float, float, float)

define ptx_kernel void @k(ptr %in, ptr %out, float %a, float %b) {
  %p = getelementptr inbounds i8, ptr %in, i64 4
  %x = load float, ptr %in, align 4
  %y = load float, ptr %p, align 4
  %r = fmul float %x, %y
  %s = fadd float %r, %a
  %t = fdiv float %s, %b
  %u = call float @llvm.fma.f32(float %x, float %b, float %t)
  %v = call float @llvm.fma.f32(float %u, float %b, float %a)
  %w = fmul float %v, 2.000000e+00
  %z = fsub float %w, %b
  store float %z, ptr %out, align 4
  ret void
}
