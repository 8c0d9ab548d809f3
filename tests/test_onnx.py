"""ONNX files as programs: what they give is what ONNX's own reference gives."""

import subprocess
import sys

import numpy as np
import pytest

from gevolve.errors import UnsupportedError, WorkloadError

onnx = pytest.importorskip("onnx")
jax = pytest.importorskip("jax")

from onnx import TensorProto, helper, numpy_helper, parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from gevolve import from_onnx  # noqa: E402
from gevolve.ir.stablehlo import load  # noqa: E402
from tests.docs.pages import DOCS, save_files  # noqa: E402

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.standard_normal(shape, np.float32)


def parsed(body, inputs="float[2, 4, 8, 8] x", version=18, **weights):
    """A model in ONNX's textual form, whose weights stand beside it."""
    model = parser.parse_model(
        f'<ir_version: 9, opset_import: ["" : {version}]> net ({inputs}) => (float[a] y) {{ {body} }}'
    )
    for name, array in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


def agrees(model, *inputs, atol=1e-5):
    """Ours against ONNX's own reference, through `jit`."""
    converted = from_onnx(model)
    names = [one.name for one in model.graph.input]
    want = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
    got = jax.jit(converted.function)(converted.weights, *inputs)
    got = got if isinstance(got, tuple) else (got,)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert one.shape == other.shape
        assert np.allclose(one, other, atol=atol)
    return converted


CONVOLUTIONS = [
    "y = Conv <pads = [1, 0, 2, 1], strides = [2, 1]> (x, w, b)",
    'y = Conv <auto_pad = "SAME_LOWER", strides = [2, 3]> (x, w, b)',
    "y = Conv <group = 2, dilations = [2, 2]> (x, w2, b)",
]


@pytest.mark.parametrize("body", CONVOLUTIONS)
def test_convolutions(body):
    w, w2, b = floats(6, 4, 3, 3), floats(6, 2, 3, 3), floats(6)
    used = {"w2": w2} if "w2" in body else {"w": w}
    agrees(parsed(body, b=b, **used), floats(2, 4, 8, 8), atol=1e-4)


@pytest.mark.parametrize(
    "body",
    [
        "y = MaxPool <kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 1, 1]> (x)",
        "y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)",
        "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x)",
        "y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1> (x)",
        "y = GlobalAveragePool (x)",
        "s = Softmax <axis = 1> (x) y = DepthToSpace <blocksize = 2> (s)",
        "h = HardSwish (x) e = Elu (h) c = Celu <alpha = 2.0> (e) y = Mish (c)",
    ],
)
def test_layers_without_weights(body):
    agrees(parsed(body), floats(2, 4, 8, 8))


def test_shapes_that_are_computed_are_known():
    """The usual way in which exporters write a flattening, for any number of images."""
    body = """
        s = Shape (x)
        zero = Constant <value_ints = [0]> ()
        n = Gather <axis = 0> (s, zero)
        rest = Constant <value_ints = [-1]> ()
        to = Concat <axis = 0> (n, rest)
        flat = Reshape (x, to)
        y = Gemm <transB = 1> (flat, w, b)
    """
    model = parsed(body, "float[N, 4, 8, 8] x", w=floats(10, 256), b=floats(10))
    converted = agrees(model, floats(3, 4, 8, 8), atol=1e-4)
    assert converted.inputs == {"x": ("float32", ("N", 4, 8, 8))}
    assert sorted(converted.weights) == ["b", "w"]
    program = load(converted.function, [converted.weights, floats(3, 4, 8, 8)])
    assert "dynamic" not in program.text


def test_local_response_normalisation():
    x = floats(2, 5, 3, 3)
    near = np.pad(x**2, ((0, 0), (1, 2), (0, 0), (0, 0)))
    total = sum(near[:, k : k + 5] for k in range(4))
    found = from_onnx(parsed("y = LRN <size = 4, alpha = 0.4, beta = 0.5, bias = 2.0> (x)"))
    assert np.allclose(found.function({}, x), x / (2 + 0.1 * total) ** 0.5, atol=1e-5)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("rule", ["half_pixel", "align_corners", "asymmetric"])
