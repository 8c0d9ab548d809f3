// patch: carry o8 4 #1
module {
  func.func public @main(%a0: tensor<4xf32>) -> tensor<4xf32> {
    %o0 = stablehlo.constant dense<0> : tensor<i32>
    %r0 = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
    %o1:3 = stablehlo.while(%b1.0 = %o0, %b1.1 = %a0, %b1.2 = %r0) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %o2 = stablehlo.constant dense<7> : tensor<i32>
      %o3 = stablehlo.compare LT, %b1.0, %o2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %o3 : tensor<i1>
    } do {
      %o5 = stablehlo.constant dense<1> : tensor<i32>
      %o6 = stablehlo.add %b1.0, %o5 : tensor<i32>
      %o7 = stablehlo.sine %b1.1 : tensor<4xf32>
      %r1 = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
      %r2 = stablehlo.multiply %b1.2, %r1 : tensor<4xf32>
      %r3 = stablehlo.add %r2, %o7 : tensor<4xf32>
      %o8 = stablehlo.subtract %b1.1, %r3 : tensor<4xf32>
      stablehlo.return %o6, %o8, %r3 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    }
    return %o1#1 : tensor<4xf32>
  }
}
