; patch: newton i1 #7
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr noundef %in, ptr noundef %out, double %over) {
  %v = load double, ptr %in, align 8
  %q = fdiv double %over, %v
  store double %q, ptr %out, align 8
  ret void
}
