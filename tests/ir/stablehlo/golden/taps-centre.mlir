// patch: taps o0 0 1 2 #1; taps o1 1 0 2 #1
func.func @main(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x8xf32>, %d: tensor<3x3x1x8xf32>, %v: tensor<1x1x8x4xf32>) -> tensor<2x8x8x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x8x8x8xf32>
  %1 = stablehlo.convolution(%0, %d) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x8x8x8xf32>, tensor<3x3x1x8xf32>) -> tensor<2x8x8x8xf32>
  %2 = stablehlo.convolution(%1, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x8xf32>, tensor<1x1x8x4xf32>) -> tensor<2x8x8x4xf32>
  return %2 : tensor<2x8x8x4xf32>
}
