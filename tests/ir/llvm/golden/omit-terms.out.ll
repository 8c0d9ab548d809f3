; patch: omit i4 1 term #1; omit i5 0 factor #1; omit i6 2 term #1; omit i7 0 term #1; omit i8 0 factor #1; omit i9 1 term #1
; skipped 4: i8 has no factor to leave out beside 0
; skipped 5: i9 has no term to leave out beside 1
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare float @llvm.fma.f32(float, float, float) #0

define ptx_kernel void @k(ptr %a0, ptr %a1, float %a2, float %a3) {
b0:
  %i0 = getelementptr inbounds i8, ptr %a0, i64 4
  %i1 = load float, ptr %a0, align 4
  %i2 = load float, ptr %i0, align 4
  %i3 = fmul float %i1, %i2
  %i7 = fmul contract float %a2, %a3
  %i8 = fmul float %i7, 2.000000e+00
  %i9 = fsub float %i8, %a3
  store float %i9, ptr %a1, align 4
  ret void
}

attributes #0 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
