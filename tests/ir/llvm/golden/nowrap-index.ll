; patch: nowrap i2 signed #1; nowrap i2 signed #1; nowrap i3 signed #1; nowrap i3 unsigned #1; nowrap i5 signed #1; nowrap i6 signed #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @k(ptr noundef %out, i32 %n) {
entry:
  %x = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, %n
  %i = add i32 %first, %x
  %wide = sext i32 %i to i64
  %twice = shl nuw i32 %i, 1
  %other = xor i32 %twice, %x
  %at = getelementptr inbounds i32, ptr %out, i64 %wide
  store i32 %other, ptr %at, align 4
  ret void
}
