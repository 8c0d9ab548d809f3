; patch: operand i4 1 a2 #0
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %out, i32 %n, i32 %m) {
entry:
  %a = add i32 %n, 7
  switch i32 %n, label %other [
    i32 0, label %join
    i32 1, label %join
    i32 2, label %other
  ]

other:
  %b = mul i32 %m, 5
  br label %join

join:
  %v = phi i32 [ %a, %entry ], [ %a, %entry ], [ %b, %other ]
  store i32 %v, ptr %out, align 4
  ret void
}
