// patch: fill o0 4 #1; fill o1 2 #1; fill o1 4 #2; fill o2 4 #1
// skipped 1: the 24 channels of o1 are not filled up to 24
// skipped 2: the 24 channels of o1 are not filled up to 24
module {
  func.func public @main(%a0: tensor<2x8x8x3xf32>, %a1: tensor<3x3x3x24xf32>, %a2: tensor<24x5xf32>, %a3: tensor<5x7xf32>) -> tensor<2x8x8x7xf32> {
    %r0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r1 = stablehlo.pad %a0, %r0, low = [0, 0, 0, 0], high = [0, 0, 0, 1], interior = [0, 0, 0, 0] : (tensor<2x8x8x3xf32>, tensor<f32>) -> tensor<2x8x8x4xf32>
    %r2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r3 = stablehlo.pad %a1, %r2, low = [0, 0, 0, 0], high = [0, 0, 1, 0], interior = [0, 0, 0, 0] : (tensor<3x3x3x24xf32>, tensor<f32>) -> tensor<3x3x4x24xf32>
    %o0 = stablehlo.convolution(%r1, %r3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x24xf32>) -> tensor<2x8x8x24xf32>
    %o1 = stablehlo.dot_general %o0, %a2, contracting_dims = [3] x [0] : (tensor<2x8x8x24xf32>, tensor<24x5xf32>) -> tensor<2x8x8x5xf32>
    %r4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r5 = stablehlo.pad %o1, %r4, low = [0, 0, 0, 0], high = [0, 0, 0, 3], interior = [0, 0, 0, 0] : (tensor<2x8x8x5xf32>, tensor<f32>) -> tensor<2x8x8x8xf32>
    %r6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r7 = stablehlo.pad %a3, %r6, low = [0, 0], high = [3, 0], interior = [0, 0] : (tensor<5x7xf32>, tensor<f32>) -> tensor<8x7xf32>
    %o2 = stablehlo.dot_general %r5, %r7, contracting_dims = [3] x [0] : (tensor<2x8x8x8xf32>, tensor<8x7xf32>) -> tensor<2x8x8x7xf32>
    return %o2 : tensor<2x8x8x7xf32>
  }
}
