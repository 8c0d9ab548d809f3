// patch: smooth o9 6 #1
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<7> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %rate = stablehlo.constant dense<0.1> : tensor<4xf32>
    %s = stablehlo.multiply %rate, %y : tensor<4xf32>
    %z = stablehlo.subtract %y, %s : tensor<4xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<4xf32>
  }
  return %1#1 : tensor<4xf32>
}
