; patch: hardware i2 exp i1 1.4426950408889634 #1; hardware i5 pow a1 i1 #2; hardware i6 sincos i1 i7 #3; hardware i8 pow i1 2.5 #4; hardware i9 tanh a2 1.0 #5; hardware i2 log i1 0.5 #1; hardware i2 exp i9 1.0 #6; hardware i6 sincos i1 i10 #7
; skipped 5: i2 is computed by the hardware already
; skipped 6: i9 is no float that is known at i2
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr noundef %a0, float %a1, double %a2, i1 %a3) {
b0:
  %i0 = getelementptr inbounds float, ptr %a0, i64 1
  %i1 = load float, ptr %i0, align 4
  %x1.i2.0 = fmul contract float %i1, 0x3FF7154760000000
  %x1.i2.1 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %x1.i2.0)
  %i2 = fadd float %i1, 1.000000e+00
  br i1 %a3, label %b1, label %b2
b1:
  br label %b2
b2:
  %i5 = phi float [ %x1.i2.1, %b0 ], [ 1.000000e+00, %b1 ]
  %x2.i5.0 = call float @llvm.nvvm.lg2.approx.ftz.f(float %a1)
  %x2.i5.1 = fmul contract float %x2.i5.0, %i1
  %x2.i5.2 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %x2.i5.1)
  %x3.i6.0 = fmul contract float %i1, 0x3FC45F3060000000
  %x3.i6.1 = call float @llvm.rint.f32(float %x3.i6.0)
  %x3.i6.2 = fmul contract float %x3.i6.1, 0xC019200000000000
  %x3.i6.3 = fadd contract float %i1, %x3.i6.2
  %x3.i6.4 = fmul contract float %x3.i6.1, 0xBF5FB54440000000
  %x3.i6.5 = fadd contract float %x3.i6.3, %x3.i6.4
  %x3.i6.6 = call float @llvm.nvvm.sin.approx.f(float %x3.i6.5)
  %x7.i6.0 = fmul contract float %i1, 0x3FC45F3060000000
  %x7.i6.1 = call float @llvm.rint.f32(float %x7.i6.0)
  %x7.i6.2 = fmul contract float %x7.i6.1, 0xC019200000000000
  %x7.i6.3 = fadd contract float %i1, %x7.i6.2
  %x7.i6.4 = fmul contract float %x7.i6.1, 0xBF5FB54440000000
  %x7.i6.5 = fadd contract float %x7.i6.3, %x7.i6.4
  %x7.i6.6 = call float @llvm.nvvm.sin.approx.f(float %x7.i6.5)
  %i6 = fmul float %i1, %x2.i5.2
  %x3.i7.0 = fmul contract float %i1, 0x3FC45F3060000000
  %x3.i7.1 = call float @llvm.rint.f32(float %x3.i7.0)
  %x3.i7.2 = fmul contract float %x3.i7.1, 0xC019200000000000
  %x3.i7.3 = fadd contract float %i1, %x3.i7.2
  %x3.i7.4 = fmul contract float %x3.i7.1, 0xBF5FB54440000000
  %x3.i7.5 = fadd contract float %x3.i7.3, %x3.i7.4
  %x3.i7.6 = call float @llvm.nvvm.cos.approx.f(float %x3.i7.5)
  %i7 = fmul float %x3.i6.6, %x3.i6.6
  %x4.i8.0 = call afn float @llvm.sqrt.f32(float %i1)
  %x4.i8.1 = fmul contract float %i1, %i1
  %x4.i8.2 = fmul contract float %x4.i8.0, %x4.i8.1
  %i8 = fmul float %x3.i6.6, %x3.i7.6
  %x5.i9.0 = fptrunc double %a2 to float
  %x5.i9.1 = fmul contract float %x5.i9.0, 0x4007154760000000
  %x5.i9.2 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %x5.i9.1)
  %x5.i9.3 = fadd contract float %x5.i9.2, 0x3FF0000000000000
  %x5.i9.4 = call float @llvm.nvvm.rcp.approx.ftz.f(float %x5.i9.3)
  %x5.i9.5 = fmul contract float %x5.i9.4, 0xC000000000000000
  %x5.i9.6 = fadd contract float %x5.i9.5, 0x3FF0000000000000
  %x5.i9.7 = fpext float %x5.i9.6 to double
  %i9 = fadd double %a2, %a2
  %x7.i10.0 = fmul contract float %i1, 0x3FC45F3060000000
  %x7.i10.1 = call float @llvm.rint.f32(float %x7.i10.0)
  %x7.i10.2 = fmul contract float %x7.i10.1, 0xC019200000000000
  %x7.i10.3 = fadd contract float %i1, %x7.i10.2
  %x7.i10.4 = fmul contract float %x7.i10.1, 0xBF5FB54440000000
  %x7.i10.5 = fadd contract float %x7.i10.3, %x7.i10.4
  %x7.i10.6 = call float @llvm.nvvm.cos.approx.f(float %x7.i10.5)
  %i10 = fptrunc double %x5.i9.7 to float
  %i11 = fadd float %x4.i8.2, %x7.i10.6
  store float %i11, ptr %a0, align 4
  store float %x2.i5.2, ptr %a0, align 4
  ret void
}

declare float @llvm.nvvm.ex2.approx.ftz.f32(float)
declare float @llvm.nvvm.lg2.approx.ftz.f(float)
declare float @llvm.rint.f32(float)
declare float @llvm.nvvm.sin.approx.f(float)
declare float @llvm.nvvm.cos.approx.f(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.nvvm.rcp.approx.ftz.f(float)
