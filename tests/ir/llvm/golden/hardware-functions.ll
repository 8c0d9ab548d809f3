; patch: hardware i2 exp i1 1.4426950408889634 #1; hardware i5 pow a1 i1 #2; hardware i6 sincos i1 i7 #3; hardware i8 pow i1 2.5 #4; hardware i9 tanh a2 1.0 #5; hardware i2 log i1 0.5 #1; hardware i2 exp i9 1.0 #6; hardware i6 sincos i1 i10 #7
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr noundef %p, float %y, double %d, i1 %c) {
entry:
  %x.at = getelementptr inbounds float, ptr %p, i64 1
  %x = load float, ptr %x.at, align 4
  %exp = fadd float %x, 1.000000e+00
  br i1 %c, label %then, label %join

then:
  br label %join

join:
  %pow = phi float [ %exp, %entry ], [ 1.000000e+00, %then ]
  %sin = fmul float %x, %pow
  %cos = fmul float %sin, %sin
  %power = fmul float %sin, %cos
  %tanh = fadd double %d, %d
  %rounded = fptrunc double %tanh to float
  %sum = fadd float %power, %rounded
  store float %sum, ptr %p, align 4
  store float %pow, ptr %p, align 4
  ret void
}
