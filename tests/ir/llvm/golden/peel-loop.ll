; patch: peel i28 1 #1; peel i28 2 #1; peel i10 1 #1; peel i28 9 #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal unnamed_addr addrspace(3) global [16 x [16 x float]] undef, align 4
@row = internal unnamed_addr addrspace(3) global [64 x float] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @k(ptr noundef %in, ptr noundef %out, double %limit, i32 %n) {
entry:
  %x = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %y = sdiv i32 %x, %n
  %wide = zext i32 %x to i64
  %line = getelementptr inbounds nuw [16 x float], ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 %wide
  %cell = getelementptr inbounds nuw float, ptr %line, i64 3
  %below = getelementptr inbounds nuw i8, ptr %cell, i64 60
  %mine = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @row to ptr), i64 %wide
  %first = load float, ptr %in, align 4
  store float %first, ptr %mine, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  %at = getelementptr inbounds float, ptr %in, i32 %n
  %fixed = load float, ptr %at, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %other = load float, ptr %below, align 4
  %double = fpext float %other to double
  %less = fcmp contract olt double %double, %limit
  br i1 %less, label %then, label %join

then:
  %sum = fadd float %fixed, %other
  store float %sum, ptr %mine, align 4
  store float %sum, ptr getelementptr inbounds nuw (i8, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 132), align 4
  br label %join

join:
  %again = load float, ptr %mine, align 4
  %to = getelementptr inbounds float, ptr %out, i32 %y
  store float %again, ptr %to, align 4
  %next = add nuw nsw i32 %i, %size
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:
  ret void
}
