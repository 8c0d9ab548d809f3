// patch: replace o2 o5 #1
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %n: tensor<4xi32>) -> tensor<2x4xf32> {
  %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.tanh %0 : tensor<2x4xf32>
  %2 = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<2x4xf32>
  %4 = stablehlo.exponential %x : tensor<2x3xf32>
  %5 = stablehlo.add %3, %0 : tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}
