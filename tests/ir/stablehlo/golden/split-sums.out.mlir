// patch: split o1 4 #1; split o1 5 #1; split o1 24 #1; split o0 3 #1
// skipped 1: the 6 terms of o1 are not split into 5
// skipped 2: the 6 terms of o1 are not split into 24
// skipped 3: o0 is a stablehlo.convolution that this edit leaves alone
module {
  func.func public @main(%a0: tensor<2x8x8x3xf32>, %a1: tensor<3x3x3x24xf32>, %a2: tensor<24x5xf32>) -> tensor<2x8x8x5xf32> {
    %o0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x24xf32>) -> tensor<2x8x8x24xf32>
    %o1 = stablehlo.dot_general %o0, %a2, contracting_dims = [3] x [0] : (tensor<2x8x8x24xf32>, tensor<24x5xf32>) -> tensor<2x8x8x5xf32>
    %r0 = stablehlo.reshape %o0 : (tensor<2x8x8x24xf32>) -> tensor<2x8x8x4x6xf32>
    %r1 = stablehlo.reshape %a2 : (tensor<24x5xf32>) -> tensor<4x6x5xf32>
    %r2 = stablehlo.dot_general %r0, %r1, batching_dims = [3] x [0], contracting_dims = [4] x [1] : (tensor<2x8x8x4x6xf32>, tensor<4x6x5xf32>) -> tensor<4x2x8x8x5xf32>
    %r3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r4 = stablehlo.reduce(%r2 init: %r3) applies stablehlo.add across dimensions = [0] : (tensor<4x2x8x8x5xf32>, tensor<f32>) -> tensor<2x8x8x5xf32>
    return %r4 : tensor<2x8x8x5xf32>
  }
}
