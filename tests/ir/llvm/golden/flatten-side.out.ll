; patch: flatten i3 b1 #1; flatten i9 b3 #1; flatten i3 b2 #1; flatten i3 b1 #1
; skipped 1: b3 does more than compute
; skipped 2: b2 is reached from elsewhere, too
; skipped 3: b1 is no small side
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr noundef %a0, ptr noundef %a1, i32 %a2) {
b0:
  %i0 = load float, ptr %a0, align 4
  %i1 = getelementptr inbounds float, ptr %a0, i32 %a2
  %i2 = fcmp ogt float %i0, 0.000000e+00
  %i4 = load float, ptr %i1, align 4
  %i5 = fadd float %i0, %i4
  br i1 %i2, label %b1, label %b2
b1:
  br label %b2
b2:
  %i7 = phi float [ %i5, %b1 ], [ %i0, %b0 ]
  %i8 = fcmp ogt float %i7, 8.000000e+00
  br i1 %i8, label %b3, label %b4
b3:
  store float %i7, ptr %a1, align 4
  br label %b4
b4:
  ret void
}

