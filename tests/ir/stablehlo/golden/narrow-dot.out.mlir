// patch: narrow o1 bf16 #1; narrow o2 f16 #2
module {
  func.func public @main(%a0: tensor<2x3xf32>, %a1: tensor<3x4xf32>, %a2: tensor<4xi32>) -> tensor<2x4xf32> {
    %o0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %r0 = stablehlo.convert %a0 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    %r1 = stablehlo.convert %a1 : (tensor<3x4xf32>) -> tensor<3x4xbf16>
    %o1n = stablehlo.dot_general %r0, %r1, contracting_dims = [1] x [0] : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
    %r3 = stablehlo.convert %o1n : (tensor<2x4xbf16>) -> tensor<2x4xf32>
    %r4 = stablehlo.convert %r3 : (tensor<2x4xf32>) -> tensor<2x4xf16>
    %o2n = stablehlo.tanh %r4 : tensor<2x4xf16>
    %r6 = stablehlo.convert %o2n : (tensor<2x4xf16>) -> tensor<2x4xf32>
    %o3 = stablehlo.broadcast_in_dim %o0, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %o4 = stablehlo.multiply %r6, %o3 : tensor<2x4xf32>
    %o5 = stablehlo.exponential %a0 : tensor<2x3xf32>
    %o6 = stablehlo.add %o4, %r3 : tensor<2x4xf32>
    return %o6 : tensor<2x4xf32>
  }
}
