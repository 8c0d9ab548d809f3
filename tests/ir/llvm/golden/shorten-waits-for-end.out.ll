; patch: shorten i12 8 scaled #1; shorten i12 8 plain #1
; skipped 1: the loop of i12 ends early already
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %a0, ptr %a1, i32 %a2) {
b0:
  %i0 = icmp sgt i32 %a2, 3
  %x1.i12.way = sub i32 %a2, 0
  %x1.i12.less = ashr i32 %x1.i12.way, 3
  %x1.i12.whole = and i32 %x1.i12.less, -2
  %x1.i12.end = sub i32 %a2, %x1.i12.whole
  %x1.i12.left = sub i32 %x1.i12.way, %x1.i12.whole
  %x1.i12.some = icmp sgt i32 %x1.i12.left, 0
  %x1.i12.over = sitofp i32 %x1.i12.way to float
  %x1.i12.under = sitofp i32 %x1.i12.left to float
  %x1.i12.ratio = fdiv afn float %x1.i12.over, %x1.i12.under
  %x1.i12.factor = select i1 %x1.i12.some, float %x1.i12.ratio, float 0x3FF0000000000000
  br i1 %i0, label %b1, label %b2
b1:
  %i2 = phi i32 [ 0, %b0 ], [ %i10, %b1 ]
  %i3 = phi float [ 0.000000e+00, %b0 ], [ %i9, %b1 ]
  %i4 = getelementptr inbounds float, ptr %a0, i32 %i2
  %i5 = load float, ptr %i4, align 4
  %i6 = fadd float %i3, %i5
  %i7 = getelementptr inbounds i8, ptr %i4, i64 4
  %i8 = load float, ptr %i7, align 4
  %i9 = fadd float %i6, %i8
  %i10 = add nuw nsw i32 %i2, 2
  %i11 = icmp eq i32 %i10, %x1.i12.end
  br i1 %i11, label %b2, label %b1
b2:
  %x1.i12.i13.0.factor = phi float [ 0x3FF0000000000000, %b0 ], [ %x1.i12.factor, %b1 ]
  %i13 = phi float [ 0.000000e+00, %b0 ], [ %i9, %b1 ]
  %x1.i12.i13.0.more = fmul contract float %i13, %x1.i12.i13.0.factor
  store float %x1.i12.i13.0.more, ptr %a1, align 4
  ret void
}

