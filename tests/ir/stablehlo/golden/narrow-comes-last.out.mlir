// patch: narrow o2 bf16 #1; operand o2 0 =1 #2; delete o4 #4
module {
  func.func public @main(%a0: tensor<2x3xf32>, %a1: tensor<3x4xf32>, %a2: tensor<4xi32>) -> tensor<2x4xf32> {
    %o0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %o1 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %r0 = stablehlo.constant dense<1.000000e+00> : tensor<2x4xf32>
    %r1 = stablehlo.convert %r0 : (tensor<2x4xf32>) -> tensor<2x4xbf16>
    %o2n = stablehlo.tanh %r1 : tensor<2x4xbf16>
    %r3 = stablehlo.convert %o2n : (tensor<2x4xbf16>) -> tensor<2x4xf32>
    %o3 = stablehlo.broadcast_in_dim %o0, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %o5 = stablehlo.exponential %a0 : tensor<2x3xf32>
    %o6 = stablehlo.add %r3, %o1 : tensor<2x4xf32>
    return %o6 : tensor<2x4xf32>
  }
}
