// patch: contract o0 8 24 #1; part o2 1 8 24 #1
func.func @main(%x: tensor<4x32xf32>, %w: tensor<32x8xf32>) -> (tensor<4x8xf32>, tensor<32x8xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %d = stablehlo.tanh %y : tensor<4x8xf32>
  %s = stablehlo.dot_general %d, %x, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x32xf32>) -> tensor<8x32xf32>
  %t = stablehlo.transpose %s, dims = [1, 0] : (tensor<8x32xf32>) -> tensor<32x8xf32>
  return %y, %t : tensor<4x8xf32>, tensor<32x8xf32>
}
