// patch: operand o9 1 o1 #1; operand o5 0 c2.0 #2
module {
  func.func public @main(%a0: tensor<4xf32>) -> tensor<4xf32> {
    %o0 = stablehlo.constant dense<0> : tensor<i32>
    %o1 = stablehlo.cosine %a0 : tensor<4xf32>
    %o2:2 = stablehlo.while(%b2.0 = %o0, %b2.1 = %o1) : tensor<i32>, tensor<4xf32>
    cond {
      %o3 = stablehlo.constant dense<7> : tensor<i32>
      %o4 = stablehlo.compare LT, %b2.0, %o3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %r0 = stablehlo.convert %b2.0 : (tensor<i32>) -> tensor<i1>
      stablehlo.return %r0 : tensor<i1>
    } do {
      %o6 = stablehlo.constant dense<1> : tensor<i32>
      %o7 = stablehlo.add %b2.0, %o6 : tensor<i32>
      %o8 = stablehlo.sine %b2.1 : tensor<4xf32>
      stablehlo.return %o7, %o1 : tensor<i32>, tensor<4xf32>
    }
    %o10 = stablehlo.negate %o2#1 : tensor<4xf32>
    return %o10 : tensor<4xf32>
  }
}
