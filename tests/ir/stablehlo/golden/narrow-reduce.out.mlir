// patch: narrow o1 bf16 #1
module {
  func.func public @main(%a0: tensor<4x8xf32>) -> tensor<4xf32> {
    %o0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r0 = stablehlo.convert %a0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
    %r1 = stablehlo.convert %o0 : (tensor<f32>) -> tensor<bf16>
    %o1n = stablehlo.reduce(%r0 init: %r1) applies stablehlo.add across dimensions = [1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
    %r3 = stablehlo.convert %o1n : (tensor<4xbf16>) -> tensor<4xf32>
    %o2 = stablehlo.negate %r3 : tensor<4xf32>
    return %o2 : tensor<4xf32>
  }
}
