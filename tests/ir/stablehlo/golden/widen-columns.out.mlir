// patch: widen o0 16 #1; widen o1 4 #1; widen o1 3 #1; widen o1 64 #1; widen o1 200 #1
// skipped 4: the 64 channels of o1 are not filled up to 200
module {
  func.func public @main(%a0: tensor<2x8x8x3xf32>, %a1: tensor<3x3x3x24xf32>, %a2: tensor<24x5xf32>) -> tensor<2x8x8x5xf32> {
    %o0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x24xf32>) -> tensor<2x8x8x24xf32>
    %r0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r1 = stablehlo.pad %a1, %r0, low = [0, 0, 0, 0], high = [0, 0, 0, 8], interior = [0, 0, 0, 0] : (tensor<3x3x3x24xf32>, tensor<f32>) -> tensor<3x3x3x32xf32>
    %r2 = stablehlo.convolution(%a0, %r1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x32xf32>) -> tensor<2x8x8x32xf32>
    %r3 = stablehlo.slice %r2 [0:2, 0:8, 0:8, 0:24] : (tensor<2x8x8x32xf32>) -> tensor<2x8x8x24xf32>
    %o1 = stablehlo.dot_general %r3, %a2, contracting_dims = [3] x [0] : (tensor<2x8x8x24xf32>, tensor<24x5xf32>) -> tensor<2x8x8x5xf32>
    %r4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r5 = stablehlo.pad %a2, %r4, low = [0, 0], high = [0, 3], interior = [0, 0] : (tensor<24x5xf32>, tensor<f32>) -> tensor<24x8xf32>
    %r8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r9 = stablehlo.pad %r5, %r8, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<24x8xf32>, tensor<f32>) -> tensor<24x9xf32>
    %r12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %r13 = stablehlo.pad %r9, %r12, low = [0, 0], high = [0, 55], interior = [0, 0] : (tensor<24x9xf32>, tensor<f32>) -> tensor<24x64xf32>
    %r14 = stablehlo.dot_general %r3, %r13, contracting_dims = [3] x [0] : (tensor<2x8x8x24xf32>, tensor<24x64xf32>) -> tensor<2x8x8x64xf32>
    %r15 = stablehlo.slice %r14 [0:2, 0:8, 0:8, 0:9] : (tensor<2x8x8x64xf32>) -> tensor<2x8x8x9xf32>
    %r11 = stablehlo.slice %r15 [0:2, 0:8, 0:8, 0:8] : (tensor<2x8x8x9xf32>) -> tensor<2x8x8x8xf32>
    %r7 = stablehlo.slice %r11 [0:2, 0:8, 0:8, 0:5] : (tensor<2x8x8x8xf32>) -> tensor<2x8x8x5xf32>
    return %r7 : tensor<2x8x8x5xf32>
  }
}
