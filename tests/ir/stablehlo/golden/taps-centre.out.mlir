// patch: taps o0 0 1 2 #1; taps o1 1 0 2 #1
module {
  func.func public @main(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x4x8xf32>, %a2: tensor<3x3x1x8xf32>, %a3: tensor<1x1x8x4xf32>) -> tensor<2x8x8x4xf32> {
    %r0 = stablehlo.slice %a1 [1:2, 0:3, 0:4, 0:8] : (tensor<3x3x4x8xf32>) -> tensor<1x3x4x8xf32>
    %o0 = stablehlo.convolution(%a0, %r0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<1x3x4x8xf32>) -> tensor<2x8x8x8xf32>
    %r1 = stablehlo.slice %a2 [0:3, 0:2, 0:1, 0:8] : (tensor<3x3x1x8xf32>) -> tensor<3x2x1x8xf32>
    %o1 = stablehlo.convolution(%o0, %r1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x8x8x8xf32>, tensor<3x2x1x8xf32>) -> tensor<2x8x8x8xf32>
    %o2 = stablehlo.convolution(%o1, %a3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x8xf32>, tensor<1x1x8x4xf32>) -> tensor<2x8x8x4xf32>
    return %o2 : tensor<2x8x8x4xf32>
  }
}
