// patch: contract o3 0 32 #1; contract o1 5 3 #1; contract o5 0 1 #1
// skipped 0: 0 to 32 is no part of the 32 of o3
// skipped 1: 5 to 3 is no part of the 16 of o1
// skipped 2: o5 is a stablehlo.tanh that this edit leaves alone
module {
  func.func public @main(%a0: tensor<4x16xf32>, %a1: tensor<16x32xf32>, %a2: tensor<32x16xf32>) -> tensor<4x16xf32> {
    %o0 = stablehlo.constant dense<0.000000e+00> : tensor<4x32xf32>
    %o1 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
    %o2 = stablehlo.maximum %o1, %o0 : tensor<4x32xf32>
    %o3 = stablehlo.dot_general %o2, %a2, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
    %o4 = stablehlo.add %a0, %o3 : tensor<4x16xf32>
    %o5 = stablehlo.tanh %o4 : tensor<4x16xf32>
    return %o5 : tensor<4x16xf32>
  }
}
