// patch: copy o10 o8 #5
module {
  func.func public @main(%a0: tensor<4xf32>) -> tensor<4xf32> {
    %o0 = stablehlo.constant dense<0> : tensor<i32>
    %o1 = stablehlo.cosine %a0 : tensor<4xf32>
    %o2:2 = stablehlo.while(%b2.0 = %o0, %b2.1 = %o1) : tensor<i32>, tensor<4xf32>
    cond {
      %o3 = stablehlo.constant dense<7> : tensor<i32>
      %o4 = stablehlo.compare LT, %b2.0, %o3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %o4 : tensor<i1>
    } do {
      %o6 = stablehlo.constant dense<1> : tensor<i32>
      %o7 = stablehlo.add %b2.0, %o6 : tensor<i32>
      %r0 = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
      %x5 = stablehlo.negate %r0 : tensor<4xf32>
      %o8 = stablehlo.sine %b2.1 : tensor<4xf32>
      %r1 = stablehlo.convert %x5 : (tensor<4xf32>) -> tensor<4xi32>
      %r2 = stablehlo.slice %r1 [1:2] : (tensor<4xi32>) -> tensor<1xi32>
      %r3 = stablehlo.reshape %r2 : (tensor<1xi32>) -> tensor<i32>
      stablehlo.return %r3, %o8 : tensor<i32>, tensor<4xf32>
    }
    %o10 = stablehlo.negate %o2#1 : tensor<4xf32>
    return %o10 : tensor<4xf32>
  }
}
