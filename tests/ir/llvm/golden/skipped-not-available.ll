; patch: operand i1 0 i9 #0; operand i2 0 i4 #0
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [32 x float] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @k(ptr %out, ptr %in, i32 %n, float %scale) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp ult i32 %tid, %n
  br i1 %inside, label %work, label %done

work:
  %p = getelementptr float, ptr %in, i32 %tid
  %x = load float, ptr %p, align 4
  %y = fmul float %x, %scale
  %z = fadd float %y, 3.000000e+00
  %q = getelementptr float, ptr %out, i32 %tid
  store float %z, ptr %q, align 4
  br label %done

done:
  %last = phi float [ 0.000000e+00, %entry ], [ %z, %work ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %s = getelementptr float, ptr addrspace(3) @tile, i32 %tid
  store float %last, ptr addrspace(3) %s, align 4
  ret void
}
