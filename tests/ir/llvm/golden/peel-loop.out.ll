; patch: peel i28 1 #1; peel i28 2 #1; peel i10 1 #1; peel i28 9 #1
; skipped 2: i10 is a br that this edit leaves alone
; skipped 3: 9 steps cannot be taken out
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal unnamed_addr addrspace(3) global [16 x [16 x float]] undef, align 4
@row = internal unnamed_addr addrspace(3) global [64 x float] undef, align 4

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #0

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #0

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #1

define ptx_kernel void @k(ptr noundef %a0, ptr noundef %a1, double %a2, i32 %a3) !prof !1 {
b0:
  %i0 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i1 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %i2 = sdiv i32 %i0, %a3
  %i3 = zext i32 %i0 to i64
  %i4 = getelementptr inbounds nuw [16 x float], ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 %i3
  %i5 = getelementptr inbounds nuw float, ptr %i4, i64 3
  %i6 = getelementptr inbounds nuw i8, ptr %i5, i64 60
  %i7 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @row to ptr), i64 %i3
  %i8 = load float, ptr %a0, align 4
  store float %i8, ptr %i7, align 4
  br label %b1
b1:
  %i11 = phi i32 [ 0, %b0 ], [ %i26, %b3 ]
  %i12 = getelementptr inbounds float, ptr %a0, i32 %a3
  %i13 = load float, ptr %i12, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %i15 = load float, ptr %i6, align 4
  %i16 = fpext float %i15 to double
  %i17 = fcmp contract olt double %i16, %a2
  br i1 %i17, label %b2, label %b3
b2:
  %i19 = fadd float %i13, %i15
  store float %i19, ptr %i7, align 4
  store float %i19, ptr getelementptr inbounds nuw (i8, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 132), align 4
  br label %b3
b3:
  %i23 = load float, ptr %i7, align 4
  %i24 = getelementptr inbounds float, ptr %a1, i32 %i2
  store float %i23, ptr %i24, align 4
  %i26 = add nuw nsw i32 %i11, %i1
  %i27 = icmp slt i32 %i26, %a3
  br i1 %i27, label %b1, label %b4, !prof !2
b4:
  ret void
}

attributes #0 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #1 = { convergent nocallback nounwind }
!0 = !{!"branch_weights", i32 1, i32 1000}
!1 = !{!"function_entry_count", i64 1000}
!2 = !{!"branch_weights", i32 1001, i32 1000}
