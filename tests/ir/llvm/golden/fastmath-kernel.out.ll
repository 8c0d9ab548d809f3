; patch: fastmath b0 all #1; fastmath b1 ordered #1; fastmath b2 flush #1; fastmath b2 flush #2; fastmath i0 all #1; relax i5 reassoc #1
; skipped 3: the kernel counts such numbers as zero already
; skipped 4: i0 is no kernel
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare float @llvm.sqrt.f32(float) #0

define ptx_kernel void @one(ptr %a0, ptr %a1, float %a2) local_unnamed_addr "denormal-fp-math-f32"="preserve-sign,preserve-sign" #1 {
b0:
  %i0 = load float, ptr %a0, align 4
  %i1 = fdiv fast float %a2, %i0
  %i2 = tail call fast float @llvm.sqrt.f32(float %i1)
  store float %i2, ptr %a1, align 4
  ret void
}

define ptx_kernel void @two(ptr %a3, float %a4, float %a5) "denormal-fp-math-f32"="preserve-sign,preserve-sign" {
b1:
  %i5 = fadd fast float %a4, %a5
  %i6 = fadd nnan ninf nsz arcp contract afn float %i5, %a5
  %i7 = fdiv nnan ninf nsz arcp contract afn float %i6, %a5
  store float %i7, ptr %a3, align 4
  ret void
}

define ptx_kernel void @three(ptr %a6, float %a7, float %a8) "denormal-fp-math-f32"="preserve-sign,preserve-sign" {
b2:
  %i10 = fmul float %a7, %a8
  store float %i10, ptr %a6, align 4
  ret void
}

attributes #0 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #1 = { nounwind }
