; patch: quotient i2 #1; quotient i3 #1; quotient i4 #1; quotient i5 #1; quotient i2 #1
; skipped 3: i5 is a udiv that this edit leaves alone
; skipped 4: i2 is gone
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %a0, ptr %a1, i32 %a2, i64 %a3) {
b0:
  %i0 = load i32, ptr %a0, align 4
  %i1 = load i64, ptr %a0, align 8
  %x1.i2.over = sitofp i32 %i0 to float
  %x1.i2.half = fadd float %x1.i2.over, 5.000000e-01
  %x1.i2.by = sitofp i32 %a2 to float
  %x1.i2.part = call float @llvm.nvvm.rcp.approx.ftz.f(float %x1.i2.by)
  %x1.i2.product = fmul float %x1.i2.half, %x1.i2.part
  %x1.i2.whole = fptosi float %x1.i2.product to i32
  %x1.i3.over = sitofp i32 %i0 to float
  %x1.i3.half = fadd float %x1.i3.over, 5.000000e-01
  %x1.i3.by = sitofp i32 %a2 to float
  %x1.i3.part = call float @llvm.nvvm.rcp.approx.ftz.f(float %x1.i3.by)
  %x1.i3.product = fmul float %x1.i3.half, %x1.i3.part
  %x1.i3.whole = fptosi float %x1.i3.product to i32
  %x1.i3.back = mul i32 %x1.i3.whole, %a2
  %i3 = sub i32 %i0, %x1.i3.back
  %x1.i4.over32 = trunc i64 %i1 to i32
  %x1.i4.over = sitofp i32 %x1.i4.over32 to float
  %x1.i4.half = fadd float %x1.i4.over, 5.000000e-01
  %x1.i4.by32 = trunc i64 %a3 to i32
  %x1.i4.by = sitofp i32 %x1.i4.by32 to float
  %x1.i4.part = call float @llvm.nvvm.rcp.approx.ftz.f(float %x1.i4.by)
  %x1.i4.product = fmul float %x1.i4.half, %x1.i4.part
  %x1.i4.whole = fptosi float %x1.i4.product to i32
  %x1.i4.whole64 = zext i32 %x1.i4.whole to i64
  %x1.i4.back = mul i64 %x1.i4.whole64, %a3
  %i4 = sub i64 %i1, %x1.i4.back
  %i5 = udiv i32 %i0, 7
  store i32 %x1.i2.whole, ptr %a1, align 4
  store i32 %i3, ptr %a1, align 4
  store i64 %i4, ptr %a1, align 8
  store i32 %i5, ptr %a1, align 4
  ret void
}

declare float @llvm.nvvm.rcp.approx.ftz.f(float)
