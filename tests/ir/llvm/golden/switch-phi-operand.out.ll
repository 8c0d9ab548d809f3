; patch: operand i4 1 a2 #0
source_filename = "<string>"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr %a0, i32 %a1, i32 %a2) {
b0:
  %i0 = add i32 %a1, 7
  switch i32 %a1, label %b1 [ i32 0, label %b2 i32 1, label %b2 i32 2, label %b1 ]
b1:
  %i2 = mul i32 %a2, 5
  br label %b2
b2:
  %i4 = phi i32 [ %a2, %b0 ], [ %a2, %b0 ], [ %i2, %b1 ]
  store i32 %i4, ptr %a0, align 4
  ret void
}

