// patch: part o1 1 0 16 #1
module {
  func.func public @main(%a0: tensor<4x16xf32>, %a1: tensor<16x32xf32>, %a2: tensor<32x16xf32>) -> tensor<4x16xf32> {
    %o0 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
    %o1 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
    %r0 = stablehlo.slice %a1 [0:16, 0:16] : (tensor<16x32xf32>) -> tensor<16x16xf32>
    %r1 = stablehlo.dot_general %a0, %r0, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %r2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r3 = stablehlo.pad %r1, %r2, low = [0, 0], high = [0, 16], interior = [0, 0] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x32xf32>
    %o2 = stablehlo.maximum %r3, %o0 : tensor<4x32xf32>
    %o3 = stablehlo.dot_general %o2, %a2, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %o4 = stablehlo.add %a0, %o3 : tensor<4x16xf32>
    %o5 = stablehlo.tanh %o4 : tensor<4x16xf32>
    return %o5 : tensor<4x16xf32>
  }
}
