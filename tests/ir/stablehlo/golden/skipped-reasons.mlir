// patch: delete o1 #1; delete o1 #2; delete o11 #3; move o2 o1 #4; operand o7 5 a0 #5; operand o8 0 o10 #6; scale o0 1 #7; narrow o8 f64 #8
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.cosine %x : tensor<4xf32>
  %1:2 = stablehlo.while(%i = %c, %y = %0) : tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<7> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.sine %y : tensor<4xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<4xf32>
  }
  %2 = stablehlo.negate %1#1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