def test_resizing(mode, rule):
    body = f'y = Resize <mode = "{mode}", coordinate_transformation_mode = "{rule}"> (x, , scales)'
    model = parsed(body, scales=np.array([1, 1, 2, 1.5], np.float32))
    agrees(model, floats(2, 4, 8, 8), atol=1e-4)


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_recurrent_layers(kind, gates):
    model = parsed(
        f"y, h = {kind} <hidden_size = 5> (x, w, r, b)",
        "float[7, 2, 3] x",
        w=floats(1, gates * 5, 3),
        r=floats(1, gates * 5, 5),
        b=floats(1, gates * 10),
    )
    agrees(model, floats(7, 2, 3))


def test_what_onnx_defines_by_simpler_operators_is_written_out():
    from gevolve.onnx.operators import OPERATORS

    assert "MeanVarianceNormalization" not in OPERATORS
    agrees(parsed("y = MeanVarianceNormalization (x)"), floats(2, 4, 8, 8), atol=1e-4)


def test_a_branch_that_is_known_is_taken_and_an_unknown_one_is_kept():
    double = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["z"])],
        "double",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    )
    same = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["z"])],
        "same",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=double, else_branch=same)
    values = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    model = helper.make_model(
        helper.make_graph([node], "g", values, [out]), opset_imports=[helper.make_opsetid("", 18)]
    )
    x = floats(3)
    converted = from_onnx(model)
    for c in (True, False):
        assert np.allclose(converted.function({}, x, np.asarray(c)), x * (2 if c else 1))


def test_a_file_is_read_and_an_optimizer_gets_weights_as_arguments(tmp_path):
    model = parsed("m = MatMul (x, w) y = Relu (m)", "float[2, 8] x", w=floats(8, 4))
    onnx.save(model, tmp_path / "net.onnx")
    converted = from_onnx(tmp_path / "net.onnx")
    x = floats(2, 8)
    program = load(converted.function, [converted.weights, x])
    assert "tensor<8x4xf32>" in program.text.split("->")[0]
    assert np.allclose(
        converted.function(converted.weights, x), np.maximum(x @ converted.weights["w"], 0)
    )


def test_the_guide_does_what_it_says(tmp_path):
    save_files(DOCS / "how-to" / "models.md", tmp_path)
    model = parsed(
        "y = Gemm <transB = 1> (images, w, b)",
        "float[N, 64] images",
        w=floats(10, 64),
        b=floats(10),
    )
    onnx.save(model, tmp_path / "net.onnx")
    done = subprocess.run(
        [sys.executable, "from_file.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "{'images': ('float32', ('N', 64))}\n", done.stderr
    assert load(tmp_path / "net.mlir").size > 1


def line(call):
    with pytest.raises((UnsupportedError, WorkloadError)) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_cannot_be_converted_is_said_in_one_line(tmp_path):
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    assert "bad.onnx cannot be read as ONNX" in line(lambda: from_onnx(tmp_path / "bad.onnx"))
    assert "cannot be read as ONNX" in line(lambda: from_onnx(tmp_path / "absent.onnx"))
    random = parsed("y = RandomNormalLike (x)")
    assert "no conversion of ONNX's RandomNormalLike" in line(lambda: from_onnx(random))
    by_data = parsed("s = Cast <to = 7> (x) y = Expand (x, s)", "float[2] x")
    found = from_onnx(by_data)
    assert "Expand whose shape depends on the data" in line(
        lambda: jax.jit(found.function)(found.weights, floats(2))
    )
    assert "takes 1 inputs; 2 were given" in line(
        lambda: found.function(found.weights, floats(2), floats(2))
    )
