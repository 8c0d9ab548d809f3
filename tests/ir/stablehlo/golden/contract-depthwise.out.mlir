// patch: contract o2 0 4 #1
module {
  func.func public @main(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x4x8xf32>, %a2: tensor<3x3x1x8xf32>, %a3: tensor<1x1x8x4xf32>) -> tensor<2x8x8x4xf32> {
    %o0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x8x8x8xf32>
    %o1 = stablehlo.convolution(%o0, %a2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x8x8x8xf32>, tensor<3x3x1x8xf32>) -> tensor<2x8x8x8xf32>
    %r0 = stablehlo.slice %a1 [0:3, 0:3, 0:4, 0:4] : (tensor<3x3x4x8xf32>) -> tensor<3x3x4x4xf32>
    %r1 = stablehlo.convolution(%a0, %r0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x8x8x4xf32>
    %r2 = stablehlo.slice %a2 [0:3, 0:3, 0:1, 0:4] : (tensor<3x3x1x8xf32>) -> tensor<3x3x1x4xf32>
    %r3 = stablehlo.convolution(%r1, %r2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x1x4xf32>) -> tensor<2x8x8x4xf32>
    %r4 = stablehlo.slice %a3 [0:1, 0:1, 0:4, 0:4] : (tensor<1x1x8x4xf32>) -> tensor<1x1x4x4xf32>
    %o2 = stablehlo.convolution(%r3, %r4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<1x1x4x4xf32>) -> tensor<2x8x8x4xf32>
    return %o2 : tensor<2x8x8x4xf32>
  }
}
