// patch: split o1 2 #1; turn o1 #1; widen o1 2 #1; fill o1 8 #1; contract o1 0 20 #1
// skipped 2: the 8 channels of o1 are not filled up to 8
module {
  func.func public @main(%a0: tensor<2x8x8x3xf32>, %a1: tensor<3x3x3x24xf32>, %a2: tensor<24x5xf32>) -> tensor<2x8x8x5xf32> {
    %o0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x24xf32>) -> tensor<2x8x8x24xf32>
    %r0 = stablehlo.slice %a1 [0:3, 0:3, 0:3, 0:20] : (tensor<3x3x3x24xf32>) -> tensor<3x3x3x20xf32>
    %r1 = stablehlo.convolution(%a0, %r0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x20xf32>) -> tensor<2x8x8x20xf32>
    %r2 = stablehlo.slice %a2 [0:20, 0:5] : (tensor<24x5xf32>) -> tensor<20x5xf32>
    %o1 = stablehlo.dot_general %r1, %r2, contracting_dims = [3] x [0] : (tensor<2x8x8x20xf32>, tensor<20x5xf32>) -> tensor<2x8x8x5xf32>
    %r3 = stablehlo.reshape %r1 : (tensor<2x8x8x20xf32>) -> tensor<2x8x8x2x10xf32>
    %r4 = stablehlo.reshape %r2 : (tensor<20x5xf32>) -> tensor<2x10x5xf32>
    %r10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r11 = stablehlo.pad %r4, %r10, low = [0, 0, 0], high = [0, 6, 0], interior = [0, 0, 0] : (tensor<2x10x5xf32>, tensor<f32>) -> tensor<2x16x5xf32>
    %r12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r13 = stablehlo.pad %r3, %r12, low = [0, 0, 0, 0, 0], high = [0, 0, 0, 0, 6], interior = [0, 0, 0, 0, 0] : (tensor<2x8x8x2x10xf32>, tensor<f32>) -> tensor<2x8x8x2x16xf32>
    %r8 = stablehlo.dot_general %r11, %r13, batching_dims = [0] x [3], contracting_dims = [1] x [4] : (tensor<2x16x5xf32>, tensor<2x8x8x2x16xf32>) -> tensor<2x5x2x8x8xf32>
    %r9 = stablehlo.transpose %r8, dims = [0, 2, 3, 4, 1] : (tensor<2x5x2x8x8xf32>) -> tensor<2x2x8x8x5xf32>
    %r6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r7 = stablehlo.reduce(%r9 init: %r6) applies stablehlo.add across dimensions = [0] : (tensor<2x2x8x8x5xf32>, tensor<f32>) -> tensor<2x8x8x5xf32>
    return %r7 : tensor<2x8x8x5xf32>
  }
}
