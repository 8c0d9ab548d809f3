; patch: quotient i2 #1; quotient i3 #1; quotient i4 #1; quotient i5 #1; quotient i2 #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %in, ptr %out, i32 %w, i64 %v) {
  %i = load i32, ptr %in, align 4
  %j = load i64, ptr %in, align 8
  %q = sdiv i32 %i, %w
  %r = srem i32 %i, %w
  %s = urem i64 %j, %v
  %t = udiv i32 %i, 7
  store i32 %q, ptr %out, align 4
  store i32 %r, ptr %out, align 4
  store i64 %s, ptr %out, align 8
  store i32 %t, ptr %out, align 4
  ret void
}
