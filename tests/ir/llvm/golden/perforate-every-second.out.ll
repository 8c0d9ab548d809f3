; patch: perforate i11 2 scaled #1; perforate i7 2 plain #1
; skipped 1: i7 closes no loop that counts
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %a0, ptr %a1, i32 %a2, i32 %a3) {
b0:
  br label %b1
b1:
  %i1 = phi i32 [ 0, %b0 ], [ %i9, %b2 ]
  %i2 = phi ptr [ %a0, %b0 ], [ %i8, %b2 ]
  %i3 = phi float [ 0.000000e+00, %b0 ], [ %i5, %b2 ]
  %i4 = load float, ptr %i2, align 4
  %x1.i11.sum0 = fmul float %i4, 0x4000000000000000
  %i5 = fadd float %i3, %x1.i11.sum0
  %i6 = icmp sge i32 %i1, %a3
  br i1 %i6, label %b3, label %b2
b2:
  %i8 = getelementptr inbounds i8, ptr %i2, i64 8
  %i9 = add i32 %i1, 2
  %i10 = icmp sge i32 %i9, %a2
  br i1 %i10, label %b3, label %b1
b3:
  store float %i5, ptr %a1, align 4
  ret void
}

