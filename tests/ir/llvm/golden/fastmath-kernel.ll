; patch: fastmath b0 all #1; fastmath b1 ordered #1; fastmath b2 flush #1; fastmath b2 flush #2; fastmath i0 all #1; relax i5 reassoc #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare float @llvm.sqrt.f32(float)

define ptx_kernel void @one(ptr %in, ptr %out, float %a) local_unnamed_addr #0 {
  %x = load float, ptr %in, align 4
  %q = fdiv afn float %a, %x
  %r = tail call float @llvm.sqrt.f32(float %q)
  store float %r, ptr %out, align 4
  ret void
}

define ptx_kernel void @two(ptr %out, float %a, float %b) {
  %s = fadd float %a, %b
  %t = fadd float %s, %b
  %d = fdiv contract float %t, %b
  store float %d, ptr %out, align 4
  ret void
}

define ptx_kernel void @three(ptr %out, float %a, float %b) {
  %s = fmul float %a, %b
  store float %s, ptr %out, align 4
  ret void
}

attributes #0 = { nounwind }
