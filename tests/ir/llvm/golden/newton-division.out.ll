; patch: newton i1 #7
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr noundef %a0, ptr noundef %a1, double %a2) {
b0:
  %i0 = load double, ptr %a0, align 8
  %x7.i1.minus = fneg double %i0
  %x7.i1.start = call double @llvm.nvvm.rcp.approx.ftz.d(double %i0)
  %x7.i1.error0 = call double @llvm.fma.f64(double %x7.i1.minus, double %x7.i1.start, double 1.000000e+00)
  %x7.i1.step0 = call double @llvm.fma.f64(double %x7.i1.start, double %x7.i1.error0, double %x7.i1.start)
  %x7.i1.error1 = call double @llvm.fma.f64(double %x7.i1.minus, double %x7.i1.step0, double 1.000000e+00)
  %x7.i1.step1 = call double @llvm.fma.f64(double %x7.i1.step0, double %x7.i1.error1, double %x7.i1.step0)
  %i1 = fmul contract double %a2, %x7.i1.step1
  store double %i1, ptr %a1, align 8
  ret void
}

declare double @llvm.nvvm.rcp.approx.ftz.d(double)
declare double @llvm.fma.f64(double, double, double)
