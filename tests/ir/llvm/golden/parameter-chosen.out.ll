; patch: parameter block 64 #1; parameter block 128 #2; parameter items -1 #3; parameter no-name 1 #4
; skipped 1: block is chosen already
; skipped 3: no-name is no name
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr noundef %a0) {
b0:
  store float 1.000000e+00, ptr %a0, align 4
  ret void
}

!gevolve.chosen.block.64 = !{}
!gevolve.chosen.items.-1 = !{}
