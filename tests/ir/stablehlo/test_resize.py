"""A tensor of any type can be made of any other, by the rules in their order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gevolve.ir.stablehlo import mlir
from gevolve.ir.stablehlo.mlir import ir
from gevolve.ir.stablehlo.resize import resize
from gevolve.ir.stablehlo.tensor import Tensor, tensor

SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)
ELEMENTS = st.sampled_from(["i1", "i8", "ui16", "i32", "i64", "bf16", "f16", "f32", "f64"])
ANY = st.builds(Tensor, SHAPES, ELEMENTS | st.sampled_from(["complex<f32>", "complex<f64>"]))


def resized(have, want):
    """The operations of repair, and a module that holds them."""
    module = mlir.parse(f"func.func @main(%a: {have}) -> {have} {{\n  return %a : {have}\n}}")
    function = module.regions[0].blocks[0].operations[0]
    block = function.regions[0].blocks[0]
    end = block.operations[0].operation
    names = []

    def emit(name, kind, operands, attributes):
        names.append(name)
        return ir.Operation.create(
            f"stablehlo.{name}",
            [kind.native],
            list(operands),
            attributes,
            loc=ir.Location.unknown(mlir.context()),
            ip=ir.InsertionPoint(end),
        ).results[0]

    with mlir.context():
        end.operands[0] = resize(block.arguments[0], have, want, emit)
        kind = ir.FunctionType.get([have.native], [want.native])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
    return names, module


@settings(max_examples=150, deadline=None)
@given(ANY, ANY)
def test_any_tensor_becomes_any_other(have, want):
    names, module = resized(have, want)
    assert module.verify()
    assert len(names) <= 9
    assert bool(names) == (have != want)


@pytest.mark.parametrize(
    ("have", "want", "names"),
    [
        ("2x3xi32", "2x3xf32", ["convert"]),
        ("2x3xcomplex<f32>", "2x3xi32", ["real", "convert"]),
        ("2x6xf32", "3x4xf32", ["reshape"]),
        ("f32", "3x4xf32", ["broadcast_in_dim"]),
        ("1x1xf32", "3x4xf32", ["reshape", "broadcast_in_dim"]),
        ("2x1x3xf32", "2x2xf32", ["reshape", "slice"]),
        ("6xf32", "2x4xf32", ["reshape", "slice", "broadcast_in_dim"]),
        ("8x6xf32", "4xf32", ["slice", "reshape", "slice"]),
        ("6x6xf32", "4x2xf32", ["slice"]),
        ("1x3xf32", "4x3xf32", ["broadcast_in_dim"]),
        ("2x3xf32", "4x4xf32", ["constant", "pad"]),
        ("6x3xf32", "4x5xbf16", ["convert", "slice", "constant", "pad"]),
    ],
)
def test_the_rules_in_their_order(have, want, names):
    found, module = resized(tensor(f"tensor<{have}>"), tensor(f"tensor<{want}>"))
    assert found == names
    assert module.verify()


def test_what_is_cut_is_the_middle_and_what_is_added_are_ones():
    from jax.extend.mlir.dialects import stablehlo

    _, module = resized(Tensor((6, 2), "f32"), Tensor((2, 4), "f32"))
    array = np.arange(12, dtype=np.float32).reshape(6, 2)
    with mlir.context():
        given = ir.DenseElementsAttr.get(array)
        parsed = ir.Module.parse(str(module))
        result = np.array(stablehlo.eval_module(parsed, [given])[0])
    assert result.tolist() == [[1, 4, 5, 1], [1, 6, 7, 1]]


def test_types_without_repair():
    for text in ("!stablehlo.token", "tensor<3xf8E4M3FN>", "tuple<tensor<f32>>", "tensor<?xf32>"):
        assert tensor(text) is None
    for text in ("tensor<f32>", "tensor<2x3xui8>", "tensor<1xcomplex<f64>>"):
        assert str(tensor(text)) == text
