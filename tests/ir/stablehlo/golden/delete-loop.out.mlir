// patch: delete o2 #2
module {
  func.func public @main(%a0: tensor<4xf32>) -> tensor<4xf32> {
    %o0 = stablehlo.constant dense<0> : tensor<i32>
    %o1 = stablehlo.cosine %a0 : tensor<4xf32>
    %r0 = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
    %o10 = stablehlo.negate %r0 : tensor<4xf32>
    return %o10 : tensor<4xf32>
  }
}
