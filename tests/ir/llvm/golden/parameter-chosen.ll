; patch: parameter block 64 #1; parameter block 128 #2; parameter items -1 #3; parameter no-name 1 #4
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr noundef %p) {
  store float 1.000000e+00, ptr %p, align 4
  ret void
}
