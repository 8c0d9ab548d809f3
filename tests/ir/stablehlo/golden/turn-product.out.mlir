// patch: turn o1 #1; turn o0 #1
// skipped 1: o0 is a stablehlo.convolution that this edit leaves alone
module {
  func.func public @main(%a0: tensor<2x8x8x3xf32>, %a1: tensor<3x3x3x24xf32>, %a2: tensor<24x5xf32>) -> tensor<2x8x8x5xf32> {
    %o0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x24xf32>) -> tensor<2x8x8x24xf32>
    %o1 = stablehlo.dot_general %o0, %a2, contracting_dims = [3] x [0] : (tensor<2x8x8x24xf32>, tensor<24x5xf32>) -> tensor<2x8x8x5xf32>
    %r0 = stablehlo.dot_general %a2, %o0, contracting_dims = [0] x [3] : (tensor<24x5xf32>, tensor<2x8x8x24xf32>) -> tensor<5x2x8x8xf32>
    %r1 = stablehlo.transpose %r0, dims = [1, 2, 3, 0] : (tensor<5x2x8x8xf32>) -> tensor<2x8x8x5xf32>
    return %r1 : tensor<2x8x8x5xf32>
  }
}
