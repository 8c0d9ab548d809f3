// patch: contract o1 0 8 #1
module {
  func.func public @main(%a0: tensor<4x16xf32>, %a1: tensor<16x32xf32>, %a2: tensor<32x16xf32>) -> tensor<4x16xf32> {
    %o0 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
    %r0 = stablehlo.slice %a0 [0:4, 0:8] : (tensor<4x16xf32>) -> tensor<4x8xf32>
    %r1 = stablehlo.slice %a1 [0:8, 0:32] : (tensor<16x32xf32>) -> tensor<8x32xf32>
    %o1 = stablehlo.dot_general %r0, %r1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
    %o2 = stablehlo.maximum %o1, %o0 : tensor<4x32xf32>
    %o3 = stablehlo.dot_general %o2, %a2, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %o4 = stablehlo.add %a0, %o3 : tensor<4x16xf32>
    %o5 = stablehlo.tanh %o4 : tensor<4x16xf32>
    return %o5 : tensor<4x16xf32>
  }
}
