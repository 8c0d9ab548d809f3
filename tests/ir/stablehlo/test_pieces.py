"""A program in pieces: what an edit leaves alone, and what a network repeats, is the same piece."""

import importlib.util

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="models need JAX; pip install 'gevolve[ml]'"
)

BLOCK = """
    %pN = stablehlo.dot_general %BEFORE, %wN, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %zN = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %rN = stablehlo.maximum %pN, %zN : tensor<4x4xf32>
    %xN = stablehlo.add %rN, %BEFORE : tensor<4x4xf32>"""


def network(count, last="x"):
    takes = "".join(f", %w{n}: tensor<4x4xf32>" for n in range(1, count + 1))
    body = "".join(
        BLOCK.replace("BEFORE", f"x{n - 1}").replace("N", str(n)) for n in range(1, count + 1)
    )
    return f"""module {{
  func.func public @main(%x0: tensor<4x4xf32>{takes}) -> tensor<4x4xf32> {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>{body}
    return %{last}{count} : tensor<4x4xf32>
  }}
}}"""


def pieces(text):
    from gevolve.ir.stablehlo import canonical
    from gevolve.ir.stablehlo.pieces import pieces_of

    return pieces_of(canonical(text))


def texts(found):
    from gevolve.ir.stablehlo.mlir import parse

    return [str(parse(one.artefact)) for one in found.parts]


def test_blocks_that_a_network_repeats_are_one_piece():
    found = pieces(network(5))
    assert len(found.parts) == 5
    assert len({one.artefact for one in found.parts}) == 1


def test_an_edit_changes_the_piece_that_it_is_in_and_no_other():
    before = {one.artefact for one in pieces(network(5)).parts}
    text = network(5).replace("maximum %p3", "minimum %p3")
    assert sum(one.artefact not in before for one in pieces(text).parts) == 1


def test_values_are_handed_from_piece_to_piece():
    found = pieces(network(2))
    assert found.parts[0].takes == (0, 1)
    (handed,) = found.parts[0].gives
    assert found.parts[1].takes == (handed, 2)
    assert found.results == found.parts[1].gives


def test_constants_and_what_is_spread_from_them_are_made_where_they_are_used():
    assert all(
        "constant" in text and "broadcast_in_dim" in text for text in texts(pieces(network(3)))
    )


def test_a_program_that_does_little_stays_whole():
    assert pieces(network(1)) is None


def test_a_result_may_be_an_argument_a_constant_or_an_inner_value():
    text = network(2).replace(
        "tensor<4x4xf32> {", "(tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>) {"
    ).replace("return %x2 : tensor<4x4xf32>", "return %x2, %x0, %zero, %r1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>")  # fmt: skip
    found = pieces(text)
    _, argument, constant, inner = found.results
    assert argument == 0
    assert constant in found.parts[-1].gives
    assert inner in found.parts[0].gives


LOOP = """module {
  func.func public @main(%x: tensor<4x4xf32>, %n: tensor<i32>) -> tensor<4x4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4x4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %m = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.add %v, %y : tensor<4x4xf32>
      stablehlo.return %m, %s : tensor<i32>, tensor<4x4xf32>
    }
    return %r#1 : tensor<4x4xf32>
  }
}"""


def test_what_the_body_of_a_loop_takes_from_outside_is_handed_to_its_piece():
    first, second = pieces(LOOP).parts
    assert set(second.takes) == {0, 1, *first.gives}
    assert "constant dense<1>" in texts(pieces(LOOP))[1]


def test_a_product_that_needs_what_comes_before_turned_begins_no_piece():
    """What makes it will make it turned, and so be another kernel than alone."""
    whole = network(3)
    second = "dot_general %x1, %w2, contracting_dims = [1] x [0]"
    assert second in whole
    turned = whole.replace(second, "dot_general %x1, %w2, contracting_dims = [0] x [0]")
    weights = whole.replace(second, "dot_general %x1, %w2, contracting_dims = [1] x [1]")
    assert [len(pieces(text).parts) for text in (whole, turned, weights)] == [3, 2, 3]
