"""What IREE makes a wrong kernel of is said otherwise, and means the same."""

import importlib.util

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="needs JAX")

TOP_K = """
func.func public @main(%x: tensor<2x3x9xTYPE>) -> (tensor<2x3x4xTYPE>, tensor<2x3x4xi32>) {
  %values, %places = chlo.top_k(%x, k = 4) : tensor<2x3x9xTYPE> -> (tensor<2x3x4xTYPE>, tensor<2x3x4xi32>)
  return %values, %places : tensor<2x3x4xTYPE>, tensor<2x3x4xi32>
}
"""


def rewritten(text):
    from gevolve.device.iree.rewrite import rewritten as rewrite
    from gevolve.ir.stablehlo.mlir import parse

    return rewrite(parse(text))


@pytest.mark.parametrize("kind", ["f32", "i32", "ui8", "f16"])
def test_the_largest_are_sorted_for_and_keep_apart_from_their_slice(kind):
    text = rewritten(TOP_K.replace("TYPE", kind))
    assert "chlo.top_k" not in text
    order = [
        text.index(f'"stablehlo.{name}"') for name in ("sort", "optimization_barrier", "slice")
    ]
    assert order == sorted(order)


def test_a_sort_of_the_program_s_own_is_kept_apart_too():
    text = rewritten("""
func.func public @main(%x: tensor<9xf32>) -> tensor<4xf32> {
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<9xf32>) -> tensor<9xf32>
  %y = stablehlo.slice %s [0:4] : (tensor<9xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
""")
    assert text.count('"stablehlo.sort"') == text.count('"stablehlo.optimization_barrier"') == 1


def test_other_programs_stay_as_they_are():
    text = rewritten(
        "func.func public @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    )
    assert "barrier" not in text
