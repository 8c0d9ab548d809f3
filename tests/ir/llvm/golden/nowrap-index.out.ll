; patch: nowrap i2 signed #1; nowrap i2 signed #1; nowrap i3 signed #1; nowrap i3 unsigned #1; nowrap i5 signed #1; nowrap i6 signed #1
; skipped 1: i2 is known not to wrap already
; skipped 5: i6 is a xor that this edit leaves alone
source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #0

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #0

define ptx_kernel void @k(ptr noundef %a0, i32 %a1) {
b0:
  %i0 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i1 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %i2 = mul nsw i32 %i1, %a1
  %i3 = add nuw nsw i32 %i2, %i0
  %i4 = sext i32 %i3 to i64
  %i5 = shl nuw nsw i32 %i3, 1
  %i6 = xor i32 %i5, %i0
  %i7 = getelementptr inbounds i32, ptr %a0, i64 %i4
  store i32 %i6, ptr %i7, align 4
  ret void
}

attributes #0 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
