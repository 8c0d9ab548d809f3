// patch: contract o0 8 24 #1; part o2 1 8 24 #1
module {
  func.func public @main(%a0: tensor<4x32xf32>, %a1: tensor<32x8xf32>) -> (tensor<4x8xf32>, tensor<32x8xf32>) {
    %r0 = stablehlo.slice %a0 [0:4, 8:24] : (tensor<4x32xf32>) -> tensor<4x16xf32>
    %r1 = stablehlo.slice %a1 [8:24, 0:8] : (tensor<32x8xf32>) -> tensor<16x8xf32>
    %o0 = stablehlo.dot_general %r0, %r1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %o1 = stablehlo.tanh %o0 : tensor<4x8xf32>
    %o2 = stablehlo.dot_general %o1, %a0, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x32xf32>) -> tensor<8x32xf32>
    %r2 = stablehlo.slice %a0 [0:4, 8:24] : (tensor<4x32xf32>) -> tensor<4x16xf32>
    %r3 = stablehlo.dot_general %o1, %r2, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    %r4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r5 = stablehlo.pad %r3, %r4, low = [0, 8], high = [0, 8], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x32xf32>
    %o3 = stablehlo.transpose %r5, dims = [1, 0] : (tensor<8x32xf32>) -> tensor<32x8xf32>
    return %o0, %o3 : tensor<4x8xf32>, tensor<32x8xf32>
  }
}
