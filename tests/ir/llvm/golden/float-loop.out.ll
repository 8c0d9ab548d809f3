; patch: float i5 all #1
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %a0, ptr %a1, i32 %a2, double %a3) {
b0:
  %x1.i2.b0 = fptrunc double %a3 to float
  br label %b1
b1:
  %i1 = phi i32 [ 0, %b0 ], [ %i8, %b1 ]
  %x1.i2.result = phi float [ %x1.i2.b0, %b0 ], [ %x1.i2.b1, %b1 ]
  %i2 = fpext float %x1.i2.result to double
  %i3 = getelementptr inbounds double, ptr %a0, i32 %i1
  %i4 = load double, ptr %i3, align 8
  %x1.i5.0 = fptrunc double %i2 to float
  %x1.i5.1 = fptrunc double %i4 to float
  %x1.i5.result = fadd float %x1.i5.0, %x1.i5.1
  %i5 = fpext float %x1.i5.result to double
  %x1.i6.0 = fptrunc double %i5 to float
  %i6 = fcmp ogt float %x1.i6.0, 0x4024000000000000
  %x1.i7.2 = fptrunc double %i5 to float
  %x1.i7.result = select i1 %i6, float 0x4024000000000000, float %x1.i7.2
  %i7 = fpext float %x1.i7.result to double
  %i8 = add nuw nsw i32 %i1, 1
  %i9 = icmp eq i32 %i8, %a2
  %x1.i2.b1 = fptrunc double %i7 to float
  br i1 %i9, label %b2, label %b1
b2:
  store double %i7, ptr %a1, align 8
  ret void
}

