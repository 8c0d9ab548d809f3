// patch: carry o9 4 #1; decay o8 o1 b1.0 7 falls #1; carry o9 6 #1
module {
  func.func public @main(%a0: tensor<4xf32>) -> tensor<4xf32> {
    %o0 = stablehlo.constant dense<0> : tensor<i32>
    %r7 = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
    %r12 = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
    %o1:4 = stablehlo.while(%b1.0 = %o0, %b1.1 = %a0, %b1.2 = %r7, %b1.3 = %r12) : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %o2 = stablehlo.constant dense<7> : tensor<i32>
      %o3 = stablehlo.compare LT, %b1.0, %o2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %o3 : tensor<i1>
    } do {
      %o5 = stablehlo.constant dense<1> : tensor<i32>
      %o6 = stablehlo.add %b1.0, %o5 : tensor<i32>
      %o7 = stablehlo.constant dense<1.000000e-01> : tensor<4xf32>
      %o8 = stablehlo.multiply %o7, %b1.1 : tensor<4xf32>
      %r0 = stablehlo.convert %b1.0 : (tensor<i32>) -> tensor<f32>
      %r1 = stablehlo.constant dense<-0.128571406> : tensor<f32>
      %r2 = stablehlo.multiply %r0, %r1 : tensor<f32>
      %r3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %r4 = stablehlo.add %r2, %r3 : tensor<f32>
      %r5 = stablehlo.broadcast_in_dim %r4, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %r8 = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
      %r9 = stablehlo.multiply %b1.2, %r8 : tensor<4xf32>
      %r10 = stablehlo.add %r9, %o8 : tensor<4xf32>
      %r13 = stablehlo.constant dense<7.500000e-01> : tensor<4xf32>
      %r14 = stablehlo.multiply %b1.3, %r13 : tensor<4xf32>
      %r15 = stablehlo.add %r14, %r10 : tensor<4xf32>
      %r16 = stablehlo.multiply %r15, %r5 : tensor<4xf32>
      %o9 = stablehlo.subtract %b1.1, %r16 : tensor<4xf32>
      stablehlo.return %o6, %o9, %r10, %r15 : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
    return %o1#1 : tensor<4xf32>
  }
}
