// patch: skip o3 o1 #1
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x32xf32>, %v: tensor<32x16xf32>) -> tensor<4x16xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<4x32xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
  %1 = stablehlo.maximum %0, %z : tensor<4x32xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
  %3 = stablehlo.add %x, %2 : tensor<4x16xf32>
  %4 = stablehlo.tanh %3 : tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}
