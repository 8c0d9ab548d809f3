; patch: flatten i3 b1 #1; flatten i9 b3 #1; flatten i3 b2 #1; flatten i3 b1 #1
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k(ptr noundef %in, ptr noundef %out, i32 %n) {
entry:
  %a = load float, ptr %in, align 4
  %at = getelementptr inbounds float, ptr %in, i32 %n
  %positive = fcmp ogt float %a, 0.000000e+00
  br i1 %positive, label %then, label %join

then:
  %b = load float, ptr %at, align 4
  %sum = fadd float %a, %b
  br label %join

join:
  %chosen = phi float [ %sum, %then ], [ %a, %entry ]
  %large = fcmp ogt float %chosen, 8.000000e+00
  br i1 %large, label %write, label %end

write:
  store float %chosen, ptr %out, align 4
  br label %end

end:
  ret void
}
