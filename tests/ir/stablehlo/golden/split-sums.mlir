// patch: split o1 4 #1; split o1 5 #1; split o1 24 #1; split o0 3 #1
func.func @main(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x24xf32>, %v: tensor<24x5xf32>) -> tensor<2x8x8x5xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x24xf32>) -> tensor<2x8x8x24xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [3] x [0] : (tensor<2x8x8x24xf32>, tensor<24x5xf32>) -> tensor<2x8x8x5xf32>
  return %1 : tensor<2x8x8x5xf32>
}
