// patch: delete o1 #1; delete o1 #2; delete o11 #3; move o2 o1 #4; operand o7 5 a0 #5; operand o8 0 o10 #6; scale o0 1 #7; narrow o8 f64 #8
// skipped 1: o1 is gone
// skipped 2: o11 is a func.return that this edit leaves alone
// skipped 3: o2 is a stablehlo.while that this edit leaves alone
// skipped 4: o7 has no operand 5
// skipped 5: o10 is not available at o8
// skipped 6: o0 stays the same, or no longer fits its type
// skipped 7: f64 is not narrower than the f32 of o8
module {
  func.func public @main(%a0: tensor<4xf32>) -> tensor<4xf32> {
    %o0 = stablehlo.constant dense<0> : tensor<i32>
    %o2:2 = stablehlo.while(%b2.0 = %o0, %b2.1 = %a0) : tensor<i32>, tensor<4xf32>
    cond {
      %o3 = stablehlo.constant dense<7> : tensor<i32>
      %o4 = stablehlo.compare LT, %b2.0, %o3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %o4 : tensor<i1>
    } do {
      %o6 = stablehlo.constant dense<1> : tensor<i32>
      %o7 = stablehlo.add %b2.0, %o6 : tensor<i32>
      %o8 = stablehlo.sine %b2.1 : tensor<4xf32>
      stablehlo.return %o7, %o8 : tensor<i32>, tensor<4xf32>
    }
    %o10 = stablehlo.negate %o2#1 : tensor<4xf32>
    return %o10 : tensor<4xf32>
  }
}
